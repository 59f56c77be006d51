/* test_twice DROP_IN COPY: copies DROP_IN to COPY and opens the copy in addition to the drop-in
 * that this program is linked with. So it is when one drop-in is preloaded and another linked.
 * Neither may take the other for the program's BLAS: a call that they passed back and forth would
 * never end. */
#include "blas/names.h"
#include "unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *drop_in, *copy;

static void copy_file(void) {
  char block[65536];
  FILE *from = fopen(drop_in, "rb"), *to = fopen(copy, "wb");
  assert_non_null(from);
  assert_non_null(to);
  for (size_t read; (read = fread(block, 1, sizeof block, from)) > 0;)
    assert_int_equal(fwrite(block, 1, read, to), read);
  fclose(from);
  assert_int_equal(fclose(to), 0);
}

static void calls_end(void **state) {
  (void)state;
  copy_file();
  void *second = dlopen(copy, RTLD_NOW | RTLD_GLOBAL);
  if (!second)
    fail_msg("%s", dlerror());
  const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  double c[4];
  cblas_dgemm(ROW, N, N, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
  assert_true(cblas_ddot(4, a, 1, b, 1) == 70);
  double (*dot)(int, const double *, int, const double *, int);
  void *symbol = dlsym(second, "cblas_ddot");
  assert_non_null(symbol);
  memcpy(&dot, &symbol, sizeof dot);
  assert_true(dot(4, a, 1, b, 1) == 70);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_end)};
  if (argc != 3)
    return 2;
  drop_in = argv[1];
  copy = argv[2];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
