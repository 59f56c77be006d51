/* Declarations of BLAS as its callers write them, for the tests of the drop-in. */
#ifndef TSL_TESTS_BLAS_NAMES_H
#define TSL_TESTS_BLAS_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { ROW = 101, COLUMN = 102, N = 111, T = 112, C = 113, UPPER = 121, LOWER = 122 };

#define GEMM_FORTRAN(name, integer, type)                                                                    \
  void name(const char *transa, const char *transb, const integer *m, const integer *n, const integer *k,    \
            const type *alpha, const type *a, const integer *lda, const type *b, const integer *ldb,         \
            const type *beta, type *c, const integer *ldc);
GEMM_FORTRAN(sgemm_, int32_t, float)
GEMM_FORTRAN(dgemm_, int32_t, double)
GEMM_FORTRAN(cgemm_, int32_t, float _Complex)
GEMM_FORTRAN(zgemm_, int32_t, double _Complex)
GEMM_FORTRAN(dgemm_64_, int64_t, double)
GEMM_FORTRAN(dgemm_64, int64_t, double)
GEMM_FORTRAN(scipy_dgemm_, int32_t, double)
GEMM_FORTRAN(scipy_dgemm_64_, int64_t, double)

#define GEMM_CBLAS(name, integer, type, scalar)                                                              \
  void name(int order, int transa, int transb, integer m, integer n, integer k, scalar alpha, const type *a, \
            integer lda, const type *b, integer ldb, scalar beta, type *c, integer ldc);
GEMM_CBLAS(cblas_sgemm, int32_t, float, float)
GEMM_CBLAS(cblas_dgemm, int32_t, double, double)
GEMM_CBLAS(cblas_zgemm, int32_t, double _Complex, const void *)
GEMM_CBLAS(cblas_dgemm64_, int64_t, double, double)
GEMM_CBLAS(cblas_dgemm_64, int64_t, double, double)
GEMM_CBLAS(scipy_cblas_dgemm, int32_t, double, double)
GEMM_CBLAS(scipy_cblas_dgemm64_, int64_t, double, double)

void cblas_dsyrk(int order, int uplo, int trans, int32_t n, int32_t k, double alpha, const double *a,
                 int32_t lda, double beta, double *c, int32_t ldc);
void cblas_dgemmt(int order, int uplo, int transa, int transb, int32_t n, int32_t k, double alpha,
                  const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                  int32_t ldc);
void cblas_zgemmt(int order, int uplo, int transa, int transb, int32_t n, int32_t k, const void *alpha,
                  const void *a, int32_t lda, const void *b, int32_t ldb, const void *beta, void *c,
                  int32_t ldc);
void cblas_cgemmt(int order, int uplo, int transa, int transb, int32_t n, int32_t k, const void *alpha,
                  const void *a, int32_t lda, const void *b, int32_t ldb, const void *beta, void *c,
                  int32_t ldc);
void dgemmt_(const char *uplo, const char *transa, const char *transb, const int32_t *n, const int32_t *k,
             const double *alpha, const double *a, const int32_t *lda, const double *b, const int32_t *ldb,
             const double *beta, double *c, const int32_t *ldc);
void cblas_dgemm_batch(int order, const int *transa, const int *transb, const int32_t *m, const int32_t *n,
                       const int32_t *k, const double *alpha, const double *const *a, const int32_t *lda,
                       const double *const *b, const int32_t *ldb, const double *beta, double *const *c,
                       const int32_t *ldc, int32_t group_count, const int32_t *group_size);
void cblas_dgemm_batch_strided(int order, int transa, int transb, int32_t m, int32_t n, int32_t k,
                               double alpha, const double *a, int32_t lda, int32_t stride_a, const double *b,
                               int32_t ldb, int32_t stride_b, double beta, double *c, int32_t ldc,
                               int32_t stride_c, int32_t count);
void dgemm_batch_strided_(const char *transa, const char *transb, const int32_t *m, const int32_t *n,
                          const int32_t *k, const double *alpha, const double *a, const int32_t *lda,
                          const int32_t *stride_a, const double *b, const int32_t *ldb,
                          const int32_t *stride_b, const double *beta, double *c, const int32_t *ldc,
                          const int32_t *stride_c, const int32_t *count);
float sdot_(const int32_t *n, const float *x, const int32_t *incx, const float *y, const int32_t *incy);
double cblas_ddot(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy);
double dsdot_(const int32_t *n, const float *x, const int32_t *incx, const float *y, const int32_t *incy);
float cblas_sdsdot(int32_t n, float start, const float *x, int32_t incx, const float *y, int32_t incy);
float _Complex cdotu_(const int32_t *n, const void *x, const int32_t *incx, const void *y,
                      const int32_t *incy);
double _Complex zdotc_(const int32_t *n, const void *x, const int32_t *incx, const void *y,
                       const int32_t *incy);
void cblas_zdotc_sub(int32_t n, const void *x, int32_t incx, const void *y, int32_t incy, void *result);
void cblas_domatcopy(int order, int trans, int32_t rows, int32_t cols, double alpha, const double *a,
                     int32_t lda, double *b, int32_t ldb);
void zomatcopy_(const char *order, const char *trans, const int32_t *rows, const int32_t *cols,
                const void *alpha, const void *a, const int32_t *lda, void *b, const int32_t *ldb);
void cblas_dimatcopy(int order, int trans, int32_t rows, int32_t cols, double alpha, double *a, int32_t lda,
                     int32_t ldb);

/* The program's own error handlers, which the drop-in shall call. */
void xerbla_(const char *name, const int32_t *info, size_t length);
void xerbla_64_(const char *name, const int64_t *info, size_t length);
void cblas_xerbla(int info, const char *name, const char *form, ...);

#endif
