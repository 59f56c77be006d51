/* Processors of the process: union of the main thread's mask, which taskset sets, and the caller's mask. */
#ifndef TSL_CORE_AFFINITY_H
#define TSL_CORE_AFFINITY_H

#include <stdint.h>

/* Returns the number of the process's processors, at least 1. */
int tsl_affinity_count(void);
/* Returns a hash of the process's processors, equal for equal masks on one host. */
uint64_t tsl_affinity_hash(void);
/* Lets the calling thread run on all processors of the process. */
void tsl_affinity_use_whole_process(void);

#endif
