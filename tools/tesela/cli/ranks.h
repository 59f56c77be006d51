/* Processes of the tool that mpirun, srun or the like started together: told by the environment; MPI itself
 * is libtesela_mpi's, which is loaded where it is needed. */
#ifndef TSL_TOOL_CLI_RANKS_H
#define TSL_TOOL_CLI_RANKS_H

#include "comm/comm.h"

#include <stdbool.h>
#include <tesela/tesela_layout.h>

/* Whether this is one of several processes, and TESELA_MPI does not say that each works for itself. */
bool tsl_ranks_started(void);
/* Whether it is the one that speaks for all: the first, or one alone. By the environment, so that it is known
 * before MPI is there. */
bool tsl_ranks_is_speaker(void);
/* Whose MPI started them, as names of libraries have it: "openmpi", "mpich"; "" where that is not known. */
const char *tsl_ranks_mpi(void);
/* Loads libtesela_mpi and begins MPI. TESELA_NO_DEVICE where it cannot be loaded, TESELA_UNSUPPORTED where it
 * is another MPI's. */
tesela_status tsl_ranks_join(tsl_ranks **ranks);
/* tesela_mpi_gemm() of them all, by the library's own context. */
tesela_status tsl_ranks_multiply(tsl_ranks *ranks, const tesela_mpi_desc *desc, tesela_mpi_record *record);
/* A file that all ranks have open (comm/comm.h): all of them open and close it. TESELA_IO_FAILED on all where
 * MPI cannot. NULL is closed. */
tesela_status tsl_ranks_open(const char *path, bool writes, tsl_ranks_file **file);
tesela_status tsl_ranks_close(tsl_ranks_file *file);
/* Of such a file, by one rank: ways that readers and parts take (io/backend.h). */
size_t tsl_ranks_read(void *file, uint64_t place, void *data, size_t bytes);
size_t tsl_ranks_write(void *file, uint64_t place, const void *data, size_t bytes);
/* At the end of a process, once the speaker has spoken: ends MPI. All failed or none did. mpirun ends all
 * processes where the first one fails, so the others wait for the speaker; where MPI did not begin, a moment.
 */
void tsl_ranks_leave(bool failed);

#endif
