/* The drop-in with a library of unknown speed (argument 1), whose products leave a mark. Checks
 * which library computes the products that only a fast library should get ("other" or "tesela",
 * argument 2), by each name and at each call. */
#include "blas/other.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 8, COLS = 400, TERMS = 600 }; /* not small, and so few rows that a good library has them */
static double a[ROWS * TERMS], b[TERMS * COLS], c[ROWS * COLS];
static bool others;

static void by_cblas(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    c[0] = 0;
    cblas_dgemm(101, 111, 111, ROWS, COLS, TERMS, 1, a, TERMS, b, COLS, 0, c, COLS);
    assert_true(c[0] == (others ? OTHER_MARK : TERMS));
    assert_true(others || c[ROWS * COLS - 1] == TERMS);
  }
}

static void by_fortran(void **state) {
  const int32_t m = ROWS, n = COLS, k = TERMS;
  const double one = 1, zero = 0;
  (void)state;
  for (int i = 0; i < 4; i++) {
    c[0] = 0;
    dgemm_("N", "N", &m, &n, &k, &one, a, &m, b, &k, &zero, c, &m);
    assert_true(c[0] == (others ? OTHER_MARK : TERMS));
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_cblas), cmocka_unit_test(by_fortran)};
  for (int i = 0; i < ROWS * TERMS; i++)
    a[i] = 1;
  for (int i = 0; i < TERMS * COLS; i++)
    b[i] = 1;
  if (argc < 3 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    puts(argc < 3 ? "usage: test_standing LIBRARY other|tesela" : dlerror());
    return 1;
  }
  others = strcmp(argv[2], "other") == 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
