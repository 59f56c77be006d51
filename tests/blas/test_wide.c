/* A program whose BLAS has 64-bit integers under the usual names (wide.c), with the drop-in before
 * it. Calls pass through with all bits of their arguments. The library is opened by the program, or
 * linked after the drop-in. */
#include "blas/wide.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>

static const double x[] = {1, 2, 3}, y[] = {4, 50, 600};

/* An increment of -1 by value: cut to 32 bits and handed on as they are, it is 4294967295. */
static void test_increments(void **state) {
  (void)state;
  const int64_t three = 3, one = 1, minus = -1;
  assert_true(cblas_ddot(3, x, 1, y, -1) == 600 + 100 + 12);
  assert_true(cblas_ddot(3, x, -1, y, -1) == 4 + 100 + 1800);
  assert_true(ddot_(&three, x, &minus, y, &one) == 12 + 100 + 600);
}

static void test_large_sizes(void **state) {
  (void)state;
  const int64_t many = WIDE_MANY + 1, one = 1;
  assert_true(cblas_ddot(many, x, 1, y, 1) == WIDE_MARK);
  assert_true(ddot_(&many, x, &one, y, &one) == WIDE_MARK);
}

/* Products, small ones too: cut to 32 bits these are of 2 x 2, which the drop-in would do at once. */
static void test_products(void **state) {
  (void)state;
  const int64_t many = WIDE_MANY + 2, two = 2, ld = WIDE_MANY + 3;
  const double one = 1, zero = 0;
  double c[16] = {0};
  for (int round = 0; round < 4; round++) {
    cblas_dgemm(102, 111, 111, many, 2, 2, 1, x, many, y, 2, 0, c, ld);
    assert_true(c[0] == WIDE_MARK + 1);
    c[0] = 0;
    dgemm_("N", "N", &many, &two, &two, &one, x, &many, y, &two, &zero, c, &ld);
    assert_true(c[0] == WIDE_MARK + 1);
    cblas_dgemm(102, 111, 111, 1, 1, 1, 1, x, 1, y, 1, 0, c, 1);
    assert_true(c[0] == WIDE_MARK);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_increments),
      cmocka_unit_test(test_large_sizes),
      cmocka_unit_test(test_products),
  };
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    puts(dlerror());
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
