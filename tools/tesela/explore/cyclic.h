/* Matrices that lie on a grid of ranks as ScaLAPACK has them: square blocks by turns, each rank's own side by
 * side, column-major.
 *
 *     0 1 0 1      block (i, j) is that of the process in row i mod rows and column j mod cols of the grid,
 * whose 2 3 2 3      ranks go along its rows 0 1 0 1
 */
#ifndef TSL_TOOL_EXPLORE_CYCLIC_H
#define TSL_TOOL_EXPLORE_CYCLIC_H

#include "comm/comm.h"
#include "strategy/problem.h"

#include <tesela/tesela_layout.h>

typedef struct tsl_cyclic_grid {
  int rows, cols; /* nearest to a square, no more rows than columns */
  int row, col;   /* this rank's place */
} tsl_cyclic_grid;
tsl_cyclic_grid tsl_process_grid_choose(const tsl_ranks *ranks);

typedef struct tsl_cyclic {
  tsl_cyclic_grid grid;
  int64_t rows, cols, block;
  int64_t own_rows, own_cols, leading; /* of the local array; from one column of it to the next */
  tesela_type type;
  void *data;
} tsl_cyclic;

/* Takes memory for what this rank has; free data by tsl_free(). */
tesela_status tsl_cyclic_make(const tsl_cyclic_grid *grid, int64_t rows, int64_t cols, int64_t block,
                              tesela_type type, tsl_cyclic *out);
/* The row of the whole that is local row `value`; likewise the column. */
int64_t tsl_cyclic_row(const tsl_cyclic *matrix, int64_t value);
int64_t tsl_cyclic_col(const tsl_cyclic *matrix, int64_t value);
/* Fills it with the numbers of a seed: element (i, j) is a function of both, whoever has it. */
void tsl_cyclic_fill(const tsl_cyclic *matrix, uint64_t seed);
/* Elements (row, col), (row + 1, col), ... of the same matrix, whoever has them. */
void tsl_cyclic_column(const tsl_cyclic *matrix, uint64_t seed, int64_t row, int64_t col, int64_t count,
                       void *out);
/* Every byte of it to 0xff: NaN, or -1. */
void tsl_cyclic_spoil(const tsl_cyclic *matrix);
tesela_layout tsl_cyclic_layout(const tsl_cyclic *matrix);

#endif
