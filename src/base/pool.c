/* A pool's threads wait for a job; a job is a counter from which everybody, the caller included, takes the
 * next index.
 *
 *   caller   offers seats ── works ── closes the seats ── waits until nobody sits ── returns
 *   worker        takes a seat ── works ── stands up      (or was too late, and goes on waiting)
 *
 * Seats offered and workers sitting are two halves of one atomic word, so that closing and sitting down
 * exclude each other without a lock. The caller waits only for workers that took part, never for one that has
 * not woken yet. */
#include "base/pool.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Waking a thread costs some microseconds, about as much as a small job, and all of sixteen several times that: who waits
 * looks around for this long before going to sleep. Products in stages wait between them for less. */
#define SPIN_SECONDS 100e-6

/* Halves of crew.seating. */
#define ONE_OFFERED ((uint64_t)1)
#define ONE_SITTING ((uint64_t)1 << 32)
#define OFFERED(seating) ((uint32_t)(seating))
#define SITTING(seating) ((uint32_t)((seating) >> 32))

/* The threads of one process that serve a pool, and what they share. After a fork the child leaves its
 * parent's crew alone (its locks may be held by threads that are not there) and makes its own. */
typedef struct crew {
  struct crew *next_inherited;
  double spin_seconds;
  int capacity;      /* most workers; less than asked for once a thread could not be started */
  int started;       /* workers that run */
  pthread_t *worker; /* [capacity] */

  /* The job: written by the caller while no seat is offered and nobody sits. */
  tsl_pool_task task;
  void *argument;
  uint64_t count;
  int caller_processor; /* where the caller was; -1: nobody minds */

  /* Each on a line of its own: all threads write them. */
  _Alignas(TSL_CACHE_LINE) _Atomic uint64_t next;    /* first index that nobody has taken */
  _Alignas(TSL_CACHE_LINE) _Atomic uint64_t seating; /* offered and sitting */

  _Alignas(TSL_CACHE_LINE) pthread_mutex_t lock; /* guards the rest */
  pthread_cond_t offered;                        /* seats are offered, or stopping */
  pthread_cond_t empty;                          /* nobody sits any more */
  int sleepers;                                  /* workers that wait for `offered` */
  bool stopping;
} crew;

struct tsl_pool {
  int threads;
  atomic_bool busy; /* a caller has the crew */
  crew *crew;       /* NULL until the first run in this process */
  crew *inherited;  /* the crews of this process's ancestors, kept so that their memory can be freed */
  tsl_pool *previous, *next;
};

/* All pools of the process, for the child of a fork. */
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static tsl_pool *pools;

/* How many runs this thread is inside of. */
static _Thread_local int run_depth;

/* --- waiting --- */

static void relax_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Looks at the seating until `ready` says so of it, for a short while; whether it did. */
static bool spin_until(crew *c, bool (*ready)(uint64_t seating)) {
  if (ready(atomic_load_explicit(&c->seating, memory_order_acquire)))
    return true;
  if (c->spin_seconds <= 0)
    return false;
  const double end = tsl_clock() + c->spin_seconds;
  do {
    for (int i = 0; i < 32; i++) {
      relax_processor();
      if (ready(atomic_load_explicit(&c->seating, memory_order_acquire)))
        return true;
    }
  } while (tsl_clock() < end);
  return false;
}

static bool has_offer(uint64_t seating) {
  return OFFERED(seating) > 0;
}
static bool is_empty(uint64_t seating) {
  return SITTING(seating) == 0;
}

/* --- working --- */

static void work(crew *c, int worker) {
  uint64_t index;
  run_depth++;
  while ((index = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->count)
    c->task(c->argument, (int64_t)index, worker);
  run_depth--;
}

/* A caller's indices in its own thread, without the crew. */
static void work_alone(int64_t count, tsl_pool_task task, void *argument) {
  run_depth++;
  for (int64_t index = 0; index < count; index++)
    task(argument, index, 0);
  run_depth--;
}

static bool sit_down(crew *c) {
  uint64_t seating = atomic_load_explicit(&c->seating, memory_order_relaxed);
  while (OFFERED(seating) > 0)
    if (atomic_compare_exchange_weak_explicit(&c->seating, &seating, seating - ONE_OFFERED + ONE_SITTING,
                                              memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

static void stand_up(crew *c) {
  const uint64_t before = atomic_fetch_sub_explicit(&c->seating, ONE_SITTING, memory_order_acq_rel);
  if (SITTING(before) > 1 || OFFERED(before) > 0)
    return; /* others sit, or the caller is still working */
  pthread_mutex_lock(&c->lock);
  pthread_cond_signal(&c->empty);
  pthread_mutex_unlock(&c->lock);
}

/* Where the caller runs, for leave_caller(); -1 where there are not enough processors for all. */
static int processor_to_leave(const crew *c) {
#if defined(__linux__)
  return c->spin_seconds > 0 ? sched_getcpu() : -1;
#else
  (void)c;
  return -1;
#endif
}

/* Linux likes to wake a thread on the processor of who wakes it, and where others have work, too, leaves both there: they
 * would take turns. Then the worker goes to another one, by not being allowed here for a moment. */
static void leave_caller(const crew *c) {
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

/* Sleeps until seats are offered; false when the crew is to go. */
static bool sleep_until_offer(crew *c) {
  pthread_mutex_lock(&c->lock);
  while (!c->stopping && !has_offer(atomic_load_explicit(&c->seating, memory_order_relaxed))) {
    c->sleepers++;
    pthread_cond_wait(&c->offered, &c->lock);
    c->sleepers--;
  }
  const bool stopping = c->stopping;
  pthread_mutex_unlock(&c->lock);
  return !stopping;
}

typedef struct worker_start {
  crew *crew;
  int worker;
} worker_start;

static void *run_worker(void *argument) {
  const worker_start start = *(worker_start *)argument;
  free(argument);
  for (;;) {
    if (sit_down(start.crew)) {
      leave_caller(start.crew);
      work(start.crew, start.worker);
      stand_up(start.crew);
    } else if (!spin_until(start.crew, has_offer) && !sleep_until_offer(start.crew))
      return NULL;
  }
}

/* --- the crew --- */

static crew *create_crew(int workers) {
  crew *c = aligned_alloc(TSL_CACHE_LINE, sizeof *c);
  pthread_t *worker = calloc((size_t)workers, sizeof *worker);
  if (!c || !worker) {
    free(c);
    free(worker);
    return NULL;
  }
  memset(c, 0, sizeof *c);
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->offered, NULL);
  pthread_cond_init(&c->empty, NULL);
  c->worker = worker;
  c->capacity = workers;
  /* Looking around takes a processor from somebody who works when there are fewer of them than threads. */
  c->spin_seconds = workers + 1 > tsl_pool_processors() ? 0 : SPIN_SECONDS;
  return c;
}

static void free_crew(crew *c) {
  free(c->worker);
  free(c);
}

/* Starts one more worker, with all signals blocked: they are the application's threads' business. */
static int start_worker(crew *c) {
  worker_start *start = malloc(sizeof *start);
  if (!start)
    return ENOMEM;
  *start = (worker_start){c, c->started + 1};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&c->worker[c->started], NULL, run_worker, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed)
    free(start);
  else
    c->started++;
  return failed;
}

/* Makes sure that `workers` workers run, or as many as can be had. Returns how many of them there are. */
static int hire(tsl_pool *pool, int workers) {
  if (!pool->crew)
    pool->crew = create_crew(pool->threads - 1);
  crew *c = pool->crew;
  if (!c)
    return 0;
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

static void dismiss(crew *c) {
  pthread_mutex_lock(&c->lock);
  c->stopping = true;
  pthread_cond_broadcast(&c->offered);
  pthread_mutex_unlock(&c->lock);
  for (int i = 0; i < c->started; i++)
    pthread_join(c->worker[i], NULL);
  pthread_cond_destroy(&c->empty);
  pthread_cond_destroy(&c->offered);
  pthread_mutex_destroy(&c->lock);
  free_crew(c);
}

/* --- forks --- */

static void lock_pools(void) {
  pthread_mutex_lock(&pools_lock);
}
static void unlock_pools(void) {
  pthread_mutex_unlock(&pools_lock);
}

/* In the child, whose only thread is the one that forked. */
static void forget_crews(void) {
  for (tsl_pool *pool = pools; pool; pool = pool->next) {
    if (pool->crew) {
      pool->crew->next_inherited = pool->inherited;
      pool->inherited = pool->crew;
      pool->crew = NULL;
    }
    atomic_store(&pool->busy, false);
  }
  unlock_pools();
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_failed;
static void watch_forks(void) {
  fork_failed = pthread_atfork(lock_pools, unlock_pools, forget_crews);
}
void tsl_pool_watch_forks(void) {
  pthread_once(&fork_once, watch_forks);
}

/* --- pools --- */

tesela_status tsl_pool_create(int threads, tsl_pool **pool) {
  *pool = NULL;
  if (threads < 0 || threads > TSL_POOL_THREADS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "%d threads were asked for: it should be 1 to %d, or 0 for the default",
                    threads, TSL_POOL_THREADS_MAX);
  tsl_pool_watch_forks();
  tsl_pool *made = calloc(1, sizeof *made);
  if (fork_failed || !made) {
    free(made);
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a thread pool");
  }
  made->threads = threads > 0 ? threads : tsl_pool_default_threads();
  lock_pools();
  made->next = pools;
  if (pools)
    pools->previous = made;
  pools = made;
  unlock_pools();
  *pool = made;
  return TESELA_OK;
}

void tsl_pool_destroy(tsl_pool *pool) {
  if (!pool)
    return;
  lock_pools();
  if (pool->previous)
    pool->previous->next = pool->next;
  else
    pools = pool->next;
  if (pool->next)
    pool->next->previous = pool->previous;
  unlock_pools();
  if (pool->crew)
    dismiss(pool->crew);
  while (pool->inherited) {
    crew *c = pool->inherited;
    pool->inherited = c->next_inherited;
    free_crew(c);
  }
  free(pool);
}

int tsl_pool_threads(const tsl_pool *pool) {
  return pool->threads;
}

/* Offers the job to `workers` workers, at least one, and takes part. */
static void work_together(crew *c, int workers, int64_t count, tsl_pool_task task, void *argument) {
  c->task = task;
  c->argument = argument;
  c->count = (uint64_t)count;
  c->caller_processor = processor_to_leave(c);
  atomic_store_explicit(&c->next, 0, memory_order_relaxed);
  pthread_mutex_lock(&c->lock);
  atomic_store_explicit(&c->seating, (uint64_t)workers * ONE_OFFERED, memory_order_release);
  const int sleepers = c->sleepers;
  pthread_mutex_unlock(&c->lock);
  if (sleepers > workers)
    for (int i = 0; i < workers; i++)
      pthread_cond_signal(&c->offered);
  else if (sleepers > 0)
    pthread_cond_broadcast(&c->offered);

  work(c, 0);

  atomic_fetch_and_explicit(&c->seating, ~(ONE_SITTING - 1), memory_order_acq_rel);
  if (spin_until(c, is_empty))
    return;
  pthread_mutex_lock(&c->lock);
  while (!is_empty(atomic_load_explicit(&c->seating, memory_order_acquire)))
    pthread_cond_wait(&c->empty, &c->lock);
  pthread_mutex_unlock(&c->lock);
}

void tsl_pool_run(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument) {
  if (count <= 0)
    return;
  const int useful = count < pool->threads ? (int)(count - 1) : pool->threads - 1;
  if (useful == 0 || run_depth > 0 || atomic_exchange_explicit(&pool->busy, true, memory_order_acquire)) {
    work_alone(count, task, argument);
    return;
  }
  const int workers = hire(pool, useful);
  if (workers > 0)
    work_together(pool->crew, workers, count, task, argument);
  else
    work_alone(count, task, argument);
  atomic_store_explicit(&pool->busy, false, memory_order_release);
}

static pthread_once_t shared_once = PTHREAD_ONCE_INIT;
static tsl_pool *shared;
/* Stands in for the shared pool when there is no memory for one: it has the caller's thread only. */
static tsl_pool single = {.threads = 1};

static void create_shared(void) {
  if (tsl_pool_create(0, &shared) != TESELA_OK)
    shared = &single;
}

tsl_pool *tsl_pool_shared(void) {
  pthread_once(&shared_once, create_shared);
  return shared;
}
