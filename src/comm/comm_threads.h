/* Ranks that are threads of one process: for tests without MPI, and to count words. */
#ifndef TSL_COMM_COMM_THREADS_H
#define TSL_COMM_COMM_THREADS_H

#include "comm/comm.h"

/* Function of one rank. */
typedef void (*tsl_rank_body)(tsl_ranks *ranks, void *user);

/* Runs `body` on `size` threads, each of which is a rank, and waits for all. TESELA_OUT_OF_MEMORY:
 * the threads could not be started, and `body` was not called. */
tesela_status tsl_threads_run(int size, tsl_rank_body body, void *user);

#endif
