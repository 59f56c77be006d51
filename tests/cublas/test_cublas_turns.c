/* Plans and races take turns: a kind is decided while plans of other kinds wait (TESELA_CUBLAS_CALLS is
 * host_auto, TESELA_LOG is plan). */
#include "cublas/standin.h"
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 200, KINDS = 120, LARGEST = FIRST + KINDS - 1, SECONDS_MAX = 100 };

/* Returns the number of lines of the log before the first one with `text`; -1: there is none. */
static int find_line(FILE *log, const char *text) {
  char line[1024];
  rewind(log);
  for (int i = 0; fgets(line, sizeof line, log); i++)
    if (strstr(line, text))
      return i;
  return -1;
}

/* Multiplies zeros of each kind by turns until the last kind's plan is made. The stand-in wins races. */
static void call_kinds(FILE *log, const char *last_kind) {
  static const float one = 1, zero = 0;
  float *matrix = calloc((size_t)LARGEST * LARGEST, sizeof *matrix),
        *c = malloc(sizeof *c * LARGEST * LARGEST);
  const time_t end = time(NULL) + SECONDS_MAX;
  standin_handle handle;
  assert_non_null(matrix);
  assert_non_null(c);
  assert_int_equal(cublasCreate_v2(&handle), 0);
  while (find_line(log, last_kind) < 0 && time(NULL) < end)
    for (int n = FIRST; n <= LARGEST; n++)
      assert_int_equal(cublasSgemm_v2(handle, 0, 1, n, n, n, &one, matrix, n, matrix, n, &zero, c, n), 0);
  cublasDestroy_v2(handle);
  free(matrix);
  free(c);
}

static void test_turns(void **unused) {
  FILE *log = tmpfile();
  char last_kind[64];
  (void)unused;
  assert_non_null(log);
  snprintf(last_kind, sizeof last_kind, "gemm of %d x", LARGEST);
  const int own_stderr = dup(STDERR_FILENO);
  assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
  standin_writes_zeros(1);
  call_kinds(log, last_kind);
  assert_true(dup2(own_stderr, STDERR_FILENO) >= 0);
  close(own_stderr);
  const int last_plan = find_line(log, last_kind), decision = find_line(log, ": cuBLAS, ");
  assert_true(last_plan >= 0);
  assert_in_range(decision, 0, last_plan);
  fclose(log);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
