/* The processes of a BLACS context. */
#ifndef TSL_SCALAPACK_SCALAPACK_GRID_H
#define TSL_SCALAPACK_SCALAPACK_GRID_H

#include "scalapack/descriptor.h"

#include <mpi.h>
#include <stdbool.h>

typedef struct tsl_scalapack_grid {
  MPI_Comm comm; /* of these processes alone: the context's, of which tesela_mpi_gemm() makes a copy */
  int rows, cols;
  int sharing; /* processes, the caller's included, that have the caller's processors */
  int ranks[]; /* in comm, of the process in row i and column j: ranks[i * cols + j] */
} tsl_scalapack_grid;

/* The context's grid and the caller's place in it, as the program's BLACS says; false where the context is
 * none, or the caller is not in it, or there is no BLACS. */
bool tsl_scalapack_where(int64_t context, tsl_scalapack_place *place);

/* What tesela knows of the grid; NULL: it does not compute there, whoever of the grid asks. The first time
 * all of its processes ask together, each with what has to be the same on all, which is compared. It is kept
 * until the context ends. */
const tsl_scalapack_grid *tsl_scalapack_grid_of(int64_t context, const tsl_scalapack_place *place,
                                                int64_t same);

/* Whether any process of the grid says so; all are asked. */
bool tsl_scalapack_any(const tsl_scalapack_grid *grid, bool value);

#endif
