/* The drop-in together with another BLAS: which library computes which call. The program opens the
 * other library itself, as Python does, or is linked with it after the drop-in (argument "linked").
 * TESELA_BLAS determines the expected library. */
#include "blas/other.h"
#include "unit/unit.h"

#include <complex.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With FEW rows a product is not tesela's, though it is not small. */
enum { SMALL = 4, LARGE = 300, FEW = 8, WIDE = 600, DEEP = 400 };
static double a[LARGE * LARGE], b[WIDE * DEEP], c[LARGE * LARGE];
static int *is_parallel;

static void expect(double seen, const char *who) {
  if ((strcmp(who, "other") == 0) != (seen == OTHER_MARK))
    fail_msg("%g is not what %s should give", seen, who);
}

/* Returns the requested library; for "auto", `otherwise`, the library that is expected to be
 * chosen. */
static const char *requested(const char *otherwise) {
  const char *value = getenv("TESELA_BLAS");
  return !value || strcmp(value, "auto") == 0 ? otherwise : value;
}

static double fortran(int32_t size) {
  const double one = 1, zero = 0;
  c[0] = 0;
  dgemm_("N", "T", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
  return c[0];
}

static double by_cblas(int32_t size) {
  c[0] = 0;
  cblas_dgemm(101, 111, 111, size, size, size, 1, a, size, b, size, 0, c, size);
  return c[0];
}

static void test_sizes(void **state) {
  (void)state;
  expect(fortran(SMALL), requested("tesela"));
  expect(fortran(LARGE), requested("tesela"));
  expect(by_cblas(SMALL), requested("tesela"));
  expect(by_cblas(LARGE), requested("tesela"));
  assert_true(strcmp(requested("tesela"), "other") == 0 || c[1] == LARGE);
}

/* Repeated calls follow the first decision, by each of the routine's names. */
static void test_calls_that_come_again(void **state) {
  (void)state;
  const int64_t few = FEW, wide = WIDE, deep = DEEP;
  const double one = 1, zero = 0;
  for (int round = 0; round < 5; round++) {
    expect(by_cblas(LARGE), requested("tesela"));
    expect(fortran(LARGE), requested("tesela"));
    c[0] = 0;
    cblas_dgemm(101, 111, 111, FEW, WIDE, DEEP, 1, a, DEEP, b, WIDE, 0, c, WIDE);
    expect(c[0], requested("other"));
    c[0] = 0;
    dgemm_("N", "N", &(int32_t){FEW}, &(int32_t){WIDE}, &(int32_t){DEEP}, &one, a, &(int32_t){FEW}, b,
           &(int32_t){DEEP}, &zero, c, &(int32_t){FEW});
    expect(c[0], requested("other"));
    c[0] = 0; /* no other library has this name */
    dgemm_64_("N", "N", &few, &wide, &deep, &one, a, &few, b, &deep, &zero, c, &few);
    expect(c[0], "tesela");
  }
}

static void test_types(void **state) {
  (void)state;
  const double complex one = 1, zero = 0, x[] = {1}, y[] = {2};
  const int32_t size = 1;
  double complex z = 0;
  zgemm_("N", "C", &size, &size, &size, &one, x, &size, y, &size, &zero, &z, &size);
  expect(creal(z), requested("other"));
  expect(creal(zdotc_(&size, x, &size, y, &size)), requested("tesela"));
  expect(cblas_ddot(2, a, 1, b, 1), requested("tesela"));
  /* The other library has no such routine: ours is used, whatever is requested. */
  assert_true(dsdot_(&size, &(float){3}, &size, &(float){5}, &size) == 15);
}

/* A tuned library's, of any size; ours on request. */
static void test_triangles(void **state) {
  (void)state;
  enum { N_LARGE = 200 };
  static const double one[] = {1, 0}, zero[2];
  static double complex z[N_LARGE * N_LARGE], result[N_LARGE * N_LARGE];
  for (int i = 0; i < N_LARGE * N_LARGE; i++)
    z[i] = CMPLX(1, 1);
  cblas_zgemmt(ROW, LOWER, N, C, N_LARGE, N_LARGE, one, z, N_LARGE, z, N_LARGE, zero, result, N_LARGE);
  expect(creal(result[0]), requested("other"));
  assert_true(strcmp(requested("other"), "other") == 0 || result[N_LARGE] == 2 * N_LARGE);
  result[0] = 0;
  cblas_zgemmt(ROW, LOWER, N, C, SMALL, SMALL, one, z, SMALL, z, SMALL, zero, result, SMALL);
  expect(creal(result[0]), requested("other"));
}

/* Returns the number of this process's threads, without the emulator's own thread. */
static int count_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = getenv("TESELA_EMULATOR") ? -1 : 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* TESELA_THREADS is 2 here. Threads come with the first call that uses them, and stay. */
static void test_parallel_region(void **state) {
  (void)state;
  *is_parallel = 1;
  expect(fortran(LARGE), requested("tesela"));
  assert_int_equal(count_threads(), 1);
  *is_parallel = 0;
  expect(fortran(LARGE), requested("tesela"));
  assert_int_equal(count_threads(), strcmp(requested("tesela"), "tesela") == 0 ? 2 : 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parallel_region),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_calls_that_come_again),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_triangles),
  };
  (void)argc;
  for (int i = 0; i < LARGE * LARGE; i++)
    a[i] = b[i] = 1;
  void *other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!other) {
    puts(dlerror());
    return 1;
  }
  is_parallel = dlsym(other, "other_is_parallel");
  return is_parallel ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
