/* What entries are given, read and checked: parts of distributed matrices, and scalars. */
#ifndef TSL_SCALAPACK_SCALAPACK_OPERAND_H
#define TSL_SCALAPACK_SCALAPACK_OPERAND_H

#include "scalapack/calls.h"
#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_grid.h"

#include <tesela/tesela_mpi.h>

typedef struct tsl_scalapack_operand {
  const void *data;   /* where the local array would begin, were nothing missing (descriptor.h) */
  int64_t rows, cols; /* of the part, as it is stored */
  tsl_scalapack_matrix matrix;
} tsl_scalapack_operand;

/* Reads parts whose rows and cols are set, and finds the caller's place among those who have them. NULL, or
 * why it is not tesela's call. */
const char *tsl_scalapack_read(const tsl_scalapack_part *const *parts, tsl_scalapack_operand *operands,
                               int count, tesela_type type, tsl_scalapack_place *place);

/* The grid whose processes compute the call together; NULL: *why tells why they do not, which is that one
 * where it is set already, or that it is not tesela's (scalapack_route.h). */
const tsl_scalapack_grid *tsl_scalapack_join(const tsl_scalapack_operand *operand,
                                             const tsl_scalapack_place *place, bool is_ours,
                                             const char **why);

/* After a call that failed, on all processes: the function that does it again; NULL where C is lost that it
 * would read. */
tsl_scalapack_function *tsl_scalapack_retry(const tsl_scalapack_call *call, const tsl_scalapack_grid *grid,
                                            const double beta[2]);

/* How an operand lies on a grid. */
tesela_layout tsl_scalapack_layout(const tsl_scalapack_operand *operand, const tsl_scalapack_grid *grid);

/* A letter of either case: N, T or C, 0 for any other. */
char tsl_scalapack_letter(char value);

#endif
