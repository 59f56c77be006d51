#ifndef TSL_CORE_POOL_H
#define TSL_CORE_POOL_H

#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_pool tsl_pool;

/* Task for one index, 0 <= index < count; worker is below the team's size. */
typedef void (*tsl_pool_task)(void *argument, int64_t index, int worker);

#define TSL_POOL_THREADS_MAX 4096

/* Returns TESELA_THREADS, else tsl_pool_processors(). */
int tsl_pool_default_threads(void);
/* Returns the default threads of one of `processes` processes of this host: all to which the process is
 * bound, or its share of the host's. */
int tsl_pool_shared_threads(int processes);
/* Returns the minimum of affinity and cgroup quotas (rounded up), at least 1. */
int tsl_pool_processors(void);
/* Returns the processors that a cgroup quota below `root` ("/sys/fs/cgroup") allows; 0: no quota. */
int tsl_pool_quota_at(const char *root, const char *self_cgroup_file);

/* Registers the pools' fork handlers, once. Handlers that must run before them are registered afterwards. */
void tsl_pool_register_fork_handlers(void);

/* Creates a pool of `threads` threads, the caller's included; 0: the default. Threads start at the first
 * run, also in a fork's child. A task that forks must end in the child by _exit() or exec.
 * TESELA_BAD_CALL: range. */
tesela_status tsl_pool_create(int threads, tsl_pool **pool);
/* Ends the threads and frees the pool, which no thread may be running. NULL is allowed. */
void tsl_pool_destroy(tsl_pool *pool);
/* Returns the pool's number of threads, the caller's included. */
int tsl_pool_threads(const tsl_pool *pool);

typedef struct tsl_team {
  tsl_pool *pool;
  int threads; /* maximum that a caller may use, the caller's included; 0: the caller's only */
} tsl_team;

/* Returns a team of at most `threads` threads; 0: all. */
tsl_team tsl_pool_team(tsl_pool *pool, int threads);
static inline int tsl_team_threads(tsl_team team) {
  return team.threads > 1 ? team.threads : 1;
}

/* Calls task(argument, index, worker) once for each index, in any order, and returns when all are done. The
 * caller is worker 0. Of several concurrent or nested callers one gets the workers, and the others work
 * alone; a thread that cannot be started only costs time. Workers run on any processor of the process. The
 * caller is not cancelled (pthread_cancel) before the function returns. */
void tsl_team_run(tsl_team team, int64_t count, tsl_pool_task task, void *argument);
/* Runs a task as tsl_team_run() does, with all threads of the pool. */
void tsl_pool_run(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument);

/* Returns the process's shared pool of default size, created at first use. */
tsl_pool *tsl_pool_shared(void);

#endif
