/* Host threads: a persistent pool that distributes indices. */
#ifndef TSL_BASE_POOL_H
#define TSL_BASE_POOL_H

#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_pool tsl_pool;

/* Task for one index, 0 <= index < count. 0 <= worker < number of threads that may run it. */
typedef void (*tsl_pool_task)(void *argument, int64_t index, int worker);

/* Maximum number of threads of a pool. */
#define TSL_POOL_THREADS_MAX 4096

/* Returns the number of threads that this process should use: TESELA_THREADS, else tsl_pool_processors(). */
int tsl_pool_default_threads(void);
/* Returns the number of processors that this process may use, at least 1. It is the minimum of the
 * affinity (base/affinity.h) and the cgroup quota, rounded up. Quotas are cpu.max in version 2,
 * cpu.cfs_quota_us in version 1. */
int tsl_pool_processors(void);
/* Returns the number of processors that a cgroup quota below `root` ("/sys/fs/cgroup") allows; 0: no
 * quota. */
int tsl_pool_quota_at(const char *root, const char *self_cgroup_file);

/* Registers the pools' fork handlers, once. Handlers that must run before the pools' are registered
 * afterwards. */
void tsl_pool_watch_forks(void);

/* Creates a pool of `threads` threads, the caller's included; 0: the default. Threads start at the
 * first tsl_pool_run(), and again in the child of a fork, which may use the pool. A task that forks
 * must end in the child with _exit() or exec. TESELA_BAD_CALL: the number is out of range. */
tesela_status tsl_pool_create(int threads, tsl_pool **pool);
/* Ends the threads, waits for them and frees the pool. No thread may be running it. NULL is allowed. */
void tsl_pool_destroy(tsl_pool *pool);
int tsl_pool_threads(const tsl_pool *pool);

/* Threads that a caller may use: a number of a pool's threads, the caller's included. A value, passed
 * down to the work. {0} is the caller's thread only. */
typedef struct tsl_team {
  tsl_pool *pool;
  int threads;
} tsl_team;

/* Returns a team of at most `threads` threads of a pool; 0: all. */
tsl_team tsl_pool_team(tsl_pool *pool, int threads);
static inline int tsl_team_threads(tsl_team team) {
  return team.threads > 1 ? team.threads : 1;
}

/* Calls task(argument, index, worker) once for each index, in any order, and returns when all are done.
 * The caller works too, as worker 0; the others' numbers are below the team's size. Many threads may
 * call at once: a single caller gets the workers, the others work alone. A task may call this function
 * itself; the inner call works alone if the outer one has the workers. If a thread cannot be started,
 * the call is slower but complete. Workers run on any processor of the process, even if the caller is
 * bound to one. The caller is not cancelled (pthread_cancel) before the function returns. */
void tsl_team_run(tsl_team team, int64_t count, tsl_pool_task task, void *argument);
/* Runs a task as tsl_team_run() does, with all threads of a pool. */
void tsl_pool_run(tsl_pool *pool, int64_t count, tsl_pool_task task, void *argument);

/* Returns the process's shared pool of default size, created at first use. */
tsl_pool *tsl_pool_shared(void);

#endif
