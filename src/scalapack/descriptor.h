/* A distributed matrix as ScaLAPACK describes it, and where a part of it begins.
 *
 * Descriptors are nine integers (type 1), or eleven (type 2) where the first row and column of blocks are of
 * a size of their own. A first block that is shorter than the others is the end of one of their size, the
 * rest of which nobody has: so type 2 is read as type 1 of a matrix with that many more rows and columns in
 * front. */
#ifndef TSL_SCALAPACK_DESCRIPTOR_H
#define TSL_SCALAPACK_DESCRIPTOR_H

#include <stdint.h>

typedef struct tsl_scalapack_matrix {
  int64_t type, context; /* DTYPE_, CTXT_ */
  int64_t rows, cols;    /* M_, N_: of the whole */
  int64_t row_block, col_block;
  int64_t first_row, first_col; /* RSRC_, CSRC_: of the processes, who has the first block */
  int64_t leading;              /* LLD_: elements from one column of the local array to the next */
  int64_t row, col;             /* where the part begins, counted from 0 */
  int64_t missing_rows,
      missing_cols; /* that are counted in rows and row, cols and col, and are in front of what there is */
} tsl_scalapack_matrix;

/* A grid of processes, and the caller's place in it. */
typedef struct tsl_scalapack_place {
  int rows, cols, row, col;
} tsl_scalapack_place;

/* How many integers of a descriptor are known to be there, as its first one says. */
int tsl_scalapack_fields(int64_t type);
/* A part from row i and column j on, counted from 1. */
void tsl_scalapack_describe(const int64_t *fields, int64_t i, int64_t j, tsl_scalapack_matrix *out);

/* How many of `size` rows or columns in blocks of `block` a process has, where `first` has the first block
 * (NUMROC). */
int64_t tsl_scalapack_local(int64_t size, int64_t block, int process, int first, int processes);

/* Why a part of rows x cols, both positive, cannot be taken where the caller is; NULL: it can. */
const char *tsl_scalapack_refuse(const tsl_scalapack_matrix *matrix, int64_t rows, int64_t cols,
                                 const tsl_scalapack_place *place);

/* Elements from where the local array would begin, were nothing missing, to where it does. */
int64_t tsl_scalapack_begin_at(const tsl_scalapack_matrix *matrix, const tsl_scalapack_place *place);

#endif
