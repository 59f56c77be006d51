/* Threads of a pool that wait for a job: a counter from which all threads, the caller's too, take indices.
 *
 *   caller   offers seats ── works ── closes the seats ── waits until all are free ── returns
 *   worker        takes its seat ── works ── leaves it    (or is too late, and waits on)
 *
 * Each worker has its own seat; a job offers the first ones, so successive jobs give a thread the same part.
 * A seat's state is one atomic word: closing and taking it exclude each other without a lock. The caller does
 * not wait for workers that have not woken yet.
 *
 * A seat is one cache line, shared only by its worker and the caller. It holds the task and, for an awake
 * worker, its first index, which a late worker loses to the caller. A word shared by all threads would travel
 * from core to core, which takes longer than a small product.
 *
 * Workers set the caller's floating-point mode (core/floats.h) with all exceptions masked. The caller adds
 * the flags that they raise to its own. */
#include "core/pool_workers.h"

#include "core/affinity.h"
#include "core/clock.h"
#include "core/floats.h"
#include "core/log.h"
#include "core/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that a thread spins before it sleeps. A wake-up costs some microseconds, as a small job does. */
#define SPIN_SECONDS 100e-6

typedef struct pool_workers_job {
  tsl_workers_task task;
  void *argument;
  uint64_t count;
  uint64_t begun;       /* first index that any thread may take; lower ones are assigned. Constant */
  int64_t first;        /* index assigned to this worker; -1: none */
  int caller_processor; /* processor that workers avoid; -1: none */
  tsl_floats mode;      /* floating-point mode of the caller, all traps masked */
} pool_workers_job;

enum { FREE, OFFERED, SITTING };

typedef struct member {
  _Alignas(TSL_CACHE_LINE) atomic_int seat; /* state; a late worker's seat returns from OFFERED to FREE */
  tsl_floats flags;                         /* raised exceptions, written by the worker while SITTING */
  pool_workers_job job;                     /* written by the caller while the seat is FREE */

  _Alignas(TSL_CACHE_LINE) tsl_workers *crew;
  int number; /* number of the worker, from 1 */
  pthread_t thread;
  pthread_cond_t wake; /* signals an offered seat, or the end of the crew */
  bool sleeps;         /* protected by the crew's lock */
} member;
_Static_assert(sizeof(int64_t) + sizeof(pool_workers_job) <= TSL_CACHE_LINE, "a seat is a line of the cache");

/* Threads that serve a pool. The child of a fork abandons its parent's crew, whose locks may be held. */
struct tsl_workers {
  tsl_workers *next_inherited;
  double spin_seconds; /* 0: threads share processors and sleep at once */
  int capacity;        /* maximum number of workers; lowered when a thread cannot be started */
  int started;         /* number of running workers */
  member *workers;     /* array of `capacity` members */

  _Alignas(TSL_CACHE_LINE) _Atomic uint64_t next; /* first index that no thread has taken */

  _Alignas(TSL_CACHE_LINE) pthread_mutex_t lock; /* protects the members below */
  pthread_cond_t empty;                          /* signals that a worker left its seat */
  atomic_bool caller_sleeps;
  bool stopping;
};

/* Number of nested runs of this thread. */
static _Thread_local int run_depth;

bool tsl_workers_is_inside_job(void) {
  return run_depth > 0;
}

static void relax_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Condition that a thread waits for: its own seat OFFERED, or the first seats FREE. */
typedef struct wait_condition {
  const member *workers;
  int count;
  int state; /* FREE or OFFERED: state of all these seats */
} wait_condition;

static bool condition_holds(const wait_condition *condition) {
  for (int i = 0; i < condition->count; i++)
    if (atomic_load(&condition->workers[i].seat) != condition->state)
      return false;
  return true;
}

/* Spins until the condition holds; false: spin_seconds have passed. */
static bool spin_until(const tsl_workers *c, const wait_condition *condition) {
  if (condition_holds(condition))
    return true;
  if (c->spin_seconds <= 0)
    return false;
  const double end = tsl_clock() + c->spin_seconds;
  do {
    for (int i = 0; i < 32; i++) {
      relax_processor();
      if (condition_holds(condition))
        return true;
    }
  } while (tsl_clock() < end);
  return false;
}

/* Runs the assigned index, then indices from the common counter. */
static void run_indices(tsl_workers *c, const pool_workers_job *job, int worker) {
  uint64_t index;
  run_depth++;
  if (job->first >= 0)
    job->task(job->argument, job->first, worker);
  while (job->begun < job->count &&
         (index = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < job->count)
    job->task(job->argument, (int64_t)index, worker);
  run_depth--;
}

/* Changes an OFFERED seat to `state`; returns false if it is not OFFERED. */
static bool change_offered_seat(member *worker, int state) {
  int offered = OFFERED;
  return atomic_load_explicit(&worker->seat, memory_order_relaxed) == OFFERED &&
         atomic_compare_exchange_strong_explicit(&worker->seat, &offered, state, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* Frees the seat and wakes a sleeping caller. The caller announces its sleep before it reads the seats; a
 * worker writes its seat before it reads the announcement. So one sees the other. */
static void leave_seat(tsl_workers *c, member *worker) {
  atomic_store(&worker->seat, FREE);
  if (!atomic_load(&c->caller_sleeps))
    return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->empty);
  pthread_mutex_unlock(&c->lock);
}

/* Returns the caller's processor; -1 if there are not enough processors. */
static int processor_to_avoid(const tsl_workers *c) {
#if defined(__linux__)
  return c->spin_seconds > 0 ? sched_getcpu() : -1;
#else
  (void)c;
  return -1;
#endif
}

/* Moves a worker away from the caller's processor, where Linux tends to wake it and both would take turns. */
static void move_off_caller_processor(int caller_processor) {
#if defined(__linux__)
  cpu_set_t allowed, others;
  if (caller_processor < 0 || caller_processor >= CPU_SETSIZE || sched_getcpu() != caller_processor ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  others = allowed;
  CPU_CLR(caller_processor, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
#else
  (void)caller_processor;
#endif
}

/* Sleeps until the worker's seat is OFFERED; false: the crew is to end. */
static bool sleep_until_offer(tsl_workers *c, member *worker) {
  pthread_mutex_lock(&c->lock);
  worker->sleeps = true;
  while (!c->stopping && atomic_load_explicit(&worker->seat, memory_order_relaxed) != OFFERED)
    pthread_cond_wait(&worker->wake, &c->lock);
  worker->sleeps = false;
  const bool stopping = c->stopping;
  pthread_mutex_unlock(&c->lock);
  return !stopping;
}

static void *run_worker(void *argument) {
  member *self = argument;
  tsl_workers *c = self->crew;
  const wait_condition offer = {self, 1, OFFERED};
  /* The inherited environment may trap. */
  fesetround(FE_TONEAREST);
  tsl_floats_write_if_changed(tsl_floats_default(tsl_floats_read()));
  tsl_affinity_use_whole_process();
  for (;;) {
    if (change_offered_seat(self, SITTING)) {
      move_off_caller_processor(self->job.caller_processor);
      tsl_floats_write_if_changed(self->job.mode);
      run_indices(c, &self->job, self->number);
      self->flags = tsl_floats_read() & TSL_FLOATS_FLAGS;
      leave_seat(c, self);
    } else if (!spin_until(c, &offer) && !sleep_until_offer(c, self))
      return NULL;
  }
}

tsl_workers *tsl_workers_create(int workers, bool is_alone) {
  tsl_workers *c = aligned_alloc(TSL_CACHE_LINE, sizeof *c);
  member *members = aligned_alloc(TSL_CACHE_LINE, (size_t)workers * sizeof *members);
  if (!c || !members) {
    free(c);
    free(members);
    return NULL;
  }
  memset(c, 0, sizeof *c);
  memset(members, 0, (size_t)workers * sizeof *members);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->empty, NULL);
  c->workers = members;
  c->capacity = workers;
  c->spin_seconds = is_alone ? SPIN_SECONDS : 0;
  return c;
}

static void free_crew(tsl_workers *c) {
  free(c->workers);
  free(c);
}

/* Starts a thread with all signals blocked, which belong to the application. Returns 0 or an errno value. */
static int start_next_worker(tsl_workers *c) {
  member *self = &c->workers[c->started];
  self->crew = c;
  self->number = c->started + 1;
  pthread_cond_init(&self->wake, NULL);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&self->thread, NULL, run_worker, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failed)
    c->started++;
  return failed;
}

void tsl_workers_stop(tsl_workers *c) {
  pthread_mutex_lock(&c->lock);
  c->stopping = true;
  for (int i = 0; i < c->started; i++)
    pthread_cond_signal(&c->workers[i].wake);
  pthread_mutex_unlock(&c->lock);
  for (int i = 0; i < c->started; i++) {
    pthread_join(c->workers[i].thread, NULL);
    pthread_cond_destroy(&c->workers[i].wake);
  }
  pthread_cond_destroy(&c->empty);
  pthread_mutex_destroy(&c->lock);
  free_crew(c);
}

int tsl_workers_start(tsl_workers *c, int workers) {
  while (c->started < workers && c->started < c->capacity) {
    const int failed = start_next_worker(c);
    if (failed) {
      tsl_log(TSL_LOG_DEVICE, "only %d of %d threads run: %s", c->started + 1, c->capacity + 1,
              strerror(failed));
      c->capacity = c->started;
    }
  }
  return c->started < workers ? c->started : workers;
}

void tsl_workers_defer_free(tsl_workers *c, tsl_workers **list) {
  c->next_inherited = *list;
  *list = c;
}

void tsl_workers_free_inherited(tsl_workers *list) {
  while (list) {
    tsl_workers *next = list->next_inherited;
    free_crew(list);
    list = next;
  }
}

/* Offers the job to the first `workers` seats, at least one, and wakes sleepers. Each awake worker and the
 * caller get a first index; there are more indices than workers. */
static void offer_job(tsl_workers *c, int workers, pool_workers_job *workers_job) {
  pthread_mutex_lock(&c->lock);
  workers_job->begun = 1;
  for (int i = 0; i < workers; i++)
    workers_job->begun += !c->workers[i].sleeps;
  atomic_store_explicit(&c->next, workers_job->begun, memory_order_relaxed);
  for (int i = 0, first = 1; i < workers; i++) {
    member *worker = &c->workers[i];
    worker->flags = 0;
    worker->job = *workers_job;
    worker->job.first = worker->sleeps ? -1 : first++;
    atomic_store_explicit(&worker->seat, OFFERED, memory_order_release);
  }
  pthread_mutex_unlock(&c->lock);
  for (int i = 0; i < workers; i++)
    if (c->workers[i].job.first < 0)
      pthread_cond_signal(&c->workers[i].wake);
}

/* Runs the first indices of late workers on the caller's thread, and waits for the working ones. */
static void close_seats_and_wait(tsl_workers *c, int workers) {
  const wait_condition free_seats = {c->workers, workers, FREE};
  run_depth++;
  for (int i = 0; i < workers; i++) {
    const pool_workers_job *late_job = &c->workers[i].job;
    if (change_offered_seat(&c->workers[i], FREE) && late_job->first >= 0)
      late_job->task(late_job->argument, late_job->first, 0);
  }
  run_depth--;
  if (spin_until(c, &free_seats))
    return;
  atomic_store(&c->caller_sleeps, true);
  pthread_mutex_lock(&c->lock);
  while (!condition_holds(&free_seats))
    pthread_cond_wait(&c->empty, &c->lock);
  pthread_mutex_unlock(&c->lock);
  atomic_store(&c->caller_sleeps, false);
}

/* Raises the workers' floating-point exceptions in the caller's thread. */
static void raise_worker_flags(const tsl_workers *c, int workers) {
  tsl_floats flags = 0;
  for (int i = 0; i < workers; i++)
    flags |= c->workers[i].flags;
  tsl_floats_raise(flags);
}

void tsl_workers_run_job(tsl_workers *c, int workers, int64_t count, tsl_workers_task task, void *argument) {
  pool_workers_job self = {.task = task,
                           .argument = argument,
                           .count = (uint64_t)count,
                           .caller_processor = processor_to_avoid(c),
                           .mode = tsl_floats_masked(tsl_floats_read())};
  offer_job(c, workers, &self);
  run_indices(c, &self, 0);
  close_seats_and_wait(c, workers);
  raise_worker_flags(c, workers);
}
