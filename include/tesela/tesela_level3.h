/** @file tesela_level3.h
 * @brief BLAS's Level 3 by its names: symm, hemm, syrk, herk, syr2k, her2k, trmm and trsm, for f32, f64, c64
 * and c128.
 *
 * Each call completes a description and passes it to tesela_gemm() or tesela_solve(), whose messages name the
 * wrong member. Members such as a_triangle are those in desc.structure. Leave the completed members zero;
 * sizes may be set, but must then be right. All other members (strides, transposes, types, device, strategy,
 * accuracy, ...) keep their meaning. A triangle is the stored one. The lower triangle of a column-major
 * matrix is TESELA_LOWER with row_stride 1 and col_stride lda.
 *
 *     call    result C                                   members to set                 completed members
 *     symm    alpha A B + beta C, A symmetric            m, n, a, b, c, a_triangle      k, structure.a
 *             alpha A B + beta C, B symmetric            m, n, a, b, c, b_triangle      k, structure.b
 *     hemm    as symm, with A or B hermitian             as symm                        as symm
 *     trmm    alpha A C, A triangular                    m, n, a, c, a_triangle (*)     k, in_place
 *             alpha C B, B triangular                    m, n, b, c, b_triangle (*)     k, in_place
 *     syrk    alpha A A' + beta C                        n, k, a, c, c_triangle         m, b
 *     herk    alpha A A^H + beta C                       n, k, a, c, c_triangle         m, b, structure.c
 *     syr2k   alpha A B' + alpha B A' + beta C           n, k, a, b, c, c_triangle      m
 *     her2k   alpha A B^H + conj(alpha) B A^H + beta C   n, k, a, b, c, c_triangle      m, structure.c
 *     trsm    alpha inverse(A) C, or on the right        a tesela_solve_desc, C is x    in_place
 *
 * (*) Set structure.a or structure.b to TESELA_UNIT_TRIANGULAR for a unit diagonal; 0 means
 * TESELA_TRIANGULAR. A symmetric, hermitian or triangular A is m x m, and B is n x n. In updates (syrk, herk,
 * syr2k, her2k) A and B are n x k; with `transpose` the stored matrix is k x n. The factors alpha and beta of
 * herk, and beta of her2k, are one real number each, for complex matrices, too. The lower triangle of C = A
 * A':
 *
 *     tesela_gemm_desc desc = {.n = n, .k = k, .a = {.data = a}, .c = {.data = c}};
 *     desc.structure.c_triangle = TESELA_LOWER;
 *     tesela_syrk(context, &desc, NULL); */
#ifndef TESELA_TESELA_LEVEL3_H
#define TESELA_TESELA_LEVEL3_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Helpers of the calls below
 * Programs do not call them.
 * @{ */
/** Returns the description with the structure of the factor whose triangle is set (B if only b_triangle
 * is set, else A). A structure that is already set is kept. A k of 0 becomes the factor's size. */
static inline tesela_gemm_desc tesela_level3_factor(const tesela_gemm_desc *desc,
                                                    tesela_structure structure) {
  tesela_gemm_desc full = *desc;
  const int by_b = full.structure.b_triangle != TESELA_WHOLE && full.structure.a_triangle == TESELA_WHOLE;
  tesela_structure *is = by_b ? &full.structure.b : &full.structure.a;
  if (*is == TESELA_GENERAL)
    *is = structure;
  if (full.k == 0)
    full.k = by_b ? full.n : full.m;
  return full;
}

/** Returns 1 if the type of A is complex. */
static inline int tesela_level3_is_complex(const tesela_gemm_desc *desc) {
  return desc->a.type == TESELA_C64 || desc->a.type == TESELA_C128;
}

/** Returns the description of an update: B becomes `with` transposed, or conjugate-transposed if C is to
 * be hermitian. */
static inline tesela_gemm_desc tesela_level3_update(const tesela_gemm_desc *desc, tesela_matrix with,
                                                    int hermitian) {
  tesela_gemm_desc full = *desc;
  full.b = with;
  full.b.transpose = !with.transpose;
  if (hermitian && tesela_level3_is_complex(desc)) {
    full.b.conjugate = !with.conjugate;
    full.structure.c = TESELA_HERMITIAN;
  }
  if (full.m == 0)
    full.m = full.n;
  return full;
}

/** Adds the times and error bounds of a first product to the record of a second product. */
static inline void tesela_level3_join(const tesela_record *first, tesela_record *record) {
  record->seconds += first->seconds;
  record->seconds_allocate += first->seconds_allocate;
  record->seconds_copy_in += first->seconds_copy_in;
  record->seconds_compute += first->seconds_compute;
  record->seconds_copy_out += first->seconds_copy_out;
  record->seconds_measure += first->seconds_measure;
  record->error_bound += first->error_bound + first->error_bound * record->error_bound;
  if (record->flushed_below < first->flushed_below)
    record->flushed_below = first->flushed_below;
  if (record->error_measured < first->error_measured)
    record->error_measured = first->error_measured;
}

/** Returns 1 if desc->options.device is "cpu". */
static inline int tesela_level3_on_host(const tesela_gemm_desc *desc) {
  const char *device = desc->options.device;
  return device && device[0] == 'c' && device[1] == 'p' && device[2] == 'u' && !device[3];
}

/** Computes an update of rank 2k in one pass.
 * @return TESELA_UNSUPPORTED if the device does not support the sum, or
 * - if C is computed whole;
 * - if alpha is complex and C hermitian: the factors alpha and conj(alpha) of the two products differ;
 * - if the type is complex and the device is not "cpu". */
static inline tesela_status tesela_level3_sum(tesela_context *context, const tesela_gemm_desc *desc,
                                              int hermitian, const double *beta, tesela_record *record) {
  const int is_complex = tesela_level3_is_complex(desc),
            differ = hermitian && is_complex && desc->alpha && desc->alpha[1] != 0;
  tesela_gemm_desc full = tesela_level3_update(desc, desc->b, hermitian);
  if (full.structure.c_triangle == TESELA_WHOLE || differ || (is_complex && !tesela_level3_on_host(desc)))
    return TESELA_UNSUPPORTED;
  full.structure.c = hermitian ? TESELA_HERMITIAN_SUM : TESELA_SYMMETRIC_SUM;
  full.beta = beta;
  return tesela_gemm(context, &full, record);
}

/** Computes an update of rank 2k, in one pass if possible, else as two products. alpha is the factor of
 * the second one. */
static inline tesela_status tesela_level3_twice(tesela_context *context, const tesela_gemm_desc *desc,
                                                int hermitian, const double *alpha, const double *beta,
                                                tesela_record *record) {
  const double one[2] = {1, 0};
  tesela_status status = tesela_level3_sum(context, desc, hermitian, beta, record);
  if (status != TESELA_UNSUPPORTED)
    return status;
  tesela_gemm_desc full = tesela_level3_update(desc, desc->b, hermitian);
  full.beta = beta;
  status = tesela_gemm(context, &full, record);
  if (status != TESELA_OK)
    return status;
  full = *desc;
  full.a = desc->b;
  full = tesela_level3_update(&full, desc->a, hermitian);
  full.alpha = alpha;
  full.beta = one;
  if (!record)
    return tesela_gemm(context, &full, record);
  const tesela_record first = *record;
  status = tesela_gemm(context, &full, record);
  if (status == TESELA_OK)
    tesela_level3_join(&first, record);
  return status;
}
/** @} */

/** Computes C = alpha A B + beta C, where A or B is symmetric. Errors are those of tesela_gemm(). */
static inline tesela_status tesela_symm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_SYMMETRIC);
  return tesela_gemm(context, &full, record);
}

/** Computes C = alpha A B + beta C, where A or B is hermitian. Errors are those of tesela_gemm(). */
static inline tesela_status tesela_hemm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_HERMITIAN);
  return tesela_gemm(context, &full, record);
}

/** Computes C = alpha A C or C = alpha C B with a triangular A or B. TESELA_UNIT_TRIANGULAR marks a
 * diagonal of ones. */
static inline tesela_status tesela_trmm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_TRIANGULAR);
  full.structure.in_place = 1;
  return tesela_gemm(context, &full, record);
}

/** Computes a triangle of C = alpha A A' + beta C. With c_triangle TESELA_WHOLE it computes all of C, in
 * twice the time. */
static inline tesela_status tesela_syrk(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_update(desc, desc->a, 0);
  return tesela_gemm(context, &full, record);
}

/** Computes a triangle of the hermitian C = alpha A A^H + beta C. Imaginary parts of the diagonal are
 * not read and become 0. */
static inline tesela_status tesela_herk(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const double alpha[2] = {desc->alpha ? *desc->alpha : 1, 0}, beta[2] = {desc->beta ? *desc->beta : 0, 0};
  tesela_gemm_desc full = tesela_level3_update(desc, desc->a, 1);
  full.alpha = alpha;
  full.beta = beta;
  return tesela_gemm(context, &full, record);
}

/** Computes a triangle of C = alpha (A B' + B A') + beta C. error_bound refers to |alpha| (|A||B'| +
 * |B||A'|) + |beta||C|.
 *
 * Two products replace the update if c_triangle is TESELA_WHOLE, or if no strategy on the device
 * supports TESELA_SYMMETRIC_SUM. Then C is rounded twice, the record has both products' times and the
 * second one's plan, and `accuracy` applies to each product. If the second product fails (device
 * failure, memory), C holds the result of the first one. */
static inline tesela_status tesela_syr2k(tesela_context *context, const tesela_gemm_desc *desc,
                                         tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  return tesela_level3_twice(context, desc, 0, desc->alpha, desc->beta, record);
}

/** Computes a triangle of the hermitian C = alpha A B^H + conj(alpha) B A^H + beta C. The diagonal is
 * handled as in tesela_herk(). An alpha with an imaginary part needs two products; all else is as in
 * tesela_syr2k(). */
static inline tesela_status tesela_her2k(tesela_context *context, const tesela_gemm_desc *desc,
                                         tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const int is_complex = tesela_level3_is_complex(desc);
  const double conjugate[2] = {desc->alpha ? desc->alpha[0] : 1,
                               desc->alpha && is_complex ? -desc->alpha[1] : 0};
  const double beta[2] = {desc->beta ? *desc->beta : 0, 0};
  return tesela_level3_twice(context, desc, 1, conjugate, beta, record);
}

/** Solves with a triangle in place: x = alpha inverse(A) x, or x = alpha x inverse(A) with `right`.
 * Leave b zero. */
static inline tesela_status tesela_trsm(tesela_context *context, const tesela_solve_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_solve(context, desc, record);
  tesela_solve_desc full = *desc;
  full.in_place = 1;
  return tesela_solve(context, &full, record);
}

#ifdef __cplusplus
}
#endif

#endif
