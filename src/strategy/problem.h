/* The problem: what is to be computed, with nothing said about how. It stands in the strategy's room because
 * descriptors speak of it; the planner's room adds where the operands are. */
#ifndef TSL_STRATEGY_PROBLEM_H
#define TSL_STRATEGY_PROBLEM_H

#include "base/text.h"
#include "base/types.h"
#include "strategy/numerics.h"

#define TSL_OP_LIST(X) X(GEMM, gemm) X(DOT, dot) X(TRANSPOSE, transpose) X(SOLVE, solve)

typedef enum tsl_op {
#define TSL_OP_MEMBER(name, text) TSL_OP_##name,
  TSL_OP_LIST(TSL_OP_MEMBER)
#undef TSL_OP_MEMBER
      TSL_OP_COUNT
} tsl_op;
const char *tsl_op_name(tsl_op op);

/* One operand's shape: element (i, j) lies i * row_stride + j * col_stride elements after element (0, 0). */
typedef struct tsl_shape {
  tesela_type type;
  int64_t rows, cols;
  int64_t row_stride, col_stride;
  /* Of a gemm's operands. A factor that is not general is square, and `triangle` is what is stored of it. C's
   * triangle is what is computed, the rest of C being neither read nor written; C is general or, with a real
   * diagonal, hermitian; or a sum, C = alpha (A B + (A B)') + beta C, an update of rank 2k. */
  tesela_structure structure;
  tesela_triangle triangle;
} tsl_shape;

/* A bias and scales are given beside the operands of a product, as A, B and C are. */
enum {
  TSL_OPERAND_A,
  TSL_OPERAND_B,
  TSL_OPERAND_C,
  TSL_OPERANDS,
  TSL_OPERAND_BIAS = TSL_OPERANDS,
  TSL_OPERAND_SCALE_A,
  TSL_OPERAND_SCALE_B,
  TSL_GIVEN
};

/* What is to be computed. Transposes of operands are already strides.
 *
 *   gemm       C (m x n) = alpha A (m x k) B (k x n) + beta C
 *   dot        the same with m = n = 1: A is the row of x, B the column of y, C one number
 *   transpose  C (m x n) = alpha A', where A is n x m; k = 0, and B is empty. In place, C = alpha C' with m =
 * n, and A is not touched (its shape is C's). solve      C (m x n) = alpha inverse(A) B, where A (m x m) is
 * triangular or unit triangular, of which the one triangle is read and a unit diagonal never; k = m. In
 * place, C holds B, whose operand is not touched and has C's shape.
 *
 * Level 3 of BLAS is gemm with structures: syrk is B = A' and a triangle of C, symm and trmm have a factor
 * that is symmetric or triangular. In place, the general factor beside a triangular one is what C holds (C =
 * alpha A C or C = alpha C B): its operand is not touched, and has C's shape. */
typedef struct tsl_problem {
  tsl_op op;
  int64_t m, n, k;
  tsl_shape a, b, c;
  double alpha[2], beta[2]; /* real, imaginary; as tsl_problem_round() leaves them */
  bool in_place;            /* a transpose, a solve, and a product with a triangular factor */
  /* gemm of complex types, and of a solve A, only: what takes part is the complex conjugate of what is
   * stored. */
  bool conjugate_a, conjugate_b;
  int64_t batch; /* gemm: so many products of this kind, one after the other in memory; 0: one */
  /* gemm: the last step, C = activation(alpha A B + beta C + bias). A bias is a row, added to each row of C,
   * or a column; it has the type of C or of C's sums, none where there is no bias. */
  tesela_bias_axis bias_axis;
  tsl_shape bias; /* 1 x n or m x 1, with a stride of 0 the other way: element (i, j) is what C's gets */
  tesela_activation activation;
  /* gemm: the last step of sums in f32 or of integers, C = activation(alpha diag(scale_a) A B diag(scale_b) +
   * beta C + bias). A scale is one number, or a column (of A) and a row (of B) of them. f32; strides are 0
   * where it does not go on; none where nothing is scaled. */
  tesela_scaling scaling_a, scaling_b;
  tsl_shape scale_a, scale_b;
  tsl_numeric_requirements ask; /* of the result */
} tsl_problem;
/* Its number of products, at least 1. */
int64_t tsl_problem_batch(const tsl_problem *problem);

/* The type of C for operands of this type where nothing else is said: i32 for sums of small integers, else
 * the same. */
tesela_type tsl_result_type(tsl_op op, tesela_type type);
/* Dense, row-major operands of one type with a C of tsl_result_type(), alpha = 1, beta = 0. A dot of n terms;
 * a transpose whose result is m x n. */
tsl_problem tsl_problem_gemm(int64_t m, int64_t n, int64_t k, tesela_type type);
tsl_problem tsl_problem_dot(int64_t n, tesela_type type);
tsl_problem tsl_problem_transpose(int64_t m, int64_t n, tesela_type type);
/* The same by the operation, from the sizes that it has: the others are ignored. */
tsl_problem tsl_problem_of(tsl_op op, int64_t m, int64_t n, int64_t k, tesela_type type);

/* C' = B' A': the same product, seen from the other side. */
tsl_problem tsl_problem_swapped(const tsl_problem *problem);

/* Whether any operand has a structure, or C a triangle; the factor that has a structure, TSL_OPERAND_C: none.
 */
bool tsl_problem_has_structure(const tsl_problem *problem);
int tsl_problem_structured(const tsl_problem *problem);
/* Whether a matrix of this structure is 0 beside its triangle; whether its other triangle is conjugated, and
 * its diagonal real; whether it is a result of which the product's transpose is a part. */
bool tsl_is_triangular(tesela_structure structure);
bool tsl_is_hermitian(tesela_structure structure);
bool tsl_is_sum(tesela_structure structure);
/* Terms of an element: k, or of a sum 2 k. */
int64_t tsl_problem_terms(const tsl_problem *problem);
/* A sum's first product, with beta C; or its second one, of the same operands seen from the other side (B is
 * its A, and A its B), which is added to what the first left. */
tsl_problem tsl_problem_of_sum(const tsl_problem *problem, bool second);

/* Whether sums of parts of the terms may be added in C: not where sums are made in another type and rounded
 * to C's once; nor complex ones, as beta = 1 multiplies what is there by 1 + 0i, and an infinity times 0 is
 * NaN. */
bool tsl_problem_adds_up(const tsl_problem *problem);

/* Whether it has a last step: scales, a bias or an activation; whether it has scales. */
bool tsl_problem_has_epilogue(const tsl_problem *problem);
bool tsl_problem_has_scales(const tsl_problem *problem);
/* The problem without its last step: what strategies compute. Where it has scales that is C = A B in the type
 * of the sums, to which the last step brings alpha and beta. */
tsl_problem tsl_problem_unfinished(const tsl_problem *problem);
/* Binary places of C's type, by which kernels know how near a function has to be; 0 of integers. */
int tsl_problem_places(const tsl_problem *problem);
/* The same where the problem has scales, in `room`; else the problem itself, of which strategies pass over
 * the last step. */
const tsl_problem *tsl_problem_without_epilogue(const tsl_problem *problem, tsl_problem *room);
/* Whether such sums cannot lie where C does, which is read or has elements of another size: they are made in
 * memory of their own, dense, of so many bytes for all of a batch (UINT64_MAX: more than there can be). */
bool tsl_problem_sums_apart(const tsl_problem *problem);
uint64_t tsl_problem_sums_bytes(const tsl_problem *problem);
/* Lets a problem have a bias of this type, whose elements are so far apart; after its sizes. TESELA_NO_BIAS:
 * none. */
void tsl_problem_add_bias(tsl_problem *problem, tesela_bias_axis along, tesela_type type, int64_t stride);
/* The same of a factor's scales: operand is TSL_OPERAND_SCALE_A or TSL_OPERAND_SCALE_B. */
void tsl_problem_add_scale(tsl_problem *problem, int operand, tesela_scaling scaling, int64_t stride);
/* The words of texts: "row", "tensor", "relu"; of none "". */
const char *tsl_along_name(tesela_bias_axis along);
const char *tsl_scaling_name(tesela_scaling scaling);
const char *tsl_activation_name(tesela_activation activation);

/* An operand's shape, or the bias' or scales'; whether a run reads its elements; whether it reads or writes
 * them (C is always written). */
const tsl_shape *tsl_problem_shape(const tsl_problem *problem, int operand);
bool tsl_problem_has_operand(const tsl_problem *problem, int operand); /* A, B and C always */
bool tsl_problem_reads(const tsl_problem *problem, int operand);
bool tsl_problem_uses(const tsl_problem *problem, int operand);

/* TESELA_BAD_CALL with the reason: a negative size, an extent that overflows 63 bits (in bytes), elements of
 * C that overlap, sizes of the operands that do not belong together, a value that is no type, a scalar or a
 * way that the operation does not have, an integer C with operands or scalars that are not, a structure that
 * the operand cannot have, a last step that the product cannot have. */
tesela_status tsl_problem_check(const tsl_problem *problem);

/* Rounds alpha and beta to the type that sums are made in: a factor that this makes 0 is 0 everywhere, in
 * what is read and in what is computed. Of whoever makes a problem from a description; plans see to it
 * themselves. */
void tsl_problem_round(tsl_problem *problem);

/* What a problem says of itself as text, in this order. X(name, ALWAYS or MAYBE said, what it says) */
#define TSL_PROBLEM_KEY_LIST(X)                                                                              \
  X(m, ALWAYS, "rows of C")                                                                                  \
  X(n, ALWAYS, "columns of C")                                                                               \
  X(k, ALWAYS, "terms of each sum; 0 for a transpose, m for a solve")                                        \
  X(types, ALWAYS, "types of A, B and C")                                                                    \
  X(strides, MAYBE,                                                                                          \
    "row and column stride of A, of B and of C, in elements; left out where all are dense and "              \
    "row-major")                                                                                             \
  X(alpha, MAYBE, "what the product is multiplied by, or real,imaginary; left out where it is 1")            \
  X(beta, MAYBE, "what C is multiplied by before the product is added, likewise; left out where it is 0")    \
  X(a_is, MAYBE,                                                                                             \
    "what A is where it is not general, and which triangle of it is stored: symmetric_lower, "               \
    "hermitian_upper, triangular_lower, unit_upper (triangular with a diagonal of ones), ...")               \
  X(b_is, MAYBE, "what B is, likewise")                                                                      \
  X(c_is, MAYBE,                                                                                             \
    "the triangle of C that is computed, lower or upper, or hermitian_lower and hermitian_upper; or that "   \
    "of "                                                                                                    \
    "a sum to which its transpose is added, symmetric_sum_lower, hermitian_sum_upper, ...; left out where "  \
    "it is all of C")                                                                                        \
  X(in_place, MAYBE,                                                                                         \
    "1: a transpose in place, or a product that is written over its general factor; left out where it is 0") \
  X(conjugate, MAYBE,                                                                                        \
    "which of A and B take part as their complex conjugates: a, b or a,b; left out where none "              \
    "does")                                                                                                  \
  X(bias, MAYBE,                                                                                             \
    "what is added to each row, or column, of C: row or column; behind it, where they are not C's and 1, "   \
    "the vector's type and stride (row,f32,2)")                                                              \
  X(scale_a, MAYBE,                                                                                          \
    "what scales A: tensor (one number) or lines (one for each row); behind lines, where it is not 1, the "  \
    "numbers' stride (lines,2)")                                                                             \
  X(scale_b, MAYBE, "what scales B, likewise: a line is a column")                                           \
  X(activation, MAYBE,                                                                                       \
    "the function of each element, the last step: relu, gelu or gelu_tanh; left out where there is none")    \
  X(batch, MAYBE, "so many products, one after the other in memory; left out where it is one product alone") \
  X(accuracy, MAYBE,                                                                                         \
    "how right the result was asked to be (docs/ACCURACY.md): a number, e4m3, tf32, bf16, f32, f64 or "      \
    "exact; "                                                                                                \
    "left out where nothing was asked")                                                                      \
  X(bits, MAYBE, "when the same bits were asked to come again: run, threads or devices; likewise")

/* A key, and what its value says, for documents. */
typedef struct tsl_text_key {
  const char *name, *what;
} tsl_text_key;
/* The key at a place of the list; NULL behind the last. */
const tsl_text_key *tsl_problem_key(int index);

/* Whether a shape is one of rows x cols with a type and strides whose bytes can be addressed; `name` is for
 * the sentence. */
tesela_status tsl_shape_check(const tsl_shape *shape, const char *name, int64_t rows, int64_t cols);
/* Of tsl_problem_check(): all but the last step. */
tesela_status tsl_problem_check_unfinished(const tsl_problem *problem);

/* Appends "m=4 n=3 k=2 types=f32,f32,f32 beta=1", by the list's keys. Reads the same back from a record, with
 * scalars rounded; TESELA_BAD_INPUT names the key that is missing or wrong. */
void tsl_problem_print(const tsl_problem *problem, tsl_text *text);
tesela_status tsl_problem_parse(const tsl_record *record, tsl_op op, tsl_problem *problem);

/* Elements from the lowest to the highest that the shape touches (0 when it is empty), and how far below
 * element (0, 0) the lowest lies (>= 0; only negative strides make it positive). The problem was checked. */
int64_t tsl_shape_extent(const tsl_shape *shape);
int64_t tsl_shape_below(const tsl_shape *shape);
/* Whether the elements fill their extent without a gap. */
bool tsl_shape_is_dense(const tsl_shape *shape);

/* Floating-point operations, 2 m n k (8 m n k for complex; of a triangle what it has of that; m m n, or 4 m m
 * n, for a solve; a transpose has none), and the fewest bytes that must move. */
double tsl_problem_flops(const tsl_problem *problem);
double tsl_problem_bytes(const tsl_problem *problem);
/* What a processor's caches move for these: lines of C that are only written are read before. */
double tsl_problem_lines(const tsl_problem *problem);

#endif
