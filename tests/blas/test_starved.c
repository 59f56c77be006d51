/* BLAS's batches while memory runs out, at each allocation in turn, once and for good: BLAS has no status, so
 * the result is right all the same. Numbers are small and whole, so that sums are exact in any order, and
 * beta is 1: a product that is done twice shows. */
#include "unit/unit.h"

#include "starved/starve.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS_FIRST = 102, TRANSPOSED = 112, SIZE = 24, ELEMENTS = SIZE * SIZE, COUNT = 100 };

typedef double complex pair;

void cblas_zgemm_batch(int order, const int *trans_a, const int *trans_b, const int32_t *m, const int32_t *n,
                       const int32_t *k, const void *alpha, const void *const *a, const int32_t *lda,
                       const void *const *b, const int32_t *ldb, const void *beta, void *const *c,
                       const int32_t *ldc, int32_t groups, const int32_t *group_size);
void cblas_zgemm_batch_strided(int order, int trans_a, int trans_b, int32_t m, int32_t n, int32_t k,
                               const void *alpha, const void *a, int32_t lda, int32_t a_stride, const void *b,
                               int32_t ldb, int32_t b_stride, const void *beta, void *c, int32_t ldc,
                               int32_t c_stride, int32_t count);
void cblas_dgemm_batch_strided(int order, int trans_a, int trans_b, int32_t m, int32_t n, int32_t k,
                               double alpha, const double *a, int32_t lda, int32_t a_stride, const double *b,
                               int32_t ldb, int32_t b_stride, double beta, double *c, int32_t ldc,
                               int32_t c_stride, int32_t count);

static pair a[COUNT * ELEMENTS], b[COUNT * ELEMENTS], c[COUNT * ELEMENTS], before[COUNT * ELEMENTS],
    expected[COUNT * ELEMENTS];
static double real_a[COUNT * ELEMENTS], real_b[COUNT * ELEMENTS], real_c[COUNT * ELEMENTS],
    real_before[COUNT * ELEMENTS], real_expected[COUNT * ELEMENTS];

static double number_at(int place, int salt) {
  return (place * 37 + salt) % 7 - 3;
}

/* A and B are stored transposed, by columns. */
static int fill(void **state) {
  (void)state;
  for (int i = 0; i < COUNT * ELEMENTS; i++) {
    real_a[i] = number_at(i, 1);
    real_b[i] = number_at(i, 2);
    real_before[i] = number_at(i, 3);
    a[i] = CMPLX(real_a[i], number_at(i, 4));
    b[i] = CMPLX(real_b[i], number_at(i, 5));
    before[i] = CMPLX(real_before[i], number_at(i, 6));
  }
  for (int p = 0; p < COUNT; p++)
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) {
        const int at = p * ELEMENTS + i + j * SIZE;
        expected[at] = before[at];
        real_expected[at] = real_before[at];
        for (int l = 0; l < SIZE; l++) {
          expected[at] += a[p * ELEMENTS + l + i * SIZE] * b[p * ELEMENTS + j + l * SIZE];
          real_expected[at] += real_a[p * ELEMENTS + l + i * SIZE] * real_b[p * ELEMENTS + j + l * SIZE];
        }
      }
  return 0;
}

static void call_by_strides(void) {
  const pair one = 1;
  cblas_zgemm_batch_strided(COLUMNS_FIRST, TRANSPOSED, TRANSPOSED, SIZE, SIZE, SIZE, &one, a, SIZE, ELEMENTS,
                            b, SIZE, ELEMENTS, &one, c, SIZE, ELEMENTS, COUNT);
}

static void call_by_addresses(void) {
  const pair one = 1;
  const int trans = TRANSPOSED;
  const int32_t size = SIZE, count = COUNT;
  const void *each_a[COUNT], *each_b[COUNT];
  void *each_c[COUNT];
  for (int i = 0; i < COUNT; i++) {
    each_a[i] = a + i * ELEMENTS;
    each_b[i] = b + i * ELEMENTS;
    each_c[i] = c + i * ELEMENTS;
  }
  cblas_zgemm_batch(COLUMNS_FIRST, &trans, &trans, &size, &size, &size, &one, each_a, &size, each_b, &size,
                    &one, each_c, &size, 1, &count);
}

static void call_real(void) {
  cblas_dgemm_batch_strided(COLUMNS_FIRST, TRANSPOSED, TRANSPOSED, SIZE, SIZE, SIZE, 1, real_a, SIZE,
                            ELEMENTS, real_b, SIZE, ELEMENTS, 1, real_c, SIZE, ELEMENTS, COUNT);
}

static int wrong_elements(void) {
  int wrong = 0;
  for (int i = 0; i < COUNT * ELEMENTS; i++)
    wrong += c[i] != expected[i] || real_c[i] != real_expected[i];
  return wrong;
}

/* The first call of all makes a context, and some allocations are other libraries' there, which cannot go
 * without: only what follows is starved. */
static void batches_are_right(void **state) {
  static void (*const calls[])(void) = {call_by_strides, call_by_addresses, call_real};
  int starved = 0;
  (void)state;
  for (int warm = 0; warm < 3; warm++)
    calls[warm]();
  for (int way = 0; way < 60; way++)
    for (int nth = 1, failures = 1; failures > 0; nth++) {
      memcpy(c, way % 3 == 2 ? expected : before, sizeof c);
      memcpy(real_c, way % 3 == 2 ? real_before : real_expected, sizeof real_c);
      starve(nth, way / 3 % 2);
      calls[way % 3]();
      failures = starve_end();
      starved += failures > 0;
      if (wrong_elements() > 0)
        fail_msg("way %d, allocation %d failed%s: %d of %d elements are wrong", way % 3, nth,
                 way / 3 % 2 ? " and all after it" : "", wrong_elements(), COUNT * ELEMENTS);
    }
  print_message("%d calls found no memory for something\n", starved);
}

/* --- first calls --- */

/* Makes a child's first call, in which allocation number `nth` fails, and a second call. Stores the
 * child's log in `told` and returns its exit status. */
enum { FIRST = 60, SECOND = 61, NO_SO_MANY = 7 };
static int tell_second_call(int nth, char *told, size_t size) {
  static double x[SECOND * SECOND], y[SECOND * SECOND];
  int ends[2], status = -1;
  size_t length = 0;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(ends[1], STDERR_FILENO);
    starve(nth, false);
    cblas_dgemm_batch_strided(COLUMNS_FIRST, TRANSPOSED, TRANSPOSED, FIRST, FIRST, FIRST, 1, x, FIRST, 0, x,
                              FIRST, 0, 0, y, FIRST, 0, 1);
    if (starve_end() == 0)
      _exit(NO_SO_MANY);
    cblas_dgemm_batch_strided(COLUMNS_FIRST, TRANSPOSED, TRANSPOSED, SECOND, SECOND, SECOND, 1, x, SECOND, 0,
                              x, SECOND, 0, 0, y, SECOND, 0, 1);
    exit(0);
  }
  close(ends[1]);
  for (ssize_t count; (count = read(ends[0], told + length, size - 1 - length)) > 0;)
    length += (size_t)count;
  told[length] = 0;
  close(ends[0]);
  assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* Memory that one call lacked is no reason for plain loops in the next one. */
static void first_calls_leave_nothing(void **state) {
  static char told[1 << 16];
  int nth = 1, status;
  (void)state;
  for (; (status = tell_second_call(nth, told, sizeof told)) == 0; nth++)
    if (!strstr(told, "  tesela ")) /* the column that names the library that computed */
      fail_msg("allocation %d failed in the first call, and the second: %s", nth, told);
  assert_int_equal(status, NO_SO_MANY);
  assert_true(nth > 10);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(batches_are_right)},
                          first[] = {cmocka_unit_test(first_calls_leave_nothing)};
  (void)arguments;
  return count > 1 ? cmocka_run_group_tests_name("first calls", first, NULL, NULL)
                   : cmocka_run_group_tests(tests, fill, NULL);
}
