/* A library like FlexiBLAS and libblastrampoline: it forwards each name to the BLAS of the user's
 * choice (SWITCH_TO, a file). It opens that file while it is loaded itself, and calls a dot at
 * once, before it can forward calls. A drop-in that took this library for the program's BLAS would
 * pass the call back endlessly. A second call within the first ends the program. */
#include "blas/names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int flexiblas_current_backend(char *name, size_t size);

int flexiblas_current_backend(char *name, size_t size) {
  return snprintf(name, size, "SWITCH_TO");
}

typedef double dot(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy);
typedef void product(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
                     const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                     int32_t ldc);
static dot *chosen_dot;
static product *chosen_product;
static int depth;

static void find(void *library, const char *name, void *function, size_t size) {
  void *address = dlsym(library, name);
  memcpy(function, &address, size);
}

__attribute__((constructor)) static void choose(void) {
  const double ones[] = {1, 1};
  dot *first;
  void *library = dlopen(getenv("SWITCH_TO"), RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  find(library, "cblas_ddot", &first, sizeof first);
  if (first(2, ones, 1, ones, 1) != 2)
    exit(3);
  chosen_dot = first;
  find(library, "cblas_dgemm", &chosen_product, sizeof chosen_product);
}

static void enter(void) {
  if (!chosen_dot || depth++ > 0) {
    fprintf(stderr, "a call was passed back\n");
    exit(4);
  }
}

double cblas_ddot(int32_t n, const double *x, int32_t incx, const double *y, int32_t incy) {
  enter();
  const double sum = chosen_dot(n, x, incx, y, incy);
  depth--;
  return sum;
}

void cblas_dgemm(int order, int transa, int transb, int32_t m, int32_t n, int32_t k, double alpha,
                 const double *a, int32_t lda, const double *b, int32_t ldb, double beta, double *c,
                 int32_t ldc) {
  enter();
  chosen_product(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  depth--;
}
