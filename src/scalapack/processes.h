/* Processes of a job without this library: a collective call of the others would wait for ever. */
#ifndef TSL_SCALAPACK_PROCESSES_H
#define TSL_SCALAPACK_PROCESSES_H

#include <mpi.h>
#include <stdbool.h>

typedef struct tsl_scalapack_processes {
  int rank_without_library; /* rank in MPI_COMM_WORLD of the first process; -1: none known */
  bool all_on_this_host;
  bool is_first; /* the caller is the first process with the library */
} tsl_scalapack_processes;

/* Inspects this host's processes by /proc, without messages. Finds none without the library if the system or
 * MPI's environment does not show them. */
tsl_scalapack_processes tsl_scalapack_inspect_processes(MPI_Comm comm);

#endif
