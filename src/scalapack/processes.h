/* Processes of a job that lack this library. Such a process makes no call of tesela's: a collective call of
 * the others would wait for it for ever. */
#ifndef TSL_SCALAPACK_PROCESSES_H
#define TSL_SCALAPACK_PROCESSES_H

#include <mpi.h>
#include <stdbool.h>

/* Findings about a communicator's processes. */
typedef struct tsl_scalapack_processes {
  int without;   /* rank in MPI_COMM_WORLD of the first process without the library; -1: none is known */
  bool all_here; /* all processes were found on this host, so that each of those with the library finds the
                    same */
  bool is_first; /* the caller is the first process that has the library */
} tsl_scalapack_processes;

/* Looks at the processes of this host as the system shows them, without a message. Finds no process without
 * the library where the system or MPI's environment does not show one. */
tsl_scalapack_processes tsl_scalapack_look_at_processes(MPI_Comm comm);

#endif
