#ifndef TSL_SCALAPACK_SCALAPACK_GRID_H
#define TSL_SCALAPACK_SCALAPACK_GRID_H

#include "scalapack/descriptor.h"

#include <mpi.h>
#include <stdbool.h>

typedef struct tsl_scalapack_grid {
  MPI_Comm comm; /* the BLACS context's; tesela_mpi_gemm() duplicates it */
  int rows, cols;
  int sharing; /* processes, caller included, on the caller's processors; 0: tesela computes on no process */
  int ranks[]; /* [i * cols + j]: rank in comm of row i and column j */
} tsl_scalapack_grid;

/* Gets the caller's position from the program's BLACS; false: no BLACS or context, or outside of the grid. */
bool tsl_scalapack_find_position(int64_t context, tsl_scalapack_position *position);

/* Returns a context's grid, cached until it ends; NULL: tesela computes on none of its processes. The first
 * call is collective and compares `settings`, which must be equal on all processes. */
const tsl_scalapack_grid *tsl_scalapack_grid_of(int64_t context, const tsl_scalapack_position *position,
                                                int64_t settings);

/* Returns true if any process of the grid passes true. Collective. */
bool tsl_scalapack_any_true(const tsl_scalapack_grid *grid, bool value);

#endif
