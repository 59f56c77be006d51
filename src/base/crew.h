/* The threads of a pool, and how they share a job with the caller. For pool.c. */
#ifndef TSL_BASE_CREW_H
#define TSL_BASE_CREW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_crew tsl_crew;

enum { TSL_CREW_WORKERS_MAX = 0xffff };

/* As tsl_pool_task. */
typedef void (*tsl_crew_task)(void *argument, int64_t index, int worker);

/* Of at most so many workers, none of which runs yet; NULL: no memory. `is_alone`: there are processors for all of them and
 * the caller, so that who waits takes none from somebody who works. */
tsl_crew *tsl_crew_create(int workers, bool is_alone);
/* Ends all workers and frees the crew; nobody works. */
void tsl_crew_dismiss(tsl_crew *crew);
/* Makes sure that `workers` workers run, or as many as can be had. Returns how many of them there are. */
int tsl_crew_hire(tsl_crew *crew, int workers);
/* Runs a job on the caller's thread and so many workers that were hired, at least one; one caller at a time. */
void tsl_crew_work(tsl_crew *crew, int workers, int64_t count, tsl_crew_task task, void *argument);
/* Whether this thread is inside of a job. */
bool tsl_crew_is_at_work(void);

/* In the child of a fork, which has none of the crew's threads: the crew becomes the first of a list of those whose memory
 * is freed later. */
void tsl_crew_inherit(tsl_crew *crew, tsl_crew **list);
void tsl_crew_free_inherited(tsl_crew *list);

#endif
