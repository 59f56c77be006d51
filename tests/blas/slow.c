/* A BLAS of unknown speed, for the test of which library computes. Its products leave a mark, and
 * take SLOW_SECONDS; its Level 3 routines take that time for the work of 320 cubed. Under a
 * sanitizer that is ten times as long as ours. Products with more multiply-adds than SLOW_MOST take
 * no time. The name of its kernels is SLOW_CORE, as OpenBLAS's kernels have a name. With
 * SLOW_PARALLEL=0 it has no threads, and no locks. */
#define _POSIX_C_SOURCE 200809L
#include "blas/other.h"

#include <stdlib.h>
#include <time.h>

const char *openblas_get_corename(void);
const char *openblas_get_corename(void) {
  const char *name = getenv("SLOW_CORE");
  return name ? name : "";
}

int openblas_get_parallel(void);
int openblas_get_parallel(void) {
  const char *parallel = getenv("SLOW_PARALLEL");
  return parallel ? atoi(parallel) : 1;
}

static double share_of(double multiply_adds) {
  const char *most = getenv("SLOW_MOST");
  return most && multiply_adds > atof(most) ? 0 : multiply_adds / (320.0 * 320 * 320);
}

static void pause_for(double share) {
  const char *seconds = getenv("SLOW_SECONDS");
  const double length = share * (seconds ? atof(seconds) : 0);
  const struct timespec pause = {.tv_sec = (time_t)length,
                                 .tv_nsec = (long)(1e9 * (length - (double)(time_t)length))};
  if (length > 0)
    nanosleep(&pause, NULL);
}

void dgemm_(const char *transa, const char *transb, const int32_t *m, const int32_t *n, const int32_t *k,
            const double *alpha, const double *a, const int32_t *lda, const double *b, const int32_t *ldb,
            const double *beta, double *c, const int32_t *ldc) {
  (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb;
  (void)beta, (void)ldc;
  pause_for(1);
  c[0] = OTHER_MARK;
}

void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int32_t *m,
            const int32_t *n, const double *alpha, const double *a, const int32_t *lda, double *b,
            const int32_t *ldb);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int32_t *m,
            const int32_t *n, const double *alpha, const double *a, const int32_t *lda, double *b,
            const int32_t *ldb) {
  (void)side, (void)uplo, (void)trans, (void)diag, (void)alpha, (void)a, (void)lda, (void)ldb;
  pause_for(share_of((double)*m * *m * *n));
  b[0] = OTHER_MARK;
}

void cblas_zherk(int order, int uplo, int trans, int32_t n, int32_t k, double alpha, const void *a,
                 int32_t lda, double beta, void *c, int32_t ldc);
void cblas_zherk(int order, int uplo, int trans, int32_t n, int32_t k, double alpha, const void *a,
                 int32_t lda, double beta, void *c, int32_t ldc) {
  (void)order, (void)uplo, (void)trans, (void)alpha, (void)a, (void)lda, (void)beta, (void)ldc;
  pause_for(share_of(4.0 * n * n * k));
  *(double *)c = OTHER_MARK;
}

/* By its Fortran routine's name, which may be another library's. */
void cblas_dgemm(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
                 const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                 int32_t ldc) {
  (void)transa, (void)transb;
  if (order == 101)
    dgemm_("N", "N", &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
  else
    dgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
