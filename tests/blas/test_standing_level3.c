/* The drop-in with a tuned library (argument 1), whose solves and updates leave a mark. Checks
 * which library ("other" or "tesela") computes the largest size that is measured (argument 2), and
 * the smallest (argument 3), at each call. Before the race has ended, which STANDING_LINES lines in
 * the file STANDING_FILE show, it is the other library. It always computes small sizes. */
#include "blas/other.h"
#include "unit/unit.h"

#include <complex.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As much work as the largest calls that are measured, which a busy processor disturbs least. */
enum { SMALL = 8, LEAST = 20, LARGE = 330 };
static bool large_are_others, least_are_others;

void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int32_t *m,
            const int32_t *n, const double *alpha, const double *a, const int32_t *lda, double *b,
            const int32_t *ldb);

static double first_of_solution(int32_t n) {
  static double a[LARGE * LARGE], x[LARGE * LARGE];
  const double one = 1;
  memset(a, 0, sizeof a);
  for (int32_t i = 0; i < n; i++)
    a[i * n + i] = 2;
  for (int32_t i = 0; i < n * n; i++)
    x[i] = 6;
  dtrsm_("L", "L", "N", "N", &n, &n, &one, a, &n, x, &n);
  return x[0];
}

void cblas_zherk(int order, int uplo, int trans, int32_t n, int32_t k, double alpha, const void *a,
                 int32_t lda, double beta, void *c, int32_t ldc);

/* Returns the last element of an update by rows of ones, added to 1. */
static double last_of_update(int32_t n) {
  static double complex a[LARGE * LARGE], c[LARGE * LARGE];
  for (int32_t i = 0; i < n * n; i++)
    a[i] = c[i] = 1;
  cblas_zherk(101, 122, 111, n, n, 2, a, n, 1, c, n);
  return creal(c[0]) == OTHER_MARK ? OTHER_MARK : creal(c[n * n - 1]);
}

static void small_ones_pass(void **state) {
  (void)state;
  assert_true(first_of_solution(SMALL) == OTHER_MARK);
  assert_true(last_of_update(SMALL) == OTHER_MARK);
}

/* Waits until the file has so many lines, and each routine its library. */
static void wait_for_races(void) {
  enum { SECONDS = 60 };
  const char *name = getenv("STANDING_FILE"), *lines = getenv("STANDING_LINES");
  const time_t end = time(NULL) + SECONDS;
  const double solution = first_of_solution(LARGE), update = last_of_update(LARGE);
  bool waits = true;
  while (waits && time(NULL) < end) {
    int missing = lines ? atoi(lines) : 0;
    FILE *file = name ? fopen(name, "r") : NULL;
    for (int character; file && (character = getc(file)) != EOF;)
      missing -= character == '\n';
    if (file)
      fclose(file);
    waits = missing > 0 || (!large_are_others &&
                            (first_of_solution(LARGE) == OTHER_MARK || last_of_update(LARGE) == OTHER_MARK));
    if (waits)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  assert_false(waits);
  if (getenv("STANDING_IS_KEPT")) {
    assert_true((solution == OTHER_MARK) == large_are_others);
    assert_true((update == OTHER_MARK) == large_are_others);
  } else {
    assert_true(solution == OTHER_MARK && update == OTHER_MARK);
  }
}

static void goes_to(int32_t n, bool others) {
  for (int i = 0; i < 3; i++) {
    assert_true(first_of_solution(n) == (others ? OTHER_MARK : 3));
    assert_true(last_of_update(n) == (others ? OTHER_MARK : 2 * n + 1));
  }
}

static void each_size_goes_to_the_faster(void **state) {
  (void)state;
  wait_for_races();
  goes_to(LARGE, large_are_others);
  goes_to(LEAST, least_are_others);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_ones_pass),
                                     cmocka_unit_test(each_size_goes_to_the_faster),
                                     cmocka_unit_test(small_ones_pass)};
  if (argc < 4 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    puts(argc < 4 ? "usage: test_standing_level3 LIBRARY other|tesela other|tesela" : dlerror());
    return 1;
  }
  large_are_others = strcmp(argv[2], "other") == 0;
  least_are_others = strcmp(argv[3], "other") == 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
