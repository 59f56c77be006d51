/* Ranks that are threads of one process: for tests without MPI, and to count what travels. */
#ifndef TSL_COMM_COMM_THREADS_H
#define TSL_COMM_COMM_THREADS_H

#include "comm/comm.h"

/* What one rank does; `ranks` is its own. */
typedef void (*tsl_rank_body)(tsl_ranks *ranks, void *user);

/* Runs body on `size` threads, each of which is a rank, and returns when all are done. TESELA_OUT_OF_MEMORY
 * where they could not be started: none was then. */
tesela_status tsl_threads_run(int size, tsl_rank_body body, void *user);

#endif
