/* The drop-in with a library of unknown speed (argument 1), whose products leave a mark. Checks
 * which library computes the products that only a fast library should get ("other" or "tesela",
 * argument 2), by each name and at each call. The other library does until a race has ended. */
#include "blas/other.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SECONDS = 60 };                      /* longest wait for a race in the background */
enum { ROWS = 8, COLS = 400, TERMS = 600 }; /* not small, and so few rows that a good library has them */
static double a[ROWS * TERMS], b[TERMS * COLS], c[ROWS * COLS];
static bool others;

static double first_by_cblas(void) {
  c[0] = 0;
  cblas_dgemm(101, 111, 111, ROWS, COLS, TERMS, 1, a, TERMS, b, COLS, 0, c, COLS);
  return c[0];
}

static double first_by_fortran(void) {
  const int32_t m = ROWS, n = COLS, k = TERMS;
  const double one = 1, zero = 0;
  c[0] = 0;
  dgemm_("N", "N", &m, &n, &k, &one, a, &m, b, &k, &zero, c, &m);
  return c[0];
}

static void wait_for_race(double (*first)(void)) {
  const time_t end = time(NULL) + SECONDS;
  assert_true(first() == OTHER_MARK);
  while (!others && first() == OTHER_MARK && time(NULL) < end)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void by_cblas(void **state) {
  (void)state;
  wait_for_race(first_by_cblas);
  for (int i = 0; i < 4; i++) {
    assert_true(first_by_cblas() == (others ? OTHER_MARK : TERMS));
    assert_true(others || c[ROWS * COLS - 1] == TERMS);
  }
}

static void by_fortran(void **state) {
  (void)state;
  wait_for_race(first_by_fortran);
  for (int i = 0; i < 4; i++)
    assert_true(first_by_fortran() == (others ? OTHER_MARK : TERMS));
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
