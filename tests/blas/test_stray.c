/* The drop-in with a library that has single names of BLAS without the rest of their family
 * (stray.c): the drop-in does not call them. */
#include "blas/other.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>

enum {
  FEW = 8,
  MANY = 600,
  DEEP = 400
}; /* so few rows that the other library would be given it, and enough work */
static double a[2 * FEW * DEEP], b[2 * DEEP * MANY], c[2 * FEW * MANY];

static void test_strays_are_not_called(void **state) {
  (void)state;
  cblas_dgemm_batch_strided(ROW, N, N, FEW, MANY, DEEP, 1, a, DEEP, FEW * DEEP, b, MANY, DEEP * MANY, 0, c,
                            MANY, FEW * MANY, 2);
  for (int i = 0; i < 2 * FEW * MANY; i++)
    if (c[i] != DEEP)
      fail_msg("element %d is %g", i, c[i]);
}

/* With its family there, the same library is asked. */
static void test_families_are_called(void **state) {
  (void)state;
  scipy_cblas_dgemm64_(ROW, N, N, FEW, MANY, DEEP, 1, a, DEEP, b, MANY, 0, c, MANY);
  assert_true(c[0] == OTHER_MARK);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strays_are_not_called),
      cmocka_unit_test(test_families_are_called),
  };
  for (int i = 0; i < 2 * DEEP * MANY; i++)
    b[i] = 1;
  for (int i = 0; i < 2 * FEW * DEEP; i++)
    a[i] = 1;
  if (argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    puts(dlerror());
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
