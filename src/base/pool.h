/* Host threads: a persistent pool that hands out indices. */
#ifndef TSL_BASE_POOL_H
#define TSL_BASE_POOL_H

#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_pool tsl_pool;

/* What a task does for index 0 <= index < count; `worker` is 0 <= worker < the number of threads that may run
 * it. */
typedef void (*tsl_pool_task)(void *argument, int64_t index, int worker);

/* Most threads of a pool. */
#define TSL_POOL_THREADS_MAX 4096

/* Threads that this process should use: TESELA_THREADS, else tsl_pool_processors(). */
int tsl_pool_default_threads(void);
/* Processors that this process may use: the least of its affinity (base/affinity.h) and the cgroup's
 * quota (cpu.max of version 2, cpu.cfs_quota_us of version 1, rounded up), at least 1. */
int tsl_pool_processors(void);
/* Processors that a cgroup quota allows, reading below `root` ("/sys/fs/cgroup"); 0 when there is no quota.
 */
int tsl_pool_quota_at(const char *root, const char *self_cgroup_file);

/* Makes pools survive forks, if that was not done. For who has handlers of forks that must run before the
 * pools'. */
void tsl_pool_watch_forks(void);

/* A pool of `threads` threads, the caller's included; 0: the default. Threads are started at the first
 * tsl_pool_run(), and again after a fork in the child (a child process may use the pool). A task that forks
 * does not return in the child: that one ends with _exit() or exec. TESELA_BAD_CALL for a number out of
 * range. */
tesela_status tsl_pool_create(int threads, tsl_pool **pool);
/* Ends the threads and waits until they have gone. Nobody is running the pool. NULL is allowed. */
void tsl_pool_destroy(tsl_pool *pool);
int tsl_pool_threads(const tsl_pool *pool);

/* The threads that somebody may use: so many of a pool's, the caller's included. A value, handed down to
 * where the work is; zero is the caller's thread alone. */
typedef struct tsl_team {
  tsl_pool *pool;
  int threads;
} tsl_team;

/* At most `threads` of a pool's threads; 0: all of them. */
tsl_team tsl_pool_team(tsl_pool *pool, int threads);
static inline int tsl_team_threads(tsl_team team) {
  return team.threads > 1 ? team.threads : 1;
}

/* Calls task(argument, index, worker) for each index once, in any order, and returns when all are done. The
 * caller works too, as worker 0; the others' numbers are below the team's. Safe from many threads at once:
 * one of them gets the workers, the others run alone. A task may run teams itself: the inner call runs alone
 * where the outer one has workers. A thread that cannot be started only makes it slower. Workers run wherever
 * the process may, also where the caller is bound to a processor. A caller is not cancelled (pthread_cancel)
 * before this returns. */
void tsl_team_run(tsl_team team, int64_t count, tsl_pool_task task, void *argument);
/* The same by all threads of a pool. */
void tsl_pool_run(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument);

/* The process's shared pool, made at first use, of default size. */
tsl_pool *tsl_pool_shared(void);

#endif
