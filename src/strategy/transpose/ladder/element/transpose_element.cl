/* Idea: one work-item moves one element, C(row, col) = A(col, row). Dimension 0 runs along C's columns, so
 * that neighbours write neighbours; for row-major matrices they read A down a column, a cache line for
 * each number. It is the ladder's first rung: `tile_local` makes both sides contiguous.
 *
 *            A (n x m)                    C (m x n)
 *          +----|------+                +-----------+
 *          |    | col  |                |           |
 *          |    |      |   -->          |---row-----|     item (col, row)
 *          +----|------+                +-----------+
 *              row
 *
 * In place, the item of (row, col) above the diagonal exchanges C(row, col) and C(col, row); an item of the
 * diagonal scales. Parameters: columns and rows of a work-group. Any sizes and strides. */
#include "kernel_transpose.h"

#define GROUP_COLUMNS TSL_PARAM_COLUMNS
#define GROUP_ROWS TSL_PARAM_ROWS

#ifdef TSL_IN_PLACE
TSL_FUNCTION void move_element(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL tsl_element *c, TSL_INDEX row,
                               TSL_INDEX col, const tsl_transpose_arguments g) {
  const TSL_INDEX here = g.c_offset + row * g.c_row_stride + col * g.c_col_stride,
                  there = g.c_offset + col * g.c_row_stride + row * g.c_col_stride;
  if (row > col)
    return;
  const tsl_element upper = c[here], lower = c[there];
  c[here] = TSL_MOVED(lower);
  c[there] = TSL_MOVED(upper);
}
#else
TSL_FUNCTION void move_element(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL tsl_element *c, TSL_INDEX row,
                               TSL_INDEX col, const tsl_transpose_arguments g) {
  const TSL_INDEX from = g.a_offset + col * g.a_row_stride + row * g.a_col_stride;
  c[g.c_offset + row * g.c_row_stride + col * g.c_col_stride] = TSL_MOVED(a[from]);
}
#endif

TSL_KERNEL(GROUP_COLUMNS, GROUP_ROWS, 1)
tsl_transpose_element(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL tsl_element *c,
                      const tsl_transpose_arguments g) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0);
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < g.m && col < g.n;
       row += (TSL_INDEX)TSL_GROUPS(1) * GROUP_ROWS)
    move_element(a, c, row, col, g);
}
