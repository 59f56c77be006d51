/* Ranks of all processes that were started together. The tool loads libtesela_mpi at run time and
 * does not link MPI. The functions are not public: the tool and the library must have one version,
 * which the ranks' calls check. */
#ifndef TSL_COMM_WORLD_H
#define TSL_COMM_WORLD_H

#include "comm/comm.h"

/* Initializes MPI if the process has not, and sets *ranks to the ranks of MPI_COMM_WORLD. The
 * library owns the ranks until tesela_mpi_world_end(). The message of a failure is in
 * tesela_last_error() of the libtesela that libtesela_mpi is linked with. */
TESELA_API tesela_status tesela_mpi_world(tsl_ranks **ranks);
/* Frees the ranks, and finalizes MPI if tesela_mpi_world() initialized it. */
TESELA_API void tesela_mpi_world_end(void);

#endif
