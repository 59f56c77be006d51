/* exit() calls handlers from the newest to the oldest. A compiler registers its handlers late, above ours,
 * and destroys what it needs. But before all handlers exit() destroys the thread-local variables of its own
 * thread. So the main thread waits in such a destructor; without it there is no background thread. An exit()
 * in another thread waits in our handler, after the handlers of drivers loaded later. A compilation that
 * begins at that moment may be lost. */
#include "interpose/background.h"

#include "core/cancel.h"
#include "core/floats.h"
#include "core/fork_mutex.h"
#include "core/log.h"
#include "core/thread_string.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 20 /* maximum wait in seconds at the end of the process */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static pthread_cond_t is_idle = PTHREAD_COND_INITIALIZER;
static tsl_background_step *do_step;
static int steps;                     /* requested steps that have not begun */
static unsigned long long loads_seen; /* loaded libraries at our last atexit(); 0: none */
static bool thread_runs, step_runs, is_ending;

/* Held by the thread at work, so that a fork waits and the child gets no half-made driver state. */
static tsl_fork_mutex driver_mutex;
static pthread_once_t driver_mutex_once = PTHREAD_ONCE_INIT;
static void init_driver_mutex(void) {
  tsl_fork_mutex_init(&driver_mutex);
}

/* Forbids new steps and waits for the current one, at most PATIENCE seconds. */
static void stop_steps(void) {
  struct timespec until;
  pthread_mutex_lock(&lock);
  is_ending = true;
  steps = 0;
  if (step_runs)
    tsl_log(TSL_LOG_PLAN, "the exit waits for planning to finish");
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  while (step_runs && pthread_cond_timedwait(&is_idle, &lock, &until) != ETIMEDOUT)
    ;
  pthread_mutex_unlock(&lock);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  (void)size;
  *(unsigned long long *)loads = info->dlpi_adds;
  return 1;
}

/* Registers stop_steps() to run before the handlers of all libraries loaded so far. Needs the lock. */
static void watch_end(void) {
  unsigned long long loads = 0;
  (void)dl_iterate_phdr(count_loads, &loads);
  if (is_ending || loads == loads_seen)
    return;
  loads_seen = loads;
  (void)atexit(stop_steps);
}

void tsl_background_watch_end(void) {
  pthread_mutex_lock(&lock);
  watch_end();
  pthread_mutex_unlock(&lock);
}

/* Calls destroy(object) at the end of the calling thread, or at exit() in this thread before all handlers.
 * Weak: not every C library has it. Source: Itanium C++ ABI, 3.3.5.3 and its note on threads; glibc 2.18. */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*)
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
// NOLINTEND(bugprone-reserved-identifier,cert-dcl*)

static void end_main_thread(void *unused) {
  (void)unused;
  stop_steps();
}
static atomic_bool main_is_watched;
__attribute__((constructor)) static void watch_main_thread(void) {
  if (__cxa_thread_atexit_impl && gettid() == getpid() && !atomic_exchange(&main_is_watched, true))
    (void)__cxa_thread_atexit_impl(end_main_thread, NULL, &__dso_handle);
}
bool tsl_background_exit_waits(void) {
  watch_main_thread();
  return atomic_load(&main_is_watched);
}

__attribute__((destructor)) static void end_with_library(void) {
  stop_steps();
}

/* Begins the next step. If there is none, returns false and marks the thread as ended. */
static bool begin_step(void) {
  pthread_mutex_lock(&lock);
  step_runs = steps > 0 && !is_ending;
  thread_runs = step_runs;
  if (step_runs)
    steps--;
  else
    pthread_cond_broadcast(&is_idle);
  pthread_mutex_unlock(&lock);
  return thread_runs;
}

static void *background_work(void *unused) {
  TSL_DEFAULT_FLOATS; /* the application's environment is inherited */
  (void)unused;
  while (begin_step()) {
    tsl_fork_mutex_lock(&driver_mutex);
    do_step();
    tsl_fork_mutex_unlock(&driver_mutex);
    tsl_thread_texts_free();
  }
  return NULL;
}

/* Starts the thread with all signals blocked. Returns false on failure. Needs the lock. */
static bool start_thread(void) {
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_once(&driver_mutex_once, init_driver_mutex);
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool good = pthread_create(&thread, &attributes, background_work, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return good;
}

bool tsl_background_add(tsl_background_step *step) {
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  do_step = step;
  if (!is_ending) {
    steps++;
    if (!thread_runs) {
      watch_end();
      thread_runs = start_thread();
    }
    if (!thread_runs)
      steps = 0; /* no thread: a later call tries again */
  }
  const bool is_added = thread_runs && !is_ending;
  pthread_mutex_unlock(&lock);
  return is_added;
}

/* A driver at work in the parent lacks its threads in the child, and a wait for it would not end. */
void tsl_background_forget(bool forever) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&is_idle, NULL);
  is_ending = is_ending || forever;
  steps = 0;
  thread_runs = step_runs = false;
}
