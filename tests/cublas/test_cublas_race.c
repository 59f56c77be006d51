/* Which library gets a call after both have been compared on the program's own calls (TESELA_CUBLAS_CALLS is
 * host_auto). */
#include "cublas/standin.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { N = 96, SECONDS_MAX = 100, IN_A_ROW = 30, THREADS = 4 };
static const float one = 1, zero = 0;

/* Returns true if the product of ones is right. */
static bool multiply(standin_handle handle, int n, const float *ones, float *c) {
  c[0] = c[n * n - 1] = -1;
  return cublasSgemm_v2(handle, 0, 1, n, n, n, &one, ones, n, ones, n, &zero, c, n) == 0 &&
         c[0] == (float)n * ones[0] && c[n * n - 1] == (float)n * ones[0];
}

/* Calls until one library has computed IN_A_ROW calls. Returns 1 if tesela has, 0 for the stand-in. */
static int settle(standin_handle handle, int n, float element, bool *both) {
  float *ones = malloc(sizeof(float) * (size_t)(n * n)), *c = malloc(sizeof(float) * (size_t)(n * n));
  const time_t end = time(NULL) + SECONDS_MAX;
  int in_a_row = 0, last = -1;
  for (int i = 0; i < n * n; i++)
    ones[i] = element;
  *both = false;
  while (in_a_row < IN_A_ROW && time(NULL) < end) {
    const int before = standin_calls();
    assert_true(multiply(handle, n, ones, c));
    const int is_ours = standin_calls() == before;
    *both = *both || (last >= 0 && is_ours != last);
    in_a_row = is_ours == last && *both ? in_a_row + 1 : 0;
    last = is_ours;
    usleep(1000);
  }
  assert_int_equal(in_a_row, IN_A_ROW);
  free(ones);
  free(c);
  return last;
}

static void test_faster_tesela(void **unused) {
  bool both;
  standin_handle handle;
  (void)unused;
  assert_int_equal(cublasCreate_v2(&handle), 0);
  standin_sleep(0.02);
  assert_int_equal(settle(handle, N, 1, &both), 1);
  assert_true(both);
  cublasDestroy_v2(handle);
}

/* tesela needs a millisecond, or tens of it on a busy machine under a sanitizer. The stand-in only writes
 * zeros. Calls of the same sizes in another mode are of another kind. */
static void test_faster_cublas(void **unused) {
  enum { TF32 = 3 };
  bool both;
  standin_handle handle;
  (void)unused;
  assert_int_equal(cublasCreate_v2(&handle), 0);
  standin_writes_zeros(1);
  assert_int_equal(settle(handle, 4 * N, 0, &both), 0);
  assert_true(both);
  standin_sleep(0.3);
  cublasSetMathMode(handle, TF32);
  assert_int_equal(settle(handle, 4 * N, 0, &both), 1);
  assert_true(both);
  cublasDestroy_v2(handle);
}

/* Ends the stand-in's modes, also after a test that failed. */
static int reset_standin(void **unused) {
  (void)unused;
  standin_sleep(0);
  standin_writes_zeros(0);
  return 0;
}

static void *call_often(void *failed) {
  enum { SIZE = 24, CALLS = 300 };
  float ones[SIZE * SIZE], c[SIZE * SIZE];
  standin_handle handle;
  if (cublasCreate_v2(&handle) != 0)
    return failed;
  for (int i = 0; i < SIZE * SIZE; i++)
    ones[i] = 1;
  void *result = NULL;
  for (int i = 0; i < CALLS && !result; i++) {
    if (!multiply(handle, SIZE, ones, c) || !multiply(handle, SIZE - i % 5, ones, c))
      result = failed;
    if (i % 16 == 0)
      usleep(1000);
  }
  cublasDestroy_v2(handle);
  return result;
}

static void test_threads(void **unused) {
  pthread_t threads[THREADS];
  char failed;
  void *result;
  (void)unused;
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &failed), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_null(result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_faster_tesela, reset_standin),
      cmocka_unit_test_teardown(test_faster_cublas, reset_standin),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
