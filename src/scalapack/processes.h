/* Processes of a job without this library. They never call tesela, so a collective call of the
 * other processes would wait for ever. */
#ifndef TSL_SCALAPACK_PROCESSES_H
#define TSL_SCALAPACK_PROCESSES_H

#include <mpi.h>
#include <stdbool.h>

/* Findings about a communicator's processes. */
typedef struct tsl_scalapack_processes {
  int without; /* rank in MPI_COMM_WORLD of the first process without the library; -1: none known */
  /* all processes were found on this host, so that all processes with the library find equal
   * results */
  bool all_here;
  bool is_first; /* the caller is the first process with the library */
} tsl_scalapack_processes;

/* Inspects the processes of this host by /proc, without messages. Finds none without the library if
 * the system or MPI's environment does not show them. */
tsl_scalapack_processes tsl_scalapack_look_at_processes(MPI_Comm comm);

#endif
