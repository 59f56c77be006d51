/* Reads and checks of arguments: submatrices and scalars. */
#ifndef TSL_SCALAPACK_SCALAPACK_OPERAND_H
#define TSL_SCALAPACK_SCALAPACK_OPERAND_H

#include "scalapack/calls.h"
#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_grid.h"

#include <tesela/tesela_mpi.h>

typedef struct tsl_scalapack_operand {
  const void *data;   /* virtual begin of the local array, with the missing rows and columns (descriptor.h) */
  int64_t rows, cols; /* size of the submatrix as stored */
  tsl_scalapack_matrix matrix;
} tsl_scalapack_operand;

/* Reads submatrices whose rows and cols are set, and finds the caller's place. Returns the reason
 * why the call is not tesela's; NULL: it is. */
const char *tsl_scalapack_read(const tsl_scalapack_part *const *parts, tsl_scalapack_operand *operands,
                               int count, tesela_type type, tsl_scalapack_place *place);

/* Returns the grid whose processes compute the call. NULL: *why is the reason. It is unchanged if
 * already set, else that the call is not tesela's (scalapack_route.h) or that the grid cannot be
 * used. */
const tsl_scalapack_grid *tsl_scalapack_join(const tsl_scalapack_operand *operand,
                                             const tsl_scalapack_place *place, bool is_ours,
                                             const char **why);

/* Returns the function that repeats a failed call, on all processes. NULL: C is lost, but beta
 * needs it. */
tsl_scalapack_function *tsl_scalapack_retry(const tsl_scalapack_call *call, const tsl_scalapack_grid *grid,
                                            const double beta[2]);

tesela_layout tsl_scalapack_layout(const tsl_scalapack_operand *operand, const tsl_scalapack_grid *grid);

/* Returns the capital of N, T or C in either case; 0 for other letters. */
char tsl_scalapack_letter(char value);

#endif
