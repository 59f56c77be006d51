/* A pool's threads wait for a job; a job is a counter from which everybody, the caller included, takes the
 * next index.
 *
 *   caller   offers seats ── works ── closes the seats ── waits until nobody sits ── returns
 *   worker        takes a seat ── works ── stands up      (or was too late, and goes on waiting)
 *
 * Each worker has a seat of its own number, and a job offers the first ones: as many as it has use for and its team
 * may have. So a thread does the same part of one job after the other, and what a task keeps by worker needs no more
 * of it than the team has threads. Seats offered, workers sitting and the job's number are parts of one atomic word, so
 * that closing and sitting down exclude each other without a lock. The caller waits only for workers that took part,
 * never for one that has not woken yet. */
#include "base/crew.h"

#include "base/affinity.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Waking a thread costs some microseconds, about as much as a small job, and all of sixteen several times that: who waits
 * looks around for this long before going to sleep. Products in stages wait between them for less. */
#define SPIN_SECONDS 100e-6

/* Parts of crew.seating: seats 1 to OFFERED may be taken, each once in a job. */
#define ONE_SITTING ((uint64_t)1 << 16)
#define ONE_JOB ((uint64_t)1 << 32)
#define OFFERED(seating) ((int)((seating)&0xffff))
#define SITTING(seating) ((int)((seating) >> 16 & 0xffff))
#define JOB(seating) ((uint32_t)((seating) >> 32))
_Static_assert(TSL_CREW_WORKERS_MAX == 0xffff, "seats are counted in 16 bits");

typedef struct member {
  tsl_crew *crew;
  int seat; /* 1 and up */
  pthread_t thread;
  uint32_t job;        /* the last one that it sat in; its own */
  pthread_cond_t wake; /* its seat is offered, or it is to go */
  atomic_bool sleeps;  /* set under the crew's lock */
} member;

/* The threads of one process that serve a pool, and what they share. After a fork the child leaves its
 * parent's crew alone (its locks may be held by threads that are not there) and makes its own. */
struct tsl_crew {
  tsl_crew *next_inherited;
  double spin_seconds;
  int capacity;    /* most workers; less than asked for once a thread could not be started */
  int started;     /* workers that run */
  member *workers; /* [capacity] */

  /* The job: written by the caller while no seat is offered and nobody sits. */
  tsl_crew_task task;
  void *argument;
  uint64_t count;
  int caller_processor; /* where the caller was; -1: nobody minds */

  /* Each on a line of its own: all threads write them. */
  _Alignas(TSL_CACHE_LINE) _Atomic uint64_t next;    /* first index that nobody has taken */
  _Alignas(TSL_CACHE_LINE) _Atomic uint64_t seating; /* the job's number, who sits and what is offered */

  _Alignas(TSL_CACHE_LINE) pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t empty;                          /* nobody sits any more */
  bool stopping;
};

/* How many runs this thread is inside of. */
static _Thread_local int run_depth;

bool tsl_crew_is_at_work(void) {
  return run_depth > 0;
}

/* --- waiting --- */

static void relax_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

typedef bool seating_test(uint64_t seating, const member *own);

/* Looks at the seating until `ready` says so of it, for a short while; whether it did. */
static bool spin_until(tsl_crew *c, seating_test *ready, const member *own) {
  if (ready(atomic_load_explicit(&c->seating, memory_order_acquire), own))
    return true;
  if (c->spin_seconds <= 0)
    return false;
  const double end = tsl_clock() + c->spin_seconds;
  do {
    for (int i = 0; i < 32; i++) {
      relax_processor();
      if (ready(atomic_load_explicit(&c->seating, memory_order_acquire), own))
        return true;
    }
  } while (tsl_clock() < end);
  return false;
}

static bool has_seat(uint64_t seating, const member *own) {
  return own->seat <= OFFERED(seating) && own->job != JOB(seating);
}
static bool is_empty(uint64_t seating, const member *own) {
  (void)own;
  return SITTING(seating) == 0;
}

/* --- working --- */

static void work(tsl_crew *c, int worker) {
  uint64_t index;
  run_depth++;
  while ((index = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->count)
    c->task(c->argument, (int64_t)index, worker);
  run_depth--;
}

static bool sit_down(tsl_crew *c, member *own) {
  uint64_t seating = atomic_load_explicit(&c->seating, memory_order_relaxed);
  while (has_seat(seating, own))
    if (atomic_compare_exchange_weak_explicit(&c->seating, &seating, seating + ONE_SITTING,
                                              memory_order_acquire, memory_order_relaxed)) {
      own->job = JOB(seating);
      return true;
    }
  return false;
}

static void stand_up(tsl_crew *c) {
  const uint64_t before = atomic_fetch_sub_explicit(&c->seating, ONE_SITTING, memory_order_acq_rel);
  if (SITTING(before) > 1 || OFFERED(before) > 0)
    return; /* others sit, or the caller is still working */
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->empty);
  pthread_mutex_unlock(&c->lock);
}

/* Where the caller runs, for leave_caller(); -1 where there are not enough processors for all. */
static int processor_to_leave(const tsl_crew *c) {
#if defined(__linux__)
  return c->spin_seconds > 0 ? sched_getcpu() : -1;
#else
  (void)c;
  return -1;
#endif
}

/* Linux likes to wake a thread on the processor of who wakes it, and where others have work, too, leaves both there: they
 * would take turns. Then the worker goes to another one, by not being allowed here for a moment. */
static void leave_caller(const tsl_crew *c) {
#if defined(__linux__)
  cpu_set_t allowed, others;
  if (c->caller_processor < 0 || c->caller_processor >= CPU_SETSIZE ||
      sched_getcpu() != c->caller_processor || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  others = allowed;
  CPU_CLR(c->caller_processor, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
#else
  (void)c;
#endif
}

/* Sleeps until the worker's seat is offered; false when the crew is to go. */
static bool sleep_until_offer(tsl_crew *c, member *own) {
  pthread_mutex_lock(&c->lock);
  while (!c->stopping && !has_seat(atomic_load_explicit(&c->seating, memory_order_relaxed), own)) {
    atomic_store_explicit(&own->sleeps, true, memory_order_relaxed);
    pthread_cond_wait(&own->wake, &c->lock);
    atomic_store_explicit(&own->sleeps, false, memory_order_relaxed);
  }
  const bool stopping = c->stopping;
  pthread_mutex_unlock(&c->lock);
  return !stopping;
}

static void *run_worker(void *argument) {
  member *own = argument;
  tsl_crew *c = own->crew;
  tsl_affinity_widen();
  for (;;) {
    if (sit_down(c, own)) {
      leave_caller(c);
      work(c, own->seat);
      stand_up(c);
    } else if (!spin_until(c, has_seat, own) && !sleep_until_offer(c, own))
      return NULL;
  }
}

/* --- the crew --- */

tsl_crew *tsl_crew_create(int workers, bool is_alone) {
  tsl_crew *c = aligned_alloc(TSL_CACHE_LINE, sizeof *c);
  member *made = calloc((size_t)workers, sizeof *made);
  if (!c || !made) {
    free(c);
    free(made);
    return NULL;
  }
  memset(c, 0, sizeof *c);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->empty, NULL);
  c->workers = made;
  c->capacity = workers;
  c->spin_seconds = is_alone ? SPIN_SECONDS : 0;
  return c;
}

static void free_crew(tsl_crew *c) {
  free(c->workers);
  free(c);
}

/* Starts one more worker, with all signals blocked: they are the application's threads' business. */
static int start_worker(tsl_crew *c) {
  member *own = &c->workers[c->started];
  own->crew = c;
  own->seat = c->started + 1;
  own->job = JOB(atomic_load_explicit(&c->seating, memory_order_relaxed));
  pthread_cond_init(&own->wake, NULL);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&own->thread, NULL, run_worker, own);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failed)
    c->started++;
  return failed;
}

void tsl_crew_dismiss(tsl_crew *c) {
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

int tsl_crew_hire(tsl_crew *c, int workers) {
  while (c->started < workers && c->started < c->capacity) {
    const int failed = start_worker(c);
    if (failed) {
      tsl_log(TSL_LOG_DEVICE, "only %d of %d threads run: %s", c->started + 1, c->capacity + 1,
              strerror(failed));
      c->capacity = c->started;
    }
  }
  return c->started < workers ? c->started : workers;
}

/* --- forks --- */

void tsl_crew_inherit(tsl_crew *c, tsl_crew **list) {
  c->next_inherited = *list;
  *list = c;
}

void tsl_crew_free_inherited(tsl_crew *list) {
  while (list) {
    tsl_crew *next = list->next_inherited;
    free_crew(list);
    list = next;
  }
}

/* --- jobs --- */

/* Offers the job to the first `workers` workers, at least one, and wakes those that sleep. */
static void offer(tsl_crew *c, int workers) {
  pthread_mutex_lock(&c->lock);
  const uint64_t before = atomic_load_explicit(&c->seating, memory_order_relaxed);
  atomic_store_explicit(&c->seating, before + ONE_JOB + (uint64_t)workers, memory_order_release);
  pthread_mutex_unlock(&c->lock);
  for (int i = 0; i < workers; i++)
    if (atomic_load_explicit(&c->workers[i].sleeps, memory_order_relaxed))
      pthread_cond_signal(&c->workers[i].wake);
}

/* Nobody sits down any more; waits for those who sit. */
static void close_seats(tsl_crew *c) {
  atomic_fetch_and_explicit(&c->seating, ~(ONE_SITTING - 1), memory_order_acq_rel);
  if (spin_until(c, is_empty, NULL))
    return;
  pthread_mutex_lock(&c->lock);
  while (!is_empty(atomic_load_explicit(&c->seating, memory_order_acquire), NULL))
    pthread_cond_wait(&c->empty, &c->lock);
  pthread_mutex_unlock(&c->lock);
}

void tsl_crew_work(tsl_crew *c, int workers, int64_t count, tsl_crew_task task, void *argument) {
  c->task = task;
  c->argument = argument;
  c->count = (uint64_t)count;
  c->caller_processor = processor_to_leave(c);
  atomic_store_explicit(&c->next, 0, memory_order_relaxed);
  offer(c, workers);
  work(c, 0);
  close_seats(c);
}
