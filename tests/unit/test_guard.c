/* Mutexes that survive a fork: held by another thread, by the thread that forks, and by no thread. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fork_mutex.h"

typedef struct shared {
  tsl_fork_mutex guard;
  int first, second; /* equal, except while the guard is held */
  atomic_bool ends;
} shared;

static void pause_for(double seconds) {
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* Changes one of two numbers that belong together, takes its time, and changes the other. */
static void *change(void *argument) {
  shared *s = argument;
  while (!atomic_load(&s->ends)) {
    tsl_fork_mutex_lock(&s->guard);
    s->first++;
    pause_for(0.002);
    s->second++;
    tsl_fork_mutex_unlock(&s->guard);
    pause_for(0.0002);
  }
  return NULL;
}

/* Returns a child's finding: 0 when the mutex is free and the numbers are consistent. */
static int look(shared *s) {
  alarm(20); /* a guard that stays locked ends the child */
  tsl_fork_mutex_lock(&s->guard);
  const int torn = s->first != s->second;
  tsl_fork_mutex_unlock(&s->guard);
  return torn;
}

static void expect_child(shared *s, int (*run)(shared *)) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(run(s));
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
}

static void what_others_change_is_whole(void **state) {
  (void)state;
  shared s = {.first = 0};
  pthread_t thread;
  tsl_fork_mutex_init(&s.guard);
  assert_int_equal(pthread_create(&thread, NULL, change, &s), 0);
  for (int i = 0; i < 20; i++)
    expect_child(&s, look);
  atomic_store(&s.ends, true);
  pthread_join(thread, NULL);
  assert_true(s.first > 0 && s.first == s.second);
  expect_child(&s, look); /* no thread holds the mutex */
  tsl_fork_mutex_destroy(&s.guard);
}

static int go_on(shared *s) {
  alarm(20);
  tsl_fork_mutex_unlock(&s->guard); /* the parent's, which is this thread's */
  return look(s);
}

/* As a driver does that starts a program while a device opens. */
static void a_holder_may_fork(void **state) {
  (void)state;
  shared s = {.first = 0};
  tsl_fork_mutex other;
  tsl_fork_mutex_init(&s.guard);
  tsl_fork_mutex_init(&other);
  tsl_fork_mutex_lock(&s.guard);
  const double begin = tsl_clock();
  expect_child(&s, go_on);
  assert_true(tsl_clock() - begin < 0.9); /* it was not waited for */
  assert_int_equal(pthread_mutex_trylock(&other.mutex), 0);
  pthread_mutex_unlock(&other.mutex);
  tsl_fork_mutex_unlock(&s.guard);
  tsl_fork_mutex_destroy(&other);
  tsl_fork_mutex_destroy(&s.guard);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_others_change_is_whole),
      cmocka_unit_test(a_holder_may_fork),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
