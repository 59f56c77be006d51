/* Processors on which threads may run. The kernel only has masks of threads. The process's mask is the
 * union of the main thread's, which taskset sets, and the calling thread's. */
#ifndef TSL_BASE_AFFINITY_H
#define TSL_BASE_AFFINITY_H

#include <stdint.h>

/* Returns the number of processors that the process may run on, at least 1, even if the calling thread
 * is bound more narrowly. */
int tsl_affinity_count(void);
/* Returns a hash of the process's processors: equal for processes of one host with equal masks, and
 * most likely different otherwise. */
uint64_t tsl_affinity_hash(void);
/* Lets the calling thread run on all processors of the process. */
void tsl_affinity_widen(void);

#endif
