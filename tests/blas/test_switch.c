/* The drop-in after a library that forwards each name. This program is linked with the library: switch.c
 * forwards to its choice, tracer.c to the next library with the name. */
#include "blas/names.h"
#include "unit/unit.h"

static void calls_end(void **state) {
  (void)state;
  enum { SIZE = 64 };
  static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
  for (int i = 0; i < SIZE * SIZE; i++) {
    a[i] = i % 7;
    b[i] = i % 5;
  }
  for (int size = 1; size <= SIZE; size *= 2) {
    double sum = 0;
    cblas_dgemm(ROW, N, T, size, size, size, 1, a, size, b, size, 0, c, size);
    for (int l = 0; l < size; l++)
      sum += a[l] * b[l];
    assert_true(c[0] == sum);
    assert_true(cblas_ddot(size, a, 1, b, 1) == sum);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
