/** @file tesela_operations.h
 * @brief Dot products, transposes and triangular solves. Part of tesela.h. */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_OPERATIONS_H
#define TESELA_TESELA_OPERATIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Element that is written, and also read if beta is not 0. Members as in tesela_vector. */
typedef struct tesela_scalar {
  void *data;            /**< host address of the element */
  tesela_buffer *buffer; /**< device memory, instead of data */
  int64_t offset;        /**< elements from the buffer's start to the element; only with buffer */
  int64_t reserved;      /**< must be 0 */
  tesela_type type;      /**< element type */
} tesela_scalar;

/** Describes a dot product: result = alpha (x[0] y[0] + ... + x[n-1] y[n-1]) + beta result.
 *
 * beta = 0 never reads the result. alpha = 0 or n = 0 never reads x or y. The result overlaps
 * neither. x and y are both f64, f32, f16 or bf16, or each i8 or u8. The result has the type of x
 * by default. It may be f32 for f16 and bf16; it is always i32 for integers. Sums, alpha and beta
 * follow the rules of tesela_gemm_desc. */
typedef struct tesela_dot_desc {
  int64_t n;              /**< number of elements of x and y */
  tesela_vector x;        /**< first factor */
  tesela_vector y;        /**< second factor */
  tesela_scalar result;   /**< result */
  const double *alpha;    /**< Scalar factor of the sum; NULL: 1 */
  const double *beta;     /**< Scalar factor of the old result; NULL: 0 */
  tesela_options options; /**< as in tesela_gemm_desc; measure_error sums the whole dot again, which takes
                             longer than the dot itself */
} tesela_dot_desc;

/** Describes a transpose B = alpha A', where A is rows x cols and B is cols x rows, both of one
 * type. With alpha 1 any type is allowed, and elements are copied bit by bit.
 *
 * alpha = 0 never reads A. Elements of B must not overlap each other, nor A's. In place (in_place)
 * b holds A, which is replaced by its transpose; then rows = cols, and a is zero. */
typedef struct tesela_transpose_desc {
  int64_t rows;           /**< rows of A and columns of B */
  int64_t cols;           /**< columns of A and rows of B */
  tesela_matrix a;        /**< input, rows x cols; zero if in_place */
  tesela_result b;        /**< result, cols x rows */
  int in_place;           /**< nonzero: b is input and result */
  const double *alpha;    /**< Scalar factor; NULL: 1 */
  tesela_options options; /**< as in tesela_gemm_desc */
} tesela_transpose_desc;

/** Describes a solve with a triangular A: X = alpha inverse(A) B, or X = alpha B inverse(A) with `right`. It
 * is BLAS's trsm. B and X are rows x cols; A is rows x rows, or cols x cols with `right`. All operands have
 * the same type: f32, f64, c64 or c128.
 *
 * Elements outside the triangle are never read, nor is a unit diagonal. alpha = 0 makes X 0 and reads neither
 * A nor B. Elements of X must not overlap each other, nor A's or B's. In place (in_place) x holds B, and b is
 * zero.
 *
 * The result is that of substitution. Its residual obeys |alpha B - A X| <= error_bound |A||X| for each
 * element, however A is scaled; magnitudes are moduli of complex numbers. The distance from the exact
 * solution depends on A's condition. The library does not look for a singular diagonal. By IEEE 754 a zero on
 * the diagonal gives infinities and NaN in its row of X and in all results that depend on it. An infinity or
 * NaN in A or B has the same effect; NaN times 0 is NaN. A complex quotient of non-finite numbers, or over
 * zero, has one or two components that are infinite or NaN. */
typedef struct tesela_solve_desc {
  int64_t rows;    /**< rows of B and X */
  int64_t cols;    /**< columns of B and X */
  tesela_matrix a; /**< triangular matrix; conjugate is allowed */
  /** TESELA_TRIANGULAR (also 0), or TESELA_UNIT_TRIANGULAR for a diagonal of ones */
  tesela_structure structure;
  tesela_triangle triangle; /**< stored triangle of A, before `transpose`: TESELA_LOWER or TESELA_UPPER */
  int right;                /**< nonzero: solve X A = alpha B */
  tesela_matrix b;          /**< right-hand sides, rows x cols; zero if in_place */
  tesela_result x;          /**< solution, rows x cols */
  int in_place;             /**< nonzero: x is right-hand side and solution */
  const double *alpha;      /**< Scalar factor of B; NULL: 1 */
  tesela_options options;   /**< as in tesela_gemm_desc; measure_error has no effect, and error bounds are of
                               the residual above */
} tesela_solve_desc;

/** Computes one dot product. Results, record and errors are as in tesela_gemm(). */
static inline tesela_status tesela_dot(tesela_context *context, const tesela_dot_desc *desc,
                                       tesela_record *record) {
  return tesela_call_sized(context, TESELA_DOT, desc, record, sizeof *desc, sizeof *record);
}

/** Computes one transpose. Results, record and errors are as in tesela_gemm(). */
static inline tesela_status tesela_transpose(tesela_context *context, const tesela_transpose_desc *desc,
                                             tesela_record *record) {
  return tesela_call_sized(context, TESELA_TRANSPOSE, desc, record, sizeof *desc, sizeof *record);
}

/** Computes one solve with a triangle. Results, record and errors are as in tesela_gemm(). */
static inline tesela_status tesela_solve(tesela_context *context, const tesela_solve_desc *desc,
                                         tesela_record *record) {
  return tesela_call_sized(context, TESELA_SOLVE, desc, record, sizeof *desc, sizeof *record);
}

/** Creates a plan for dot products, as tesela_plan_create(). */
static inline tesela_status tesela_plan_create_dot(tesela_context *context, const tesela_dot_desc *desc,
                                                   tesela_plan **plan) {
  return tesela_plan_create_sized(context, TESELA_DOT, desc, plan, sizeof *desc);
}

/** Creates a plan for transposes, as tesela_plan_create(). */
static inline tesela_status
tesela_plan_create_transpose(tesela_context *context, const tesela_transpose_desc *desc, tesela_plan **plan) {
  return tesela_plan_create_sized(context, TESELA_TRANSPOSE, desc, plan, sizeof *desc);
}

/** Creates a plan for solves, as tesela_plan_create(). */
static inline tesela_status tesela_plan_create_solve(tesela_context *context, const tesela_solve_desc *desc,
                                                     tesela_plan **plan) {
  return tesela_plan_create_sized(context, TESELA_SOLVE, desc, plan, sizeof *desc);
}

/** Explains a dot product, as tesela_explain(). */
static inline tesela_status tesela_explain_dot(tesela_context *context, const tesela_dot_desc *desc,
                                               char **text) {
  return tesela_explain_sized(context, TESELA_DOT, desc, text, sizeof *desc);
}

/** Explains a transpose, as tesela_explain(). */
static inline tesela_status tesela_explain_transpose(tesela_context *context,
                                                     const tesela_transpose_desc *desc, char **text) {
  return tesela_explain_sized(context, TESELA_TRANSPOSE, desc, text, sizeof *desc);
}

/** Explains a solve, as tesela_explain(). */
static inline tesela_status tesela_explain_solve(tesela_context *context, const tesela_solve_desc *desc,
                                                 char **text) {
  return tesela_explain_sized(context, TESELA_SOLVE, desc, text, sizeof *desc);
}

#ifdef __cplusplus
}
#endif

#endif
