/* The problem: the computation without its method and without the location of the operands. */
#ifndef TSL_STRATEGY_PROBLEM_H
#define TSL_STRATEGY_PROBLEM_H

#include "core/text.h"
#include "core/types.h"
#include "problem/numerics.h"

#define TSL_OP_LIST(X) X(GEMM, gemm) X(DOT, dot) X(TRANSPOSE, transpose) X(SOLVE, solve)

typedef enum tsl_op {
#define TSL_OP_MEMBER(name, text) TSL_OP_##name,
  TSL_OP_LIST(TSL_OP_MEMBER)
#undef TSL_OP_MEMBER
      TSL_OP_COUNT
} tsl_op;
const char *tsl_op_name(tsl_op op);

/* Shape of an operand: element (i, j) is i * row_stride + j * col_stride elements after element (0, 0). */
typedef struct tsl_shape {
  tesela_type type;
  int64_t rows, cols;
  int64_t row_stride, col_stride;
  /* Structure, for gemm. A or B with a structure is square, and `triangle` is its stored triangle. For C,
   * `triangle` is the computed triangle; the rest of C is neither read nor written. C is general, hermitian
   * with a real diagonal, or a sum C = alpha (A B + (A B)') + beta C (rank-2k update). */
  tesela_structure structure;
  tesela_triangle triangle;
} tsl_shape;

/* Operands. Bias and scales are separate operands, passed like A, B and C. */
enum {
  TSL_OPERAND_A,
  TSL_OPERAND_B,
  TSL_OPERAND_C,
  TSL_OPERANDS,
  TSL_OPERAND_BIAS = TSL_OPERANDS,
  TSL_OPERAND_SCALE_A,
  TSL_OPERAND_SCALE_B,
  TSL_ALL_OPERANDS
};

/* The computation. Transposed operands are expressed by strides.
 *
 *   gemm       C (m x n) = alpha A (m x k) B (k x n) + beta C
 *   dot        gemm with m = n = 1: A is the row of x, B the column of y, C one number
 *   transpose  C (m x n) = alpha A', where A is n x m; k = 0, and B is empty. In place, C = alpha C' with
 *              m = n, and A is not used (its shape is C's).
 *   solve      C (m x n) = alpha inverse(A) B, where A (m x m) is triangular or unit triangular; k = m.
 *              Only the stored triangle is read, a unit diagonal never. In place, C holds B, whose operand
 *              is not used and has C's shape.
 *
 * Level 3 of BLAS is gemm with structures: syrk has B = A' and a triangle of C; symm and trmm have a
 * symmetric or triangular factor. A product in place, C = alpha A C or C = alpha C B, has a triangular
 * factor; the general factor's operand is not used, and has C's shape. */
typedef struct tsl_problem {
  tsl_op op;
  int64_t m, n, k;
  tsl_shape a, b, c;
  double alpha[2], beta[2]; /* real and imaginary part, rounded by tsl_problem_round() */
  bool in_place;            /* for a transpose, a solve, or a product with a triangular factor */
  /* complex conjugation of the stored A or B: for gemm of complex types, and for A of a solve */
  bool conjugate_a, conjugate_b;
  int64_t batch; /* gemm: number of equal products, consecutive in memory; 0: a single product */
  /* gemm: axis of the bias in C = activation(alpha A B + beta C + bias). A row is added to each row of C, a
   * column to each column. The bias has the type of C or of C's sums. */
  tesela_bias_axis bias_axis;
  tsl_shape bias; /* 1 x n or m x 1, with stride 0 along the other dimension; zero without a bias */
  tesela_activation activation;
  /* gemm: scales of sums in f32 or integers, C = activation(alpha diag(scale_a) A B diag(scale_b) + beta C +
   * bias): one f32 number, or a column (of A) or a row (of B). Strides along a constant scale are 0. */
  tesela_scaling scaling_a, scaling_b;
  tsl_shape scale_a, scale_b;
  tsl_numeric_requirements ask; /* required accuracy and reproducibility; zero: none */
} tsl_problem;
/* Returns the number of products, at least 1. */
int64_t tsl_problem_batch(const tsl_problem *problem);

/* Returns the default type of C for operands of `type`: i32 for products of 8-bit integers, else `type`. */
tesela_type tsl_result_type(tsl_op op, tesela_type type);
/* Returns a problem with dense, row-major operands of one type, C of tsl_result_type(), alpha 1, beta 0. */
tsl_problem tsl_problem_gemm(int64_t m, int64_t n, int64_t k, tesela_type type);
tsl_problem tsl_problem_dot(int64_t n, tesela_type type);
tsl_problem tsl_problem_transpose(int64_t m, int64_t n, tesela_type type);
/* Returns the dense problem of any operation; sizes that the operation lacks are ignored. */
tsl_problem tsl_problem_of(tsl_op op, int64_t m, int64_t n, int64_t k, tesela_type type);

/* Returns C' = B' A', the transposed form of the product. */
tsl_problem tsl_problem_swapped(const tsl_problem *problem);

bool tsl_problem_has_structure(const tsl_problem *problem);
/* Returns the operand A or B that has a structure; TSL_OPERAND_C: none. */
int tsl_problem_structured(const tsl_problem *problem);
/* Returns true if the elements outside of the triangle are 0. */
bool tsl_is_triangular(tesela_structure structure);
/* Returns true if the other triangle is conjugated and the diagonal real. */
bool tsl_is_hermitian(tesela_structure structure);
/* Returns true if C is the sum of the product and its transpose. */
bool tsl_is_sum(tesela_structure structure);
/* Returns the number of terms of an element: k, or 2 k for a sum. */
int64_t tsl_problem_terms(const tsl_problem *problem);
/* Returns one of the two products of a sum: the first, with beta C; or the second, with A and B exchanged. */
tsl_problem tsl_problem_half_of_sum(const tsl_problem *problem, bool second);

/* Returns true if partial sums may be accumulated in C. False where sums have another type than C. False for
 * complex types, too: beta = 1 multiplies C by 1 + 0i, and infinity times 0 is NaN. */
bool tsl_problem_can_accumulate_in_c(const tsl_problem *problem);

/* Returns true if the bits of a row must depend on the row only (bits=rows), so that k is not split. Sums of
 * integers are exact in any order. */
bool tsl_problem_fixes_rows(const tsl_problem *problem);

/* Returns true if the problem has an epilogue: scales, a bias or an activation. */
bool tsl_problem_has_epilogue(const tsl_problem *problem);
bool tsl_problem_has_scales(const tsl_problem *problem);
/* Returns the problem without its epilogue, as strategies compute it. With scales, that is C = A B in the
 * type of the sums; the epilogue applies alpha and beta. */
tsl_problem tsl_problem_drop_epilogue(const tsl_problem *problem);
/* Returns the binary places of C's type, the precision that activations need; 0 for integers. */
int tsl_problem_precision_bits(const tsl_problem *problem);
/* Returns the problem for strategies: with scales, its product in *storage; else `problem` itself. */
const tsl_problem *tsl_problem_without_epilogue(const tsl_problem *problem, tsl_problem *storage);
/* Returns true if the sums of a problem with scales need separate memory: C is read, or has another size. */
bool tsl_problem_needs_separate_sums(const tsl_problem *problem);
/* Returns the bytes of the batch's separate sums; 0: none are needed; UINT64_MAX: overflow. */
uint64_t tsl_problem_sums_bytes(const tsl_problem *problem);
/* Adds a bias of `type`, its numbers `stride` elements apart. m and n must be set. TESELA_NO_BIAS: none. */
void tsl_problem_add_bias(tsl_problem *problem, tesela_bias_axis along, tesela_type type, int64_t stride);
/* Adds a scale; `operand` is TSL_OPERAND_SCALE_A or TSL_OPERAND_SCALE_B. m and n must be set. */
void tsl_problem_add_scale(tsl_problem *problem, int operand, tesela_scaling scaling, int64_t stride);
/* Returns the word in texts: "row" or "column"; "" for none. */
const char *tsl_along_name(tesela_bias_axis along);
const char *tsl_scaling_name(tesela_scaling scaling);
const char *tsl_activation_name(tesela_activation activation);

/* Returns the shape of `operand` (TSL_OPERAND_...), a member of the problem. */
const tsl_shape *tsl_problem_shape(const tsl_problem *problem, int operand);
/* Returns true if the problem has the bias or the scale `operand`; A, B and C always exist. */
bool tsl_problem_has_operand(const tsl_problem *problem, int operand);
/* Returns true if a run reads elements of the operand. */
bool tsl_problem_reads(const tsl_problem *problem, int operand);
/* Returns true if a run reads or writes elements of the operand. C is always written. */
bool tsl_problem_uses(const tsl_problem *problem, int operand);

/* Checks a problem. Fails with TESELA_BAD_CALL and the reason. Reasons: invalid sizes, types, structures or
 * epilogues; extents above 63 bits in bytes; overlapping elements of C; a scalar or option that the operation
 * lacks; an integer C with other operands or scalars. */
tesela_status tsl_problem_check(const tsl_problem *problem);

/* Rounds alpha and beta to the type of the sums, so that a scalar that becomes 0 is 0 in every respect. Code
 * that makes a problem from a description calls it; plans call it themselves. */
void tsl_problem_round(tsl_problem *problem);

/* Keys of a problem as text, in order. X(name, ALWAYS or MAYBE present, meaning) */
#define TSL_PROBLEM_KEY_LIST(X)                                                                              \
  X(m, ALWAYS, "rows of C")                                                                                  \
  X(n, ALWAYS, "columns of C")                                                                               \
  X(k, ALWAYS, "terms of each sum; 0 for a transpose, m for a solve")                                        \
  X(types, ALWAYS, "types of A, B and C")                                                                    \
  X(strides, MAYBE,                                                                                          \
    "row and column stride of A, of B and of C, in elements; omitted if all are dense and row-major")        \
  X(alpha, MAYBE, "factor of the product, or real,imaginary; omitted if 1")                                  \
  X(beta, MAYBE, "factor of C before the product is added, or real,imaginary; omitted if 0")                 \
  X(a_is, MAYBE,                                                                                             \
    "structure and stored triangle of A: symmetric_lower, hermitian_upper, unit_upper (diagonal of ones), "  \
    "...")                                                                                                   \
  X(b_is, MAYBE, "structure and stored triangle of B, as a_is")                                              \
  X(c_is, MAYBE,                                                                                             \
    "computed triangle: lower, upper, hermitian_lower, ...; of a sum and its transpose: "                    \
    "symmetric_sum_lower, ...")                                                                              \
  X(in_place, MAYBE,                                                                                         \
    "1: a transpose in place, or a product that overwrites its general factor; omitted if 0")                \
  X(conjugate, MAYBE, "operands that are conjugated: a, b or a,b; omitted if none")                          \
  X(bias, MAYBE,                                                                                             \
    "row or column: a vector is added to each; then, unless C's type and 1, the vector's type and stride "   \
    "(row,f32,2)")                                                                                           \
  X(scale_a, MAYBE,                                                                                          \
    "scales of A: tensor (one number) or lines (one for each row); then, unless 1, the stride of the "       \
    "numbers (lines,2)")                                                                                     \
  X(scale_b, MAYBE, "scales of B, as scale_a; lines are columns")                                            \
  X(activation, MAYBE, "function applied last to each element: relu, gelu or gelu_tanh; omitted if none")    \
  X(batch, MAYBE, "number of products, one after the other in memory; omitted for a single product")         \
  X(accuracy, MAYBE,                                                                                         \
    "required accuracy (docs/ACCURACY.md): a number, e4m3, tf32, bf16, f32, f64 or exact; omitted if none "  \
    "was required")                                                                                          \
  X(bits, MAYBE, "when results must be bit-for-bit the same: run, threads, rows or devices; omitted if never")

typedef struct tsl_text_key {
  const char *name, *what;
} tsl_text_key;
/* Returns key and meaning at `index`, for documents; NULL past the end. */
const tsl_text_key *tsl_problem_key(int index);

/* Checks that a shape is rows x cols of a valid type and addressable. TESELA_BAD_CALL names the operand. */
tesela_status tsl_shape_check(const tsl_shape *shape, const char *name, int64_t rows, int64_t cols);
/* Checks everything except the epilogue, for tsl_problem_check(). */
tesela_status tsl_problem_check_all_but_epilogue(const tsl_problem *problem);

/* Appends "m=4 n=3 k=2 types=f32,f32,f32 beta=1", with the keys of the list. */
void tsl_problem_print(const tsl_problem *problem, tsl_text *text);
/* Reads a problem from a record and rounds its scalars. TESELA_BAD_INPUT names the missing or wrong key. */
tesela_status tsl_problem_parse(const tsl_record *record, tsl_op op, tsl_problem *problem);

/* Returns the elements from the lowest to the highest element of a checked shape; 0 when it is empty. */
int64_t tsl_shape_extent(const tsl_shape *shape);
/* Returns the distance from the lowest element to element (0, 0), in elements; 0 without negative strides. */
int64_t tsl_shape_below(const tsl_shape *shape);
/* Returns true if the elements fill their extent without gaps. */
bool tsl_shape_is_dense(const tsl_shape *shape);

/* Returns 2 m n k, 8 m n k if complex, less for triangles; m m n or 4 m m n for a solve; else 0. */
double tsl_problem_flops(const tsl_problem *problem);
/* Returns the bytes of an operand's elements, of one product. */
double tsl_problem_operand_bytes(const tsl_problem *problem, int operand);
/* Returns the minimum number of bytes that a run must move: each element read or written once. */
double tsl_problem_bytes(const tsl_problem *problem);
/* Returns the bytes of cache traffic on processors: lines of C that are only written are also read. */
double tsl_problem_cache_bytes(const tsl_problem *problem);

#endif
