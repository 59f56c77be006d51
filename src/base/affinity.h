/* Where threads may run. The kernel knows masks of threads alone: the process's is that of its main thread,
 * which taskset and its like set, and of any other that was not bound more narrowly. */
#ifndef TSL_BASE_AFFINITY_H
#define TSL_BASE_AFFINITY_H

#include <stdint.h>

/* Processors that the process may run on, however narrowly the calling thread is bound; at least 1. */
int tsl_affinity_count(void);
/* The same number in processes of one host that may run on the same processors, and hardly in others. */
uint64_t tsl_affinity_hash(void);
/* Lets the calling thread run on all of them. */
void tsl_affinity_widen(void);

#endif
