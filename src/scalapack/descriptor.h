/* Distributed matrix of ScaLAPACK, and the begin of a submatrix. In type 2 the first row and column of blocks
 * have their own size. It becomes type 1 of a larger matrix, whose first rows and columns may not exist. */
#ifndef TSL_SCALAPACK_DESCRIPTOR_H
#define TSL_SCALAPACK_DESCRIPTOR_H

#include <stdint.h>

typedef struct tsl_scalapack_matrix {
  int64_t type, context;              /* DTYPE_, CTXT_ */
  int64_t rows, cols;                 /* M_, N_: size of the whole matrix */
  int64_t row_block, col_block;       /* MB_, NB_: rows and columns of a block */
  int64_t first_row, first_col;       /* RSRC_, CSRC_: process with the first block */
  int64_t leading;                    /* LLD_: elements between columns of the local array */
  int64_t row, col;                   /* begin of the submatrix, from 0 */
  int64_t missing_rows, missing_cols; /* nonexistent ones, included in rows, row, cols and col */
} tsl_scalapack_matrix;

typedef struct tsl_scalapack_position {
  int rows, cols, row, col; /* processes of the grid; the caller's coordinates, from 0 */
} tsl_scalapack_position;

/* Returns the integers of a descriptor of this type; 1 for unknown types. */
int tsl_scalapack_field_count(int64_t type);
/* Describes a submatrix from row i and column j on, from 1. */
void tsl_scalapack_describe(const int64_t *fields, int64_t i, int64_t j, tsl_scalapack_matrix *out);

/* Returns a process's rows or columns, of `size` in blocks of `block`; `first_process` has block 0. */
int64_t tsl_scalapack_local_size(int64_t size, int64_t block, int process, int first_process, int processes);

/* Returns why a non-empty submatrix of rows x cols is not supported; NULL: it is. */
const char *tsl_scalapack_refuse(const tsl_scalapack_matrix *matrix, int64_t rows, int64_t cols,
                                 const tsl_scalapack_position *position);

/* Returns the elements from a local array's virtual begin (with missing rows, columns) to its real one. */
int64_t tsl_scalapack_virtual_offset(const tsl_scalapack_matrix *matrix,
                                     const tsl_scalapack_position *position);

#endif
