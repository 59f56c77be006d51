/* Processes of a BLACS context. */
#ifndef TSL_SCALAPACK_SCALAPACK_GRID_H
#define TSL_SCALAPACK_SCALAPACK_GRID_H

#include "scalapack/descriptor.h"

#include <mpi.h>
#include <stdbool.h>

typedef struct tsl_scalapack_grid {
  MPI_Comm comm; /* the BLACS context's communicator, only these processes; tesela_mpi_gemm() duplicates it */
  int rows, cols;
  int sharing; /* number of processes, caller included, that share the caller's processors */
  int ranks[]; /* ranks[i * cols + j]: rank in comm of the process in row i and column j */
} tsl_scalapack_grid;

/* Finds the context's grid and the caller's place by the program's BLACS. Returns false without a
 * context, outside of the grid, or without BLACS. */
bool tsl_scalapack_where(int64_t context, tsl_scalapack_place *place);

/* Returns the grid of a context; NULL: tesela does not compute there, on any of its processes. The
 * first call is collective and compares `same`, which must be equal on all processes. The result is
 * cached until the context ends. */
const tsl_scalapack_grid *tsl_scalapack_grid_of(int64_t context, const tsl_scalapack_place *place,
                                                int64_t same);

/* Returns true if any process of the grid passes true. Collective. */
bool tsl_scalapack_any(const tsl_scalapack_grid *grid, bool value);

#endif
