/* The threads of a pool, and how they share a job with the caller. For pool.c. */
#ifndef TSL_BASE_POOL_WORKERS_H
#define TSL_BASE_POOL_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_workers tsl_workers;

enum { TSL_WORKERS_MAX = 0xffff };

/* As tsl_pool_task. */
typedef void (*tsl_workers_task)(void *argument, int64_t index, int worker);

/* Of at most so many workers, none of which runs yet; NULL: no memory. `is_alone`: there are processors for
 * all of them and the caller, so that who waits takes none from somebody who works. */
tsl_workers *tsl_workers_create(int workers, bool is_alone);
/* Ends all workers and frees the crew; nobody works. */
void tsl_workers_stop(tsl_workers *crew);
/* Makes sure that `workers` workers run, or as many as can be had. Returns how many of them there are. */
int tsl_workers_start(tsl_workers *crew, int workers);
/* Runs a job on the caller's thread and so many workers that were hired, at least one; one caller at a time.
 */
void tsl_workers_work(tsl_workers *crew, int workers, int64_t count, tsl_workers_task task, void *argument);
/* Whether this thread is inside of a job. */
bool tsl_workers_is_at_work(void);

/* In the child of a fork, which has none of the crew's threads: the crew becomes the first of a list of those
 * whose memory is freed later. */
void tsl_workers_inherit(tsl_workers *crew, tsl_workers **list);
void tsl_workers_free_inherited(tsl_workers *list);

#endif
