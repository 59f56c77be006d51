/* A thread that is cancelled inside of a call ends when the call is done, and leaves everything fit for
 * others. */
#include "unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <tesela/tesela.h>

#include "core/pool.h"

#define THREADS 3

static void sleep_microseconds(long count) {
  nanosleep(&(struct timespec){.tv_sec = count / 1000000, .tv_nsec = count % 1000000 * 1000}, NULL);
}

/* --- a run --- */

typedef struct one_run {
  tsl_pool *pool;
  atomic_int done, workers, begun;
  atomic_bool cancelled, returned;
} one_run;

/* The caller is done at once, and waits for workers. */
static void wait_in_workers(void *argument, int64_t index, int worker) {
  one_run *run = argument;
  (void)index;
  atomic_fetch_or(&run->workers, 1 << worker);
  atomic_fetch_add(&run->begun, 1);
  if (worker != 0) {
    while (!atomic_load(&run->cancelled))
      sched_yield();
    sleep_microseconds(2000);
  } else {
    while (atomic_load(&run->begun) < THREADS) /* everybody has one */
      sched_yield();
  }
  atomic_fetch_add(&run->done, 1);
}

static void *run_once(void *argument) {
  one_run *run = argument;
  tsl_pool_run(run->pool, THREADS, wait_in_workers, run);
  atomic_store(&run->returned, true);
  pthread_testcancel();
  return NULL;
}

static void runs_are_done_first(void **state) {
  (void)state;
  one_run run;
  assert_int_equal(tsl_pool_create(THREADS, &run.pool), TESELA_OK);
  for (int i = 0; i < 5; i++) {
    pthread_t caller;
    void *result;
    atomic_init(&run.done, 0);
    atomic_init(&run.begun, 0);
    atomic_init(&run.workers, 0);
    atomic_init(&run.cancelled, false);
    atomic_init(&run.returned, false);
    assert_int_equal(pthread_create(&caller, NULL, run_once, &run), 0);
    while (atomic_load(&run.begun) < THREADS)
      sched_yield();
    sleep_microseconds(2000);
    assert_int_equal(pthread_cancel(caller), 0);
    atomic_store(&run.cancelled, true);
    assert_int_equal(pthread_join(caller, &result), 0);
    assert_true(atomic_load(&run.returned));
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&run.done), THREADS);
    assert_int_equal(atomic_load(&run.workers), (1 << THREADS) - 1);
  }
  tsl_pool_destroy(run.pool);
}

/* --- public calls, which log to stderr: a cancelled thread ends inside a call --- */

enum { M = 200, SIZES = 40 };
static float a[M * M], b[M * M];

typedef struct caller {
  tesela_context *context;
  atomic_bool inside; /* the last call did not return */
  atomic_int wrong;
} caller;

/* Every call with a plan of its own. */
static void multiply(caller *with, int64_t size) {
  static _Thread_local float c[M * M];
  const double nothing = 0;
  const tesela_gemm_desc desc = {
      .m = size, .n = M, .k = M, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  const tesela_transpose_desc transpose = {.rows = size, .cols = M, .a = {.data = a}, .b = {.data = c}};
  const tesela_dot_desc dot = {
      .n = size * M, .x = {.data = a}, .y = {.data = b}, .result = {.data = c}, .beta = &nothing};
  const tesela_batch batch = {.count = 3, .a_stride = 1, .c_stride = size * 8};
  tesela_gemm_desc few = desc;
  few.n = 8;
  atomic_store(&with->inside, true);
  tesela_plan *plan = NULL;
  tesela_status status = tesela_gemm(with->context, &desc, NULL);
  status |= tesela_transpose(with->context, &transpose, NULL);
  status |= tesela_dot(with->context, &dot, NULL);
  status |= tesela_gemm_batched(with->context, &few, &batch, NULL);
  status |= tesela_plan_create(with->context, &desc, &plan);
  status |= tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL);
  tesela_plan_destroy(plan);
  atomic_fetch_add(&with->wrong, status != TESELA_OK);
  atomic_store(&with->inside, false);
}

static void *multiply_until_cancelled(void *argument) {
  caller *with = argument;
  for (int64_t i = 0; i < INT64_MAX; i++) {
    multiply(with, 1 + i % SIZES);
    pthread_testcancel();
  }
  return NULL;
}

static void calls_are_done_first(void **state) {
  (void)state;
  caller with = {.wrong = 0};
  const int before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &with.context), TESELA_OK);
  dup2(nowhere, STDERR_FILENO);
  int inside = 0, not_cancelled = 0;
  for (int i = 0; i < 60; i++) {
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, multiply_until_cancelled, &with), 0);
    sleep_microseconds(300 + 97 * i);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    not_cancelled += result != PTHREAD_CANCELED;
    inside += atomic_load(&with.inside);
    multiply(&with, 1 + i % SIZES); /* no cancelled thread may hold a lock that this call needs */
  }
  dup2(before, STDERR_FILENO);
  close(before);
  close(nowhere);
  assert_int_equal(not_cancelled, 0);
  assert_int_equal(inside, 0);
  assert_int_equal(atomic_load(&with.wrong), 0);
  tesela_context_destroy(with.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_are_done_first),
      cmocka_unit_test(calls_are_done_first),
  };
  for (int i = 0; i < M * M; i++)
    a[i] = b[i] = (float)(i % 5);
  setenv("TESELA_LOG", "all", 1);
  setenv("TESELA_THREADS", "3", 1);
  alarm(100); /* a deadlock fails the test */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
