/* Threads of a pool. Private to pool.c. */
#ifndef TSL_CORE_POOL_WORKERS_H
#define TSL_CORE_POOL_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_workers tsl_workers;

enum { TSL_WORKERS_MAX = 0xffff };

typedef void (*tsl_workers_task)(void *argument, int64_t index, int worker);

/* Creates a crew of up to `workers` workers, none running yet; NULL: no memory. `is_alone`: each thread has
 * its own processor, so spinning costs no thread time. */
tsl_workers *tsl_workers_create(int workers, bool is_alone);
/* Ends all workers and frees the crew. No job may be running. */
void tsl_workers_stop(tsl_workers *crew);
/* Starts workers until `workers` run, or as many as possible. Returns how many run. */
int tsl_workers_start(tsl_workers *crew, int workers);
/* Runs a job on the caller and `workers` >= 1 started workers. One caller at a time. */
void tsl_workers_run_job(tsl_workers *crew, int workers, int64_t count, tsl_workers_task task,
                         void *argument);
bool tsl_workers_is_inside_job(void);

/* Moves a crew, whose threads do not exist in the child of a fork, to a list of crews to be freed later. */
void tsl_workers_defer_free(tsl_workers *crew, tsl_workers **list);
/* Frees the crews of a list of tsl_workers_defer_free(). */
void tsl_workers_free_inherited(tsl_workers *list);

#endif
