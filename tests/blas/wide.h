/* BLAS's usual names with 64-bit integers. */
#ifndef TSL_TESTS_BLAS_WIDE_H
#define TSL_TESTS_BLAS_WIDE_H

#include <stdint.h>

enum { WIDE_MARK = 6464 };
/* More than 32 bits hold. */
#define WIDE_MANY ((int64_t)1 << 32)

double ddot_(const int64_t *n, const double *x, const int64_t *incx, const double *y, const int64_t *incy);
double cblas_ddot(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
void cblas_dgemm(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                 int64_t ldc);
void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
            const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
            const double *beta, double *c, const int64_t *ldc);

#endif
