/** @file tesela_dense.h
 * @brief C = A B of dense row-major matrices in host memory, for a first program. Part of tesela.h.
 *
 * tesela_gemm() has everything else. A is m x k, B is k x n and C is m x n. lda, ldb and ldc are the elements
 * from a row to the next; 0: no gap. Complex numbers are pairs (real, imaginary). A call
 * fails where tesela_gemm() would fail.
 *
 *     tesela_sgemm(context, m, n, k, a, k, b, n, c, n); */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_DENSE_H
#define TESELA_TESELA_DENSE_H

#ifdef __cplusplus
extern "C" {
#endif

/** Multiplies dense matrices of a type, for the four functions below. */
static inline tesela_status tesela_gemm_dense(tesela_context *context, tesela_type element, int64_t m,
                                              int64_t n, int64_t k, const void *a, int64_t lda, const void *b,
                                              int64_t ldb, void *c, int64_t ldc) {
#ifdef __cplusplus
  tesela_gemm_desc desc = {};
#else
  tesela_gemm_desc desc = {0};
#endif
  desc.m = m;
  desc.n = n;
  desc.k = k;
  desc.a.data = a;
  desc.a.row_stride = lda;
  desc.a.type = element;
  desc.b.data = b;
  desc.b.row_stride = ldb;
  desc.c.data = c;
  desc.c.row_stride = ldc;
  return tesela_gemm(context, &desc, NULL);
}
/** Multiplies dense f32 matrices. */
static inline tesela_status tesela_sgemm(tesela_context *context, int64_t m, int64_t n, int64_t k,
                                         const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                                         int64_t ldc) {
  return tesela_gemm_dense(context, TESELA_F32, m, n, k, a, lda, b, ldb, c, ldc);
}
/** Multiplies dense f64 matrices. */
static inline tesela_status tesela_dgemm(tesela_context *context, int64_t m, int64_t n, int64_t k,
                                         const double *a, int64_t lda, const double *b, int64_t ldb,
                                         double *c, int64_t ldc) {
  return tesela_gemm_dense(context, TESELA_F64, m, n, k, a, lda, b, ldb, c, ldc);
}
/** Multiplies dense c64 matrices. */
static inline tesela_status tesela_cgemm(tesela_context *context, int64_t m, int64_t n, int64_t k,
                                         const void *a, int64_t lda, const void *b, int64_t ldb, void *c,
                                         int64_t ldc) {
  return tesela_gemm_dense(context, TESELA_C64, m, n, k, a, lda, b, ldb, c, ldc);
}
/** Multiplies dense c128 matrices. */
static inline tesela_status tesela_zgemm(tesela_context *context, int64_t m, int64_t n, int64_t k,
                                         const void *a, int64_t lda, const void *b, int64_t ldb, void *c,
                                         int64_t ldc) {
  return tesela_gemm_dense(context, TESELA_C128, m, n, k, a, lda, b, ldb, c, ldc);
}

#ifdef __cplusplus
}
#endif

#endif
