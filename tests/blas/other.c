/* Another BLAS, for the test of which library computes: each function leaves a mark in its result.
 * omp_in_parallel() reports a parallel region when the test sets it. */
#include "blas/other.h"

int other_is_parallel;

int omp_in_parallel(void) {
  return other_is_parallel;
}

void dgemm_(const char *transa, const char *transb, const int32_t *m, const int32_t *n, const int32_t *k,
            const double *alpha, const double *a, const int32_t *lda, const double *b, const int32_t *ldb,
            const double *beta, double *c, const int32_t *ldc) {
  (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb;
  (void)beta, (void)ldc;
  c[0] = OTHER_MARK;
}

/* As the reference's does, by its Fortran routine. */
void cblas_dgemm(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
                 const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                 int32_t ldc) {
  (void)order, (void)transa, (void)transb;
  dgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

void zgemm_(const char *transa, const char *transb, const int32_t *m, const int32_t *n, const int32_t *k,
            const double _Complex *alpha, const double _Complex *a, const int32_t *lda,
            const double _Complex *b, const int32_t *ldb, const double _Complex *beta, double _Complex *c,
            const int32_t *ldc) {
  (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb;
  (void)beta, (void)ldc;
  c[0] = OTHER_MARK;
}

void cblas_zgemmt(int order, int uplo, int transa, int transb, int32_t n, int32_t k, const void *alpha,
                  const void *a, int32_t lda, const void *b, int32_t ldb, const void *beta, void *c,
                  int32_t ldc) {
  (void)order, (void)uplo, (void)transa, (void)transb, (void)n, (void)k, (void)alpha, (void)a, (void)lda;
  (void)b, (void)ldb, (void)beta, (void)ldc;
  *(double *)c = OTHER_MARK;
}

double cblas_ddot(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy) {
  (void)n, (void)x, (void)incx, (void)y, (void)incy;
  return OTHER_MARK;
}

double _Complex zdotc_(const int32_t *n, const void *x, const int32_t *incx, const void *y,
                       const int32_t *incy) {
  (void)n, (void)x, (void)incx, (void)y, (void)incy;
  return OTHER_MARK;
}
