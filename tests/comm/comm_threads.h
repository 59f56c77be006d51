/* Ranks that are threads of one process. */
#ifndef TSL_COMM_COMM_THREADS_H
#define TSL_COMM_COMM_THREADS_H

#include "comm/comm.h"

typedef void (*tsl_rank_body)(tsl_ranks *ranks, void *user);

/* Runs `body` on `size` threads, the ranks, and waits. TESELA_OUT_OF_MEMORY: `body` was not called. */
tesela_status tsl_threads_run(int size, tsl_rank_body body, void *user);

#endif
