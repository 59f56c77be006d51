/* What device_blocked.cl is given, as host and kernel both know it. The includer has TSL_INDEX, a signed
 * 64-bit integer. */
#ifndef TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_SHARED_H
#define TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_SHARED_H

/* Rows of a tile, which one item solves a column of. */
#define SOLVE_TILE 16
/* Items of a group, and how many lie across a panel: they share its columns, and the lines of items its rows.
 */
#define SOLVE_ITEMS 256
#define SOLVE_ACROSS(columns) ((columns) < 16 ? 8 : 16)

/* Items of a group that copies, across and down. */
#define SOLVE_COPY_ACROSS 32
#define SOLVE_COPY_LINES 8

/* A matrix: where element (0, 0) lies, and elements from row to row and from column to column. */
typedef struct tsl_solve_side {
  TSL_INDEX offset, row_stride, col_stride;
} tsl_solve_side;

/* A block of the diagonal, with a lower triangle, and its rows of X, `cols` columns of them. `a_down`,
 * `x_down`: neighbours in memory are rows. */
typedef struct tsl_solve_block {
  TSL_INDEX rows, cols;
  tsl_solve_side a, x;
  int is_unit, conjugates, a_down, x_down;
} tsl_solve_block;

/* To = alpha From. */
typedef struct tsl_solve_copy {
  TSL_INDEX rows, cols;
  tsl_solve_side from, to;
} tsl_solve_copy;

#endif
