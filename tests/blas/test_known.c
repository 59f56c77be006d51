/* The dispatch cache's entries for small products, observed by the memory that they allocate. A
 * cached call allocates nothing. A call that was not cached enters the cache at its eighth time in
 * a row, which allocates. */
#include "blas/names.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* The program's memory, counted: the drop-in finds these by their names. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);
static atomic_long taken, kept;

static void *count(void *block) {
  taken += block != NULL;
  kept += block != NULL;
  return block;
}
void *malloc(size_t bytes) {
  return count(__libc_malloc(bytes));
}
void *calloc(size_t number, size_t bytes) {
  return count(__libc_calloc(number, bytes));
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return count(__libc_memalign(alignment, bytes));
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  *out = count(__libc_memalign(alignment, bytes));
  return *out ? 0 : 12;
}
void free(void *block) {
  kept -= block != NULL;
  __libc_free(block);
}

enum { MOST = 32, SHAPES = MOST * MOST, KNOWN_MOST = 512, TIMES = 8 };
static double a[MOST * MOST], b[MOST * MOST];
static _Thread_local double c[MOST * MOST];

static void multiply(int m, int n, double alpha) {
  cblas_dgemm(ROW, N, N, m, n, 4, alpha, a, 4, b, n, 0, c, n);
  if (c[0] != alpha * 4)
    fail_msg("%g instead of %g", c[0], 4 * alpha);
}

/* How often memory was taken by a call of this shape. */
static long taken_by(int m, int n, double alpha) {
  const long before = taken;
  multiply(m, n, alpha);
  return taken - before;
}

static void learn(int m, int n) {
  multiply(m, n, 1);
  for (int i = 2; i < TIMES; i++)
    assert_int_equal(taken_by(m, n, 1), 0);
  assert_true(taken_by(m, n, 1) > 0);
  assert_int_equal(taken_by(m, n, 1), 0);
}

/* As many as a program may ever use: the last are learnt like the first, and the memory of those before is
 * given back. */
static void test_shapes_come_and_go(void **state) {
  (void)state;
  for (int i = 0; i < TIMES; i++)
    multiply(1, 1, 1);
  const long before = kept;
  for (int m = 2; m <= MOST; m++)
    for (int n = 1; n <= MOST; n++)
      learn(m, n);
  assert_true(SHAPES - MOST > KNOWN_MOST && kept - before <= 2 * KNOWN_MOST);
  learn(2, 9); /* it was evicted, by (6, 8), (10, 7), ... */
}

static void test_two_in_one_set(void **state) {
  (void)state;
  /* 4 n more and 4 m less: tsl_dispatch_set_of(). */
  learn(9, 3);
  learn(5, 4);
  for (int round = 0; round < 5; round++)
    assert_int_equal(taken_by(9, 3, 1) + taken_by(5, 4, 1), 0);
}

/* Nothing is learnt of scalars that never come again, and nothing forgotten for them. */
static void test_changing_scalars(void **state) {
  (void)state;
  learn(7, 7);
  for (int i = 2; i < 2000; i++)
    assert_int_equal(taken_by(7, 7, i), 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal(taken_by(7, 7, 1), 0);
}

static void *learn_some(void *argument) {
  (void)argument;
  for (int n = 1; n <= MOST; n++)
    learn(11, n);
  return NULL;
}

/* A thread's cache is freed when the thread ends. */
static void test_threads(void **state) {
  (void)state;
  pthread_t thread;
  long before = 0;
  for (int round = 0; round < 5; round++) {
    assert_int_equal(pthread_create(&thread, NULL, learn_some, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (round == 0)
      before = kept; /* the C library keeps stacks */
  }
  assert_true(kept - before < MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes_come_and_go),
      cmocka_unit_test(test_two_in_one_set),
      cmocka_unit_test(test_changing_scalars),
      cmocka_unit_test(test_threads),
  };
  for (int i = 0; i < MOST * MOST; i++)
    a[i] = b[i] = 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
