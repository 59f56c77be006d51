/* A program that calls BLAS and has tesela's drop-in installed. */
#include <tesela/blas.h>

#include <stdio.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);

int main(void) {
  const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, one = 1, zero = 0;
  double c[4];
  const int n = 2;
  tesela_set_num_threads(1);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  printf("%g %g %g %g by %d thread\n", c[0], c[1], c[2], c[3], tesela_get_num_threads());
  return c[0] != 23 || c[1] != 34 || c[2] != 31 || c[3] != 46 || tesela_get_num_threads() != 1;
}
