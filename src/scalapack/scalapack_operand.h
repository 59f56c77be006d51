#ifndef TSL_SCALAPACK_SCALAPACK_OPERAND_H
#define TSL_SCALAPACK_SCALAPACK_OPERAND_H

#include "scalapack/calls.h"
#include "scalapack/scalapack_arguments.h"
#include "scalapack/scalapack_grid.h"

#include <tesela/tesela.h>
#include <tesela/tesela_mpi.h>

typedef struct tsl_scalapack_operand {
  const void *data;   /* the local array's virtual begin, with missing rows and columns (descriptor.h) */
  int64_t rows, cols; /* submatrix as stored */
  tsl_scalapack_matrix matrix;
} tsl_scalapack_operand;

/* Reads submatrices (rows and cols are set) and gets the caller's position. Returns NULL, or why tesela
 * cannot compute the call. */
const char *tsl_scalapack_read_operands(const tsl_scalapack_part *const *parts,
                                        tsl_scalapack_operand *operands, int count, tesela_type type,
                                        tsl_scalapack_position *position);

/* Returns the grid that computes the call. NULL: *why is the reason, unchanged if already set. */
const tsl_scalapack_grid *tsl_scalapack_grid_for_call(const tsl_scalapack_operand *operand,
                                                      const tsl_scalapack_position *position,
                                                      bool is_faster_here, const char **why);

/* Ends a call that tesela has computed with this status. Returns the function that repeats a failed call, on
 * all processes; NULL: the call is complete, or C is lost, but beta needs it. */
tsl_next_function *tsl_scalapack_finish(const tsl_scalapack_call *call, const tsl_scalapack_grid *grid,
                                        tesela_status status, const tesela_mpi_record *record,
                                        const double beta[2]);

/* Returns the block-cyclic layout of the operand's matrix; it borrows the grid's ranks. */
tesela_layout tsl_scalapack_layout(const tsl_scalapack_operand *operand, const tsl_scalapack_grid *grid);

/* Returns the capital of N, T or C; 0 for other letters. */
char tsl_scalapack_letter(char value);

/* Returns the library's context for `sharing` processes on the caller's processors; NULL on failure. */
tesela_context *tsl_scalapack_context(int sharing);

#endif
