/* The thread pool: every index once, nested and concurrent runs, forks. */
#include "unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/pool.h"
#include "unit/sanitizers.h"

#define THREADS 8

/* For tests in which a fork's child starts threads. */
static void skip_where_children_have_no_threads(void) {
  if (THREAD_SANITIZER) {
    print_message("the thread sanitizer does not survive threads in the child of a fork\n");
    skip();
  }
}

static tsl_pool *make_pool(int threads) {
  tsl_pool *pool;
  assert_int_equal(tsl_pool_create(threads, &pool), TESELA_OK);
  return pool;
}

/* --- runs --- */

typedef struct visits {
  int64_t count;
  atomic_int *times;              /* [count] */
  atomic_int in_worker[THREADS];  /* whether that worker is inside the task */
  atomic_int workers, collisions; /* bits of workers seen; two threads with one number at once */
  long pause_nanoseconds;
} visits;

static void visit(void *argument, int64_t index, int worker) {
  visits *v = argument;
  if (worker < 0 || worker >= THREADS || index < 0 || index >= v->count) {
    atomic_fetch_add(&v->collisions, 1);
    return;
  }
  if (atomic_fetch_add(&v->in_worker[worker], 1) != 0)
    atomic_fetch_add(&v->collisions, 1);
  atomic_fetch_or(&v->workers, 1 << worker);
  atomic_fetch_add(&v->times[index], 1);
  if (v->pause_nanoseconds)
    nanosleep(&(struct timespec){.tv_nsec = v->pause_nanoseconds}, NULL);
  atomic_fetch_sub(&v->in_worker[worker], 1);
}

/* Returns true when a run over `count` indices visits each once. Sets bits of `*workers` for the
 * workers that took part. */
static bool visits_each_once(tsl_pool *pool, int64_t count, long pause_nanoseconds, int *workers) {
  visits v = {.count = count, .pause_nanoseconds = pause_nanoseconds};
  v.times = calloc((size_t)count + 1, sizeof *v.times);
  tsl_pool_run(pool, count, visit, &v);
  bool right = atomic_load(&v.collisions) == 0;
  for (int64_t i = 0; i < count; i++)
    right = right && atomic_load(&v.times[i]) == 1;
  free(v.times);
  if (workers)
    *workers = atomic_load(&v.workers);
  return right;
}

static void each_index_once(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 2, 3, THREADS, THREADS + 1, 100, 10000};
  for (int threads = 1; threads <= THREADS; threads++) {
    tsl_pool *pool = make_pool(threads);
    assert_int_equal(tsl_pool_threads(pool), threads);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
      for (int repeat = 0; repeat < 20; repeat++)
        assert_true(visits_each_once(pool, counts[i], 0, NULL));
    tsl_pool_destroy(pool);
  }
}

static void negative_count_is_nothing(void **state) {
  (void)state;
  tsl_pool *pool = make_pool(2);
  tsl_pool_run(pool, -1, visit, NULL);
  tsl_pool_run(pool, INT64_MIN, visit, NULL);
  tsl_pool_destroy(pool);
}

/* Returns true when every thread has taken part after at most 100 runs. Indices sleep, so that
 * other threads get work. */
static bool all_take_part(tsl_pool *pool) {
  int seen = 0;
  for (int run = 0; run < 100 && seen != (1 << THREADS) - 1; run++) {
    int workers = 0;
    if (!visits_each_once(pool, 2 * THREADS, 5000000, &workers))
      return false;
    seen |= workers;
  }
  return seen == (1 << THREADS) - 1;
}

static void all_threads_take_part(void **state) {
  (void)state;
  tsl_pool *pool = make_pool(THREADS);
  int workers = 0;
  assert_true(visits_each_once(pool, 2, 5000000, &workers));
  assert_true(__builtin_popcount((unsigned)workers) <= 2); /* no more threads than indices */
  assert_true(all_take_part(pool));
  tsl_pool_destroy(pool);
}

/* --- teams --- */

/* Returns true when a team's run visits each index once, with at most as many threads as the team
 * has, and with their numbers only. */
static bool team_visits_each_once(tsl_team team, int64_t count, long pause_nanoseconds) {
  visits v = {.count = count, .pause_nanoseconds = pause_nanoseconds};
  v.times = calloc((size_t)count + 1, sizeof *v.times);
  tsl_team_run(team, count, visit, &v);
  bool right = atomic_load(&v.collisions) == 0 && atomic_load(&v.workers) >> tsl_team_threads(team) == 0;
  for (int64_t i = 0; i < count; i++)
    right = right && atomic_load(&v.times[i]) == 1;
  free(v.times);
  return right;
}

/* All of the pool's threads are there and wait for work. */
static void teams_have_their_threads_alone(void **state) {
  (void)state;
  tsl_pool *pool = make_pool(THREADS);
  assert_true(all_take_part(pool));
  for (int repeat = 0; repeat < 20; repeat++)
    for (int threads = 1; threads <= THREADS; threads++) {
      const tsl_team team = tsl_pool_team(pool, threads);
      assert_int_equal(tsl_team_threads(team), threads);
      assert_true(team_visits_each_once(team, 40, 200000));
      assert_true(team_visits_each_once(team, 3, 0));
    }
  assert_true(all_take_part(pool));
  tsl_pool_destroy(pool);
}

static void teams_are_of_a_pool(void **state) {
  (void)state;
  tsl_pool *pool = make_pool(THREADS);
  assert_int_equal(tsl_team_threads(tsl_pool_team(pool, 0)), THREADS);
  assert_int_equal(tsl_team_threads(tsl_pool_team(pool, THREADS + 1)), THREADS);
  assert_int_equal(tsl_team_threads((tsl_team){0}), 1);
  assert_true(team_visits_each_once((tsl_team){0}, 10, 0));
  tsl_pool_destroy(pool);
}

typedef struct two_runs {
  tsl_pool *pool;
  atomic_int workers; /* of the inner run */
} two_runs;

static void run_all_inside(void *argument, int64_t index, int worker) {
  two_runs *runs = argument;
  int workers = 0;
  (void)index, (void)worker;
  for (int i = 0; i < 20; i++)
    if (visits_each_once(runs->pool, 2 * THREADS, 1000000, &workers))
      atomic_fetch_or(&runs->workers, workers);
}

/* A team of one uses no workers, so that nested runs may use them. */
static void a_team_of_one_takes_nobody(void **state) {
  (void)state;
  two_runs runs = {.pool = make_pool(THREADS)};
  tsl_team_run(tsl_pool_team(runs.pool, 1), 3, run_all_inside, &runs);
  assert_true(atomic_load(&runs.workers) > 1);
  tsl_pool_destroy(runs.pool);
}

/* Workers see the caller's writes from before the run, and the caller sees the workers' writes,
 * without atomics. */
static void add_one(void *argument, int64_t index, int worker) {
  (void)worker;
  ((int64_t *)argument)[index]++;
}

static void add_many_times(int threads, int64_t count) {
  enum { MOST = 64, RUNS = 2000 };
  tsl_pool *pool = make_pool(threads);
  int64_t values[MOST];
  for (int64_t i = 0; i < count; i++)
    values[i] = i;
  for (int run = 0; run < RUNS; run++)
    tsl_pool_run(pool, count, add_one, values);
  for (int64_t i = 0; i < count; i++)
    assert_int_equal(values[i], i + RUNS);
  tsl_pool_destroy(pool);
}

/* Few indices: a worker that searches for work may come late for the index reserved for it. */
static void results_are_seen(void **state) {
  (void)state;
  add_many_times(2, 2);
  add_many_times(2, 64);
  add_many_times(THREADS, THREADS);
  add_many_times(THREADS, 64);
}

/* Runs far apart find the workers asleep, others find them looking around. */
static void workers_wake_again(void **state) {
  (void)state;
  tsl_pool *pool = make_pool(THREADS);
  for (int i = 0; i < 20; i++) {
    assert_true(visits_each_once(pool, 50, 0, NULL));
    if (i % 2)
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  tsl_pool_destroy(pool);
}

/* --- nested and concurrent runs --- */

typedef struct nest {
  tsl_pool *pool;
  atomic_int wrong;
} nest;

static void run_inside(void *argument, int64_t index, int worker) {
  (void)index, (void)worker;
  nest *n = argument;
  int workers = 0;
  if (!visits_each_once(n->pool, 5, 100000, &workers) || workers != 1) /* alone, as worker 0 */
    atomic_fetch_add(&n->wrong, 1);
}

static void inner_runs_are_alone(void **state) {
  (void)state;
  tsl_pool *outer = make_pool(THREADS), *other = make_pool(THREADS);
  nest same = {.pool = outer}, free_one = {.pool = other};
  tsl_pool_run(outer, 50, run_inside, &same);
  tsl_pool_run(outer, 50, run_inside, &free_one);
  assert_int_equal(atomic_load(&same.wrong), 0);
  assert_int_equal(atomic_load(&free_one.wrong), 0);
  tsl_pool_destroy(other);
  tsl_pool_destroy(outer);
}

static void *run_beside(void *argument) {
  nest *n = argument;
  for (int i = 0; i < 200; i++)
    if (!visits_each_once(n->pool, 30, i % 50 == 0 ? 100000 : 0, NULL))
      atomic_fetch_add(&n->wrong, 1);
  return NULL;
}

static void many_callers(void **state) {
  (void)state;
  enum { CALLERS = 6 };
  nest n = {.pool = make_pool(THREADS)};
  pthread_t callers[CALLERS];
  for (int i = 0; i < CALLERS; i++)
    assert_int_equal(pthread_create(&callers[i], NULL, run_beside, &n), 0);
  for (int i = 0; i < CALLERS; i++)
    pthread_join(callers[i], NULL);
  assert_int_equal(atomic_load(&n.wrong), 0);
  tsl_pool_destroy(n.pool);
}

/* --- forks --- */

/* Runs the pool. The address sanitizer's locks stay locked in a child if a thread holds them. A thread that
 * starts may hold them, therefore all threads work under this sanitizer. */
static bool works_before_fork(tsl_pool *pool) {
  return visits_each_once(pool, 100, 0, NULL) && (!ADDRESS_SANITIZER || all_take_part(pool));
}

/* Runs `pool` in a child; the child's exit code is 0 when the results are right and its threads took part. */
static int run_in_child(tsl_pool *pool) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); /* a child that hangs fails */
    bool right = true;
    for (int i = 0; i < 20; i++)
      right = right && visits_each_once(pool, 100, 0, NULL);
    right = right && all_take_part(pool);
    tsl_pool_destroy(pool);
    _exit(right ? 0 : 1);
  }
  int result = -1;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &result, 0), child);
  return result;
}

static void child_starts_its_own_workers(void **state) {
  (void)state;
  skip_where_children_have_no_threads();
  tsl_pool *pool = make_pool(THREADS);
  assert_int_equal(run_in_child(pool), 0); /* before any thread runs */
  assert_true(works_before_fork(pool));
  assert_int_equal(run_in_child(pool), 0);
  assert_true(visits_each_once(pool, 100, 0, NULL)); /* the parent goes on */
  tsl_pool_destroy(pool);
}

typedef struct busy_pool {
  tsl_pool *pool;
  atomic_bool stop;
  atomic_int runs, wrong;
} busy_pool;

static void *keep_running(void *argument) {
  busy_pool *b = argument;
  while (!atomic_load(&b->stop)) {
    if (!visits_each_once(b->pool, 20, 200000, NULL))
      atomic_fetch_add(&b->wrong, 1);
    atomic_fetch_add(&b->runs, 1);
  }
  return NULL;
}

static void fork_while_the_pool_runs(void **state) {
  (void)state;
  skip_where_children_have_no_threads();
  busy_pool b = {.pool = make_pool(THREADS)};
  pthread_t caller;
  assert_int_equal(pthread_create(&caller, NULL, keep_running, &b), 0);
  while (atomic_load(&b.runs) == 0)
    sched_yield();
  for (int i = 0; i < 10; i++)
    assert_int_equal(run_in_child(b.pool), 0);
  atomic_store(&b.stop, true);
  pthread_join(caller, NULL);
  assert_int_equal(atomic_load(&b.wrong), 0);
  tsl_pool_destroy(b.pool);
}

static void grandchildren(void **state) {
  (void)state;
  skip_where_children_have_no_threads();
  tsl_pool *pool = make_pool(THREADS);
  assert_true(works_before_fork(pool));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool right = works_before_fork(pool) && run_in_child(pool) == 0;
    tsl_pool_destroy(pool);
    _exit(right ? 0 : 1);
  }
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
  tsl_pool_destroy(pool);
}

/* --- making pools --- */

static void unused_pools_start_nothing(void **state) {
  (void)state;
  tsl_pool *pools[3];
  for (int i = 0; i < 3; i++)
    pools[i] = make_pool(TSL_POOL_THREADS_MAX);
  tsl_pool_destroy(pools[1]);
  tsl_pool_destroy(pools[0]);
  tsl_pool_destroy(pools[2]);
  tsl_pool_destroy(NULL);
}

static void bad_numbers_of_threads(void **state) {
  (void)state;
  tsl_pool *pool = (tsl_pool *)state;
  assert_int_equal(tsl_pool_create(-1, &pool), TESELA_BAD_CALL);
  assert_null(pool);
  assert_int_equal(tsl_pool_create(TSL_POOL_THREADS_MAX + 1, &pool), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "4096"));
}

/* Where no thread can be started, the caller does the work: threads here ask for more stack than there are
 * addresses. In a child, which the other tests do not share. */
static void works_without_threads(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    tsl_pool *pool = NULL;
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    bool right = pthread_attr_setstacksize(&huge, (size_t)1 << 50) == 0 &&
                 pthread_setattr_default_np(&huge) == 0 && tsl_pool_create(THREADS, &pool) == TESELA_OK;
    int workers = 0;
    for (int i = 0; right && i < 3; i++)
      right = visits_each_once(pool, 100, 0, &workers) && workers == 1;
    right = right && pthread_create(&thread, NULL, run_beside, NULL) != 0;
    tsl_pool_destroy(pool);
    _exit(right ? 0 : 1);
  }
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
}

/* --- where workers run --- */

typedef struct affinity {
  cpu_set_t caller;
  atomic_int others; /* indices in whose thread another set of processors was allowed */
} affinity;

static void compare_affinity(void *argument, int64_t index, int worker) {
  affinity *with = argument;
  cpu_set_t here;
  (void)index;
  (void)worker;
  if (sched_getaffinity(0, sizeof here, &here) != 0 || !CPU_EQUAL(&here, &with->caller))
    atomic_fetch_add(&with->others, 1);
}

/* Workers that leave the caller's processor may come back later. */
static void workers_keep_their_processors(void **state) {
  (void)state;
  affinity with = {.others = 0};
  tsl_pool *pool = make_pool(2);
  assert_int_equal(sched_getaffinity(0, sizeof with.caller, &with.caller), 0);
  for (int run = 0; run < 300; run++)
    tsl_pool_run(pool, 64, compare_affinity, &with);
  assert_int_equal(atomic_load(&with.others), 0);
  tsl_pool_destroy(pool);
}

/* --- a caller that is bound --- */

typedef struct bound_run {
  tsl_pool *pool;
  cpu_set_t allowed;
  atomic_int elsewhere, workers; /* workers with other processors than the process has; and that took part */
  int processors;
} bound_run;

static void compare_in_workers(void *argument, int64_t index, int worker) {
  bound_run *run = argument;
  cpu_set_t here;
  (void)index;
  atomic_fetch_or(&run->workers, 1 << worker);
  if (worker != 0 && (sched_getaffinity(0, sizeof here, &here) != 0 || !CPU_EQUAL(&here, &run->allowed)))
    atomic_fetch_add(&run->elsewhere, 1);
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *run_bound(void *argument) {
  bound_run *run = argument;
  cpu_set_t one;
  int first = 0;
  while (!CPU_ISSET(first, &run->allowed))
    first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    return NULL;
  run->processors = tsl_pool_processors();
  for (int i = 0; i < 20 && atomic_load(&run->workers) != 3; i++)
    tsl_pool_run(run->pool, 4, compare_in_workers, run);
  return run;
}

/* The first caller of a pool is bound to a processor: its workers are not, and it counts the process's
 * processors. */
static void workers_are_not_bound(void **state) {
  (void)state;
  bound_run run = {.pool = make_pool(2)};
  assert_int_equal(sched_getaffinity(0, sizeof run.allowed, &run.allowed), 0);
  if (CPU_COUNT(&run.allowed) < 2) {
    print_message("there is one processor\n");
    skip();
  }
  pthread_t caller;
  void *result;
  assert_int_equal(pthread_create(&caller, NULL, run_bound, &run), 0);
  pthread_join(caller, &result);
  assert_non_null(result);
  assert_int_equal(atomic_load(&run.workers), 3);
  assert_int_equal(atomic_load(&run.elsewhere), 0);
  assert_int_equal(run.processors, tsl_pool_processors());
  tsl_pool_destroy(run.pool);
}

static void shared_pool(void **state) {
  (void)state;
  setenv("TESELA_THREADS", "3", 1);
  tsl_pool *pool = tsl_pool_shared();
  assert_ptr_equal(pool, tsl_pool_shared());
  assert_int_equal(tsl_pool_threads(pool), 3);
  assert_true(visits_each_once(pool, 100, 0, NULL));
  unsetenv("TESELA_THREADS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_once),
      cmocka_unit_test(negative_count_is_nothing),
      cmocka_unit_test(all_threads_take_part),
      cmocka_unit_test(teams_have_their_threads_alone),
      cmocka_unit_test(teams_are_of_a_pool),
      cmocka_unit_test(a_team_of_one_takes_nobody),
      cmocka_unit_test(results_are_seen),
      cmocka_unit_test(workers_wake_again),
      cmocka_unit_test(inner_runs_are_alone),
      cmocka_unit_test(many_callers),
      cmocka_unit_test(child_starts_its_own_workers),
      cmocka_unit_test(fork_while_the_pool_runs),
      cmocka_unit_test(grandchildren),
      cmocka_unit_test(unused_pools_start_nothing),
      cmocka_unit_test(bad_numbers_of_threads),
      cmocka_unit_test(works_without_threads),
      cmocka_unit_test(workers_keep_their_processors),
      cmocka_unit_test(workers_are_not_bound),
      cmocka_unit_test(shared_pool),
  };
  alarm(120); /* a worker that is never woken ends the program */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
