/* A library loaded before the drop-in that passes each call on to the next library, as profilers
 * that count calls do. A drop-in that took it for the next BLAS would pass the call back for ever:
 * a second call within the first ends the program. */
#include "blas/names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int depth;

/* The next function of a name, into a pointer to one of its kind. */
static void enter(const char *name, void *function, size_t size) {
  void *address = dlsym(RTLD_NEXT, name);
  if (!address || depth++ > 0) {
    fprintf(stderr, "%s: %s\n", name, address ? "the call came back" : "nobody has it");
    exit(4);
  }
  memcpy(function, &address, size);
}

void cblas_dgemm(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
                 const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                 int32_t ldc) {
  void (*next)(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
               const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
               int32_t ldc);
  enter("cblas_dgemm", &next, sizeof next);
  next(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  depth--;
}

double cblas_ddot(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy) {
  double (*next)(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy);
  enter("cblas_ddot", &next, sizeof next);
  const double dot = next(n, x, incx, y, incy);
  depth--;
  return dot;
}
