/* Matrices in ScaLAPACK's block-cyclic layout on a grid of ranks. Each rank stores its blocks as one
 * column-major array.
 *
 *     0 1 0 1      block (i, j) belongs to the process in row (i mod rows) and column (j mod cols)
 *     2 3 2 3      of the grid; ranks are numbered along the rows of the grid
 *     0 1 0 1 */
#ifndef TSL_TOOL_EXPLORE_CYCLIC_H
#define TSL_TOOL_EXPLORE_CYCLIC_H

#include "comm/comm.h"
#include "problem/problem.h"

#include <tesela/tesela_layout.h>

typedef struct tsl_cyclic_grid {
  int rows, cols; /* the grid nearest to a square, with no more rows than columns */
  int row, col;   /* this rank's place in the grid */
} tsl_cyclic_grid;
tsl_cyclic_grid tsl_process_grid_choose(const tsl_ranks *ranks);

typedef struct tsl_cyclic {
  tsl_cyclic_grid grid;
  int64_t rows, cols, block;
  /* sizes of the local array, and the distance between its columns in elements */
  int64_t own_rows, own_cols, leading;
  tesela_type type;
  void *data;
} tsl_cyclic;

/* Allocates this rank's part; the caller frees out->data by tsl_free(). */
tesela_status tsl_cyclic_make(const tsl_cyclic_grid *grid, int64_t rows, int64_t cols, int64_t block,
                              tesela_type type, tsl_cyclic *out);
/* Return the global row of a local row, and the global column of a local column. */
int64_t tsl_cyclic_row(const tsl_cyclic *matrix, int64_t value);
int64_t tsl_cyclic_col(const tsl_cyclic *matrix, int64_t value);
/* Fills the matrix with numbers of a seed. Element (i, j) depends on i, j and the seed only, not on
 * the grid. */
void tsl_cyclic_fill(const tsl_cyclic *matrix, uint64_t seed);
/* Writes `count` elements (row, col), (row + 1, col), ... of the matrix that tsl_cyclic_fill()
 * makes, also elements of other ranks. */
void tsl_cyclic_column(const tsl_cyclic *matrix, uint64_t seed, int64_t row, int64_t col, int64_t count,
                       void *out);
/* Sets every byte to 0xff: NaN, or -1. */
void tsl_cyclic_spoil(const tsl_cyclic *matrix);
tesela_layout tsl_cyclic_layout(const tsl_cyclic *matrix);

#endif
