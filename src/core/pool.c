#include "core/pool.h"

#include "core/cancel.h"
#include "core/pool_workers.h"
#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

_Static_assert(TSL_POOL_THREADS_MAX <= TSL_WORKERS_MAX, "a crew takes all but one of a pool's threads");

struct tsl_pool {
  int threads;               /* the caller's included */
  atomic_bool busy;          /* true: a caller uses the crew */
  tsl_workers *crew;         /* NULL until the first run in a process */
  tsl_workers *inherited;    /* crews of parent processes, freed with the pool */
  tsl_pool *previous, *next; /* list of all pools */
};

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static tsl_pool *pools;

static void lock_pools(void) {
  pthread_mutex_lock(&pools_lock);
}
static void unlock_pools(void) {
  pthread_mutex_unlock(&pools_lock);
}

/* Drops the crews in the child of a fork, where their threads do not exist. */
static void drop_crews_in_child(void) {
  for (tsl_pool *pool = pools; pool; pool = pool->next) {
    if (pool->crew)
      tsl_workers_defer_free(pool->crew, &pool->inherited);
    pool->crew = NULL;
    atomic_store(&pool->busy, false);
  }
  unlock_pools();
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_failed;
static void register_fork_handlers_once(void) {
  fork_failed = pthread_atfork(lock_pools, unlock_pools, drop_crews_in_child);
}
void tsl_pool_register_fork_handlers(void) {
  pthread_once(&fork_once, register_fork_handlers_once);
}

tesela_status tsl_pool_create(int threads, tsl_pool **pool) {
  *pool = NULL;
  if (threads < 0 || threads > TSL_POOL_THREADS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "%d threads were requested: use 1 to %d, or 0 for the default", threads,
                    TSL_POOL_THREADS_MAX);
  tsl_pool_register_fork_handlers();
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
    tsl_workers_stop(pool->crew);
  tsl_workers_free_inherited(pool->inherited);
  free(pool);
}

int tsl_pool_threads(const tsl_pool *pool) {
  return pool->threads;
}

static void run_on_caller_alone(int64_t count, tsl_pool_task task, void *argument) {
  for (int64_t index = 0; index < count; index++)
    task(argument, index, 0);
}

/* Starts up to `workers` workers. Returns how many run. */
static int start_workers(tsl_pool *pool, int workers) {
  if (!pool->crew)
    pool->crew = tsl_workers_create(pool->threads - 1, pool->threads <= tsl_pool_processors());
  return pool->crew ? tsl_workers_start(pool->crew, workers) : 0;
}

tsl_team tsl_pool_team(tsl_pool *pool, int threads) {
  return (tsl_team){pool, threads > 0 && threads < pool->threads ? threads : pool->threads};
}

void tsl_team_run(tsl_team team, int64_t count, tsl_pool_task task, void *argument) {
  tsl_pool *pool = team.pool;
  if (count <= 0)
    return;
  const int useful = count < team.threads ? (int)count - 1 : team.threads - 1;
  if (useful <= 0 || tsl_workers_is_inside_job() ||
      atomic_exchange_explicit(&pool->busy, true, memory_order_acquire)) {
    run_on_caller_alone(count, task, argument);
    return;
  }
  TSL_NOT_CANCELLED;
  const int workers = start_workers(pool, useful);
  if (workers > 0)
    tsl_workers_run_job(pool->crew, workers, count, task, argument);
  else
    run_on_caller_alone(count, task, argument);
  atomic_store_explicit(&pool->busy, false, memory_order_release);
}

void tsl_pool_run(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument) {
  tsl_team_run(tsl_pool_team(pool, 0), count, task, argument);
}

static _Atomic(tsl_pool *) shared;
/* Pool for lack of memory. */
static tsl_pool caller_only_pool = {.threads = 1};

tsl_pool *tsl_pool_shared(void) {
  tsl_pool *pool = atomic_load_explicit(&shared, memory_order_acquire), *made;
  if (pool)
    return pool;
  if (tsl_pool_create(0, &made) != TESELA_OK)
    return &caller_only_pool;
  if (atomic_compare_exchange_strong(&shared, &pool, made))
    return made;
  tsl_pool_destroy(made);
  return pool;
}
