/* A library as NumPy's wheels have: a BLAS with 64-bit integers under prefixed names, from which batches have
 * strayed under the usual ones. What takes these for 32-bit ones reads arguments that are not there; here it
 * is marked. */
#include "blas/other.h"

double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);

double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i * incx] * y[i * incy];
  return sum;
}

void scipy_cblas_dgemm64_(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                          const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                          int64_t ldc) {
  (void)order, (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda,
      (void)b;
  (void)ldb, (void)beta, (void)ldc;
  c[0] = OTHER_MARK;
}

void cblas_dgemm_batch_strided(int order, int transa, int transb, int32_t m, int32_t n, int32_t k,
                               double alpha, const double *a, int32_t lda, int32_t stride_a, const double *b,
                               int32_t ldb, int32_t stride_b, double beta, double *c, int32_t ldc,
                               int32_t stride_c, int32_t count) {
  (void)order, (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda,
      (void)b;
  (void)ldb, (void)beta, (void)ldc, (void)stride_a, (void)stride_b, (void)stride_c, (void)count;
  c[0] = OTHER_MARK;
}
