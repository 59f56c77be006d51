/* Which of a job's processes have this library. One that was started without it makes no call of tesela's, and whoever waits for it in a
 * collective call waits for ever. */
#ifndef TSL_SCALAPACK_PROCESSES_H
#define TSL_SCALAPACK_PROCESSES_H

#include <mpi.h>
#include <stdbool.h>

/* What is known of a communicator's processes. */
typedef struct tsl_scalapack_processes {
  int without; /* rank in MPI_COMM_WORLD of the first process without the library; -1: none is known */
  bool
      all_here; /* all processes were found on this host, so that each of those with the library finds the same */
  bool is_first; /* the caller is the first process that has the library */
} tsl_scalapack_processes;

/* Looks at the processes of this host as the system shows them, and sends nothing. Where the system or the MPI's environment does not tell,
 * no process without the library is known. */
tsl_scalapack_processes tsl_scalapack_look_at_processes(MPI_Comm comm);

#endif
