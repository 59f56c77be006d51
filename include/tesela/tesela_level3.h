/**
 * @file tesela_level3.h
 * @brief BLAS's Level 3 by its names: symm, hemm, syrk, herk, syr2k, her2k, trmm and trsm, of f32, f64, c64
 * and c128.
 *
 * Each call completes a description and hands it to tesela_gemm() or tesela_solve(), which say what is wrong
 * with it: TESELA_BAD_CALL names the field. What a call completes need not be given; sizes may be, and have
 * to be right then. Everything else (strides, transposes, types, device, strategy, accuracy, ...) means what
 * it means there. A triangle is where elements lie: the lower one of a column-major program is TESELA_LOWER
 * here, where row_stride is 1 and col_stride its leading dimension.
 *
 *     call    what C becomes                              what is given                                  what
 * is completed symm    alpha A B + beta C, A symmetric             m, n, a, b, c, a_triangle k, a_structure
 *             alpha A B + beta C, B symmetric             m, n, a, b, c, b_triangle                      k,
 * b_structure hemm    the same, A or B hermitian                  the same the same trmm    alpha A C, A
 * triangular                     m, n, a, c, a_triangle, a_structure (*)        k, in_place alpha C B, B
 * triangular                     m, n, b, c, b_triangle, b_structure (*)        k, in_place syrk    alpha A
 * A' + beta C                         n, k, a, c, c_triangle                         m, b herk    alpha A A^H
 * + beta C                        n, k, a, c, c_triangle                         m, b, c_structure syr2k
 * alpha A B' + alpha B A' + beta C            n, k, a, b, c, c_triangle                      m her2k   alpha
 * A B^H + conj(alpha) B A^H + beta C    n, k, a, b, c, c_triangle                      m, c_structure trsm
 * alpha inverse(A) C, or of the right side    a tesela_solve_desc, with C in x               in_place
 *
 * (*) 0 says TESELA_TRIANGULAR. A is m x m, or B n x n, where it is symmetric, hermitian or triangular. Of
 * updates (syrk, herk, syr2k, her2k) A and B are n x k; `transpose` makes that of what is stored as k x n.
 * alpha and beta of herk, and beta of her2k, are one real number each, of complex matrices, too.
 */
#ifndef TESELA_TESELA_LEVEL3_H
#define TESELA_TESELA_LEVEL3_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name What the calls below are made of
 * Programs need none of these.
 * @{ */
/** Says what the factor is of which a triangle is given (A where that is neither or both), unless that is
 * said, and how long sums are. */
static inline tesela_gemm_desc tesela_level3_factor(const tesela_gemm_desc *desc,
                                                    tesela_structure structure) {
  tesela_gemm_desc full = *desc;
  const int by_b = full.b_triangle != TESELA_WHOLE && full.a_triangle == TESELA_WHOLE;
  tesela_structure *is = by_b ? &full.b_structure : &full.a_structure;
  if (*is == TESELA_GENERAL)
    *is = structure;
  if (full.k == 0)
    full.k = by_b ? full.n : full.m;
  return full;
}

/** Whether sums are complex. */
static inline int tesela_level3_is_complex(const tesela_gemm_desc *desc) {
  return desc->a.type == TESELA_C64 || desc->a.type == TESELA_C128;
}

/** B becomes `with` transposed, and conjugated where that makes C hermitian. */
static inline tesela_gemm_desc tesela_level3_update(const tesela_gemm_desc *desc, tesela_matrix with,
                                                    int hermitian) {
  tesela_gemm_desc full = *desc;
  full.b = with;
  full.b.transpose = !with.transpose;
  if (hermitian && tesela_level3_is_complex(desc)) {
    full.b.conjugate = !with.conjugate;
    full.c_structure = TESELA_HERMITIAN;
  }
  if (full.m == 0)
    full.m = full.n;
  return full;
}

/** The record of two products in turn. */
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

/** Whether a call says that the host's processors compute. */
static inline int tesela_level3_on_host(const tesela_gemm_desc *desc) {
  const char *device = desc->device;
  return device && device[0] == 'c' && device[1] == 'p' && device[2] == 'u' && !device[3];
}

/** An update of rank 2k, at once. TESELA_UNSUPPORTED where that is not done: of all of C, where the products'
 * factors differ, and on a device that does not take it, as of complex types the host's processors alone do.
 */
static inline tesela_status tesela_level3_sum(tesela_context *context, const tesela_gemm_desc *desc,
                                              int hermitian, const double *beta, tesela_record *record) {
  const int is_complex = tesela_level3_is_complex(desc),
            differ = hermitian && is_complex && desc->alpha && desc->alpha[1] != 0;
  tesela_gemm_desc full = tesela_level3_update(desc, desc->b, hermitian);
  if (full.c_triangle == TESELA_WHOLE || differ || (is_complex && !tesela_level3_on_host(desc)))
    return TESELA_UNSUPPORTED;
  full.c_structure = hermitian ? TESELA_HERMITIAN_SUM : TESELA_SYMMETRIC_SUM;
  full.beta = beta;
  return tesela_gemm(context, &full, record);
}

/** The same by two of rank k. */
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

/** C = alpha A B + beta C, where A, or B, is symmetric. */
static inline tesela_status tesela_symm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_SYMMETRIC);
  return tesela_gemm(context, &full, record);
}

/** C = alpha A B + beta C, where A, or B, is hermitian. */
static inline tesela_status tesela_hemm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_HERMITIAN);
  return tesela_gemm(context, &full, record);
}

/** C = alpha A C, or alpha C B, where A, or B, is triangular: TESELA_UNIT_TRIANGULAR where its diagonal is 1.
 */
static inline tesela_status tesela_trmm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  tesela_gemm_desc full = tesela_level3_factor(desc, TESELA_TRIANGULAR);
  full.in_place = 1;
  return tesela_gemm(context, &full, record);
}

/** A triangle of C = alpha A A' + beta C; with c_triangle TESELA_WHOLE all of it, which takes twice as long.
 */
static inline tesela_status tesela_syrk(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  const tesela_gemm_desc full = tesela_level3_update(desc, desc->a, 0);
  return tesela_gemm(context, &full, record);
}

/** A triangle of the hermitian C = alpha A A^H + beta C: its diagonal has imaginary parts of 0, and what
 * these were is not read. */
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

/** A triangle of C = alpha (A B' + B A') + beta C; error_bound is of |alpha| (|A||B'| + |B||A'|) + |beta||C|.
 * Where that is not done at once (with c_triangle TESELA_WHOLE, or nothing on the device takes
 * TESELA_SYMMETRIC_SUM) it is two products, of which C has the first one's roundings, too: the record is of
 * both, with the second one's plan, and what `accuracy` asks for holds for each. Where the second fails (a
 * device, or memory ran out in between), C has the first. */
static inline tesela_status tesela_syr2k(tesela_context *context, const tesela_gemm_desc *desc,
                                         tesela_record *record) {
  if (!desc)
    return tesela_gemm(context, desc, record);
  return tesela_level3_twice(context, desc, 0, desc->alpha, desc->beta, record);
}

/** A triangle of the hermitian C = alpha A B^H + conj(alpha) B A^H + beta C, its diagonal as of
 * tesela_herk(); else as tesela_syr2k(), where an alpha with an imaginary part makes it two products. */
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

/** x = alpha inverse(A) x, or with `right` alpha x inverse(A): tesela_solve() in place. b is not given. */
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
