/* Another BLAS whose integers have 64 bits under the usual 32-bit names, as in the distribution's
 * libblas64 and MKL's ILP64 interface. It has plain dots, and marks its products. Its CBLAS dot
 * calls its Fortran dot by name, as the reference's does. */
#include "blas/wide.h"

static int64_t first_of(int64_t n, int64_t increment) {
  return increment < 0 ? (1 - n) * increment : 0;
}

double ddot_(const int64_t *n, const double *x, const int64_t *incx, const double *y, const int64_t *incy) {
  double sum = 0;
  if (*n >= WIDE_MANY)
    return WIDE_MARK;
  for (int64_t i = 0; i < *n; i++)
    sum += x[first_of(*n, *incx) + i * *incx] * y[first_of(*n, *incy) + i * *incy];
  return sum;
}

double cblas_ddot(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy) {
  return ddot_(&n, x, &incx, y, &incy);
}

void cblas_dgemm(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                 int64_t ldc) {
  (void)order, (void)transa, (void)transb, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
  (void)ldb, (void)beta;
  c[0] = m == WIDE_MANY + 2 && ldc == WIDE_MANY + 3 ? WIDE_MARK + 1 : WIDE_MARK;
}

void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
            const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
            const double *beta, double *c, const int64_t *ldc) {
  (void)transa, (void)transb;
  cblas_dgemm(102, 111, 111, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
