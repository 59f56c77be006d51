/* The tool's processes that mpirun, srun or a similar program started together. The environment
 * tells whether there are several. MPI itself is called by libtesela_mpi, which is loaded when
 * needed. */
#ifndef TSL_TOOL_CLI_RANKS_H
#define TSL_TOOL_CLI_RANKS_H

#include "comm/comm.h"

#include <stdbool.h>
#include <tesela/tesela_layout.h>

/* Returns true if this process is one of several, unless TESELA_MPI says that each works alone. */
bool tsl_ranks_started(void);
/* Returns true if this process prints for all: it is the first, or there is only one. Reads the
 * environment, so that the answer is known before MPI begins. */
bool tsl_ranks_is_speaker(void);
/* Returns the name of the MPI that started the processes, as in library names ("openmpi", "mpich");
 * "" if unknown. */
const char *tsl_ranks_mpi(void);
/* Loads libtesela_mpi and begins MPI. Returns TESELA_NO_DEVICE if the library cannot be loaded,
 * TESELA_UNSUPPORTED if it was built for another MPI. */
tesela_status tsl_ranks_join(tsl_ranks **ranks);
/* Calls tesela_mpi_gemm() on all ranks, in the library's own context. */
tesela_status tsl_ranks_multiply(tsl_ranks *ranks, const tesela_mpi_desc *desc, tesela_mpi_record *record);
/* Open and close a file on all ranks (comm/comm.h). Called by all ranks. All return
 * TESELA_IO_FAILED if MPI cannot open it. Closing NULL does nothing. */
tesela_status tsl_ranks_open(const char *path, bool writes, tsl_ranks_file **file);
tesela_status tsl_ranks_close(tsl_ranks_file *file);
/* Read and write a file opened by tsl_ranks_open(), on one rank, as callbacks of io/backend.h. */
size_t tsl_ranks_read(void *file, uint64_t place, void *data, size_t bytes);
size_t tsl_ranks_write(void *file, uint64_t place, const void *data, size_t bytes);
/* Ends MPI, at the end of a process, after the speaker printed its report. `failed` must be equal
 * on all ranks. mpirun ends all processes when the first one fails, so the others wait for the
 * speaker; if MPI did not begin, they wait a moment. */
void tsl_ranks_leave(bool failed);

#endif
