/* Ranks of all processes that were started together, for the tool, which loads libtesela_mpi at run time. */
#ifndef TSL_COMM_WORLD_H
#define TSL_COMM_WORLD_H

#include "comm/comm.h"

/* Initializes MPI if needed, and sets *ranks to MPI_COMM_WORLD's, which the library owns until
 * tesela_mpi_world_end(). tesela_last_error() of libtesela_mpi's libtesela has a failure's message. */
TESELA_API tesela_status tesela_mpi_world(tsl_ranks **ranks);
/* Frees the ranks; finalizes MPI if tesela_mpi_world() initialized it. */
TESELA_API void tesela_mpi_world_end(void);

#endif
