/* Arguments of device_blocked.cl, for host and kernel. The includer defines TSL_INDEX as int64. */
#ifndef TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_SHARED_H
#define TSL_STRATEGY_SOLVE_DEVICE_BLOCKED_SHARED_H

/* Rows of a tile; one item solves one column of it. */
#define SOLVE_TILE 16
/* Items of a group, and items across a panel, which share its columns; lines of items share its rows. */
#define SOLVE_ITEMS 256
#define SOLVE_ACROSS(columns) ((columns) < 16 ? 8 : 16)

#define SOLVE_COPY_ACROSS 32
#define SOLVE_COPY_LINES 8

/* Matrix: location of element (0, 0) and strides, in elements. */
typedef struct tsl_solve_side {
  TSL_INDEX offset, row_stride, col_stride;
} tsl_solve_side;

/* Diagonal block with a lower triangle, and its rows of X. `a_down`, `x_down`: rows have stride 1. */
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
