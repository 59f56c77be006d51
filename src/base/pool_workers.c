/* A pool's threads wait for a job; a job is a counter from which everybody, the caller included, takes the
 * next index.
 *
 *   caller   offers seats ── works ── closes the seats ── waits until nobody sits ── returns
 *   worker        takes its seat ── works ── stands up    (or was too late, and goes on waiting)
 *
 * Each worker has a seat of its own number, and a job offers the first ones: as many as it has use for and
 * its team may have. So a thread does the same part of one job after the other, and what a task keeps by
 * worker needs no more of it than the team has threads. A seat's state is one atomic word, so that closing
 * and sitting down exclude each other without a lock. The caller waits only for workers that took part, never
 * for one that has not woken yet.
 *
 * A seat is a line of the cache that its worker and the caller share with nobody, and it holds all that the
 * worker has to know: the task, and an index to begin with where the worker is awake. A word that all look at
 * goes from core to core instead, once for each that sits down, takes an index and stands up, and sixteen
 * threads do that one after the other: it took longer than a small product. Whoever is late loses that index
 * to the caller.
 *
 * A job carries its caller's floating-point mode (base/floats.h), with exceptions masked, and each worker
 * takes that mode. The flags that workers raise return in their seats, and the caller adds them to its
 * own. */
#include "base/pool_workers.h"

#include "base/affinity.h"
#include "base/clock.h"
#include "base/floats.h"
#include "base/log.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Waking a thread costs some microseconds, about as much as a small job, and all of sixteen several times
 * that: who waits looks around for this long before going to sleep. Products in stages wait between them for
 * less. */
#define SPIN_SECONDS 100e-6

typedef struct pool_workers_job {
  tsl_workers_task task;
  void *argument;
  uint64_t count;
  uint64_t begun;       /* indices that somebody begins with: those from here on are for whoever comes */
  int64_t first;        /* this one's, which is no one else's; -1: none */
  int caller_processor; /* where the caller was; -1: nobody minds */
  tsl_floats mode;      /* the caller's, nothing traps */
} pool_workers_job;

enum { FREE, OFFERED, SITTING };

/* A worker and its seat. */
typedef struct member {
  _Alignas(TSL_CACHE_LINE)
      atomic_int seat;  /* from FREE to OFFERED, and back again if it is late, by the caller */
  tsl_floats flags;     /* exceptions that the worker's part of the job raised; the worker's while it sits */
  pool_workers_job job; /* the caller's to write while the seat is free */

  _Alignas(TSL_CACHE_LINE) tsl_workers *crew;
  int number; /* 1 and up */
  pthread_t thread;
  pthread_cond_t wake; /* the seat is offered, or the worker is to go */
  bool sleeps;         /* guarded by the crew's lock */
} member;
_Static_assert(sizeof(int64_t) + sizeof(pool_workers_job) <= TSL_CACHE_LINE, "a seat is a line of the cache");

/* The threads of one process that serve a pool, and what they share. After a fork the child leaves its
 * parent's crew alone (its locks may be held by threads that are not there) and makes its own. */
struct tsl_workers {
  tsl_workers *next_inherited;
  double spin_seconds;
  int capacity;    /* most workers; less than asked for once a thread could not be started */
  int started;     /* workers that run */
  member *workers; /* [capacity] */

  _Alignas(
      TSL_CACHE_LINE) _Atomic uint64_t next; /* first index that nobody has taken; all threads write it */

  _Alignas(TSL_CACHE_LINE) pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t empty;                          /* somebody stood up while the caller sleeps */
  atomic_bool caller_sleeps;
  bool stopping;
};

/* How many runs this thread is inside of. */
static _Thread_local int run_depth;

bool tsl_workers_is_at_work(void) {
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

/* What is waited for: a worker's own offer, or free seats of the first workers. */
typedef struct awaited {
  const member *members;
  int count;
  int state;
} awaited;

static bool is_there(const awaited *what) {
  for (int i = 0; i < what->count; i++)
    if (atomic_load(&what->members[i].seat) != what->state)
      return false;
  return true;
}

/* Looks around for it for a short while; whether it came. */
static bool spin_until(const tsl_workers *c, const awaited *what) {
  if (is_there(what))
    return true;
  if (c->spin_seconds <= 0)
    return false;
  const double end = tsl_clock() + c->spin_seconds;
  do {
    for (int i = 0; i < 32; i++) {
      relax_processor();
      if (is_there(what))
        return true;
    }
  } while (tsl_clock() < end);
  return false;
}

/* --- working --- */

/* The index to begin with, then whatever nobody has taken. */
static void pool_workers_work(tsl_workers *c, const pool_workers_job *job, int worker) {
  uint64_t index;
  run_depth++;
  if (job->first >= 0)
    job->task(job->argument, job->first, worker);
  while (job->begun < job->count &&
         (index = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < job->count)
    job->task(job->argument, (int64_t)index, worker);
  run_depth--;
}

/* From offered to another state; false where it is not offered, or no longer. */
static bool take_seat(member *member_in, int state) {
  int offered = OFFERED;
  return atomic_load_explicit(&member_in->seat, memory_order_relaxed) == OFFERED &&
         atomic_compare_exchange_strong_explicit(&member_in->seat, &offered, state, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* The caller says that it sleeps and then looks at the seats, a worker the other way round: one of them sees
 * the other. */
static void stand_up(tsl_workers *c, member *member_in) {
  atomic_store(&member_in->seat, FREE);
  if (!atomic_load(&c->caller_sleeps))
    return;
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->empty);
  pthread_mutex_unlock(&c->lock);
}

/* Where the caller runs, for leave_caller(); -1 where there are not enough processors for all. */
static int processor_to_leave(const tsl_workers *c) {
#if defined(__linux__)
  return c->spin_seconds > 0 ? sched_getcpu() : -1;
#else
  (void)c;
  return -1;
#endif
}

/* Linux likes to wake a thread on the processor of who wakes it, and where others have work, too, leaves both
 * there: they would take turns. Then the worker goes to another one, by not being allowed here for a moment.
 */
static void leave_caller(int caller_processor) {
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

/* Sleeps until the worker's seat is offered; false when the crew is to go. */
static bool sleep_until_offer(tsl_workers *c, member *member_in) {
  pthread_mutex_lock(&c->lock);
  member_in->sleeps = true;
  while (!c->stopping && atomic_load_explicit(&member_in->seat, memory_order_relaxed) != OFFERED)
    pthread_cond_wait(&member_in->wake, &c->lock);
  member_in->sleeps = false;
  const bool stopping = c->stopping;
  pthread_mutex_unlock(&c->lock);
  return !stopping;
}

static void *run_worker(void *argument) {
  member *own = argument;
  tsl_workers *c = own->crew;
  const awaited offer = {own, 1, OFFERED};
  /* Waiting in the environment of the creating thread might trap. */
  fesetround(FE_TONEAREST);
  tsl_floats_take(tsl_floats_default(tsl_floats_read()));
  tsl_affinity_widen();
  for (;;) {
    if (take_seat(own, SITTING)) {
      leave_caller(own->job.caller_processor);
      tsl_floats_take(own->job.mode);
      pool_workers_work(c, &own->job, own->number);
      own->flags = tsl_floats_read() & TSL_FLOATS_FLAGS;
      stand_up(c, own);
    } else if (!spin_until(c, &offer) && !sleep_until_offer(c, own))
      return NULL;
  }
}

/* --- the crew --- */

tsl_workers *tsl_workers_create(int workers, bool is_alone) {
  tsl_workers *c = aligned_alloc(TSL_CACHE_LINE, sizeof *c);
  member *made = aligned_alloc(TSL_CACHE_LINE, (size_t)workers * sizeof *made);
  if (!c || !made) {
    free(c);
    free(made);
    return NULL;
  }
  memset(c, 0, sizeof *c);
  memset(made, 0, (size_t)workers * sizeof *made);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->empty, NULL);
  c->workers = made;
  c->capacity = workers;
  c->spin_seconds = is_alone ? SPIN_SECONDS : 0;
  return c;
}

static void free_crew(tsl_workers *c) {
  free(c->workers);
  free(c);
}

/* Starts one more worker, with all signals blocked: they are the application's threads' business. */
static int start_worker(tsl_workers *c) {
  member *own = &c->workers[c->started];
  own->crew = c;
  own->number = c->started + 1;
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

void tsl_workers_inherit(tsl_workers *c, tsl_workers **list) {
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

/* --- jobs --- */

/* Offers the job to the first `workers` workers, at least one, and wakes those that sleep. Who is awake has
 * an index to begin with, as the caller has; there are more indices than workers. */
static void pool_workers_offer(tsl_workers *c, int workers, pool_workers_job *workers_job) {
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

/* Nobody sits down any more, and the caller does what those who were late should have begun with; waits for
 * those who sit. */
static void close_seats(tsl_workers *c, int workers) {
  const awaited free_seats = {c->workers, workers, FREE};
  run_depth++;
  for (int i = 0; i < workers; i++) {
    const pool_workers_job *of = &c->workers[i].job;
    if (take_seat(&c->workers[i], FREE) && of->first >= 0)
      of->task(of->argument, of->first, 0);
  }
  run_depth--;
  if (spin_until(c, &free_seats))
    return;
  atomic_store(&c->caller_sleeps, true);
  pthread_mutex_lock(&c->lock);
  while (!is_there(&free_seats))
    pthread_cond_wait(&c->empty, &c->lock);
  pthread_mutex_unlock(&c->lock);
  atomic_store(&c->caller_sleeps, false);
}

/* Adds the flags that workers raised to the caller's. */
static void raise_flags(const tsl_workers *c, int workers) {
  tsl_floats flags = 0;
  for (int i = 0; i < workers; i++)
    flags |= c->workers[i].flags;
  tsl_floats_raise(flags);
}

void tsl_workers_work(tsl_workers *c, int workers, int64_t count, tsl_workers_task task, void *argument) {
  pool_workers_job own = {.task = task,
                          .argument = argument,
                          .count = (uint64_t)count,
                          .caller_processor = processor_to_leave(c),
                          .mode = tsl_floats_masked(tsl_floats_read())};
  pool_workers_offer(c, workers, &own);
  pool_workers_work(c, &own, 0);
  close_seats(c, workers);
  raise_flags(c, workers);
}
