/* All processes that were started together, as ranks: what libtesela_mpi offers to the tool, which loads it
 * at run time and knows nothing of MPI. Exported, but not public: both are of one version, which the ranks'
 * calls check. */
#ifndef TSL_COMM_WORLD_H
#define TSL_COMM_WORLD_H

#include "comm/comm.h"

/* Begins MPI where the process has not, and gives the ranks of MPI_COMM_WORLD. They stay the library's, and
 * live until tesela_mpi_world_end(), which ends MPI where tesela_mpi_world() began it. The sentence of a
 * failure is libtesela's, tesela_last_error() of the library that libtesela_mpi is linked with. */
TESELA_API tesela_status tesela_mpi_world(tsl_ranks **ranks);
TESELA_API void tesela_mpi_world_end(void);

#endif
