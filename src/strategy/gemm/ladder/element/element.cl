/* Idea: each work-item computes one element of C from global memory, with a private sum. Beyond `sequential`:
 * all elements of C in parallel.
 *
 *             n                 group (gx, gy) of COLUMNS x ROWS items; item (x, y) owns C(row, col):
 *        +---------+
 *      m |  . x .  |  C           col = gx COLUMNS + x    dimension 0: adjacent items read adjacent elements
 *        +---------+                                      of B, and one element of A serves a row of items
 *                                 row = gy ROWS + y       dimension 1
 *
 * Any sizes and strides. If dimension 1 has fewer groups than C needs, each item advances to further rows. */
#include "kernel_dot.h"
#include "kernel_epilogue.h"
#include "kernel_gemm.h"

TSL_KERNEL(TSL_PARAM_COLUMNS, TSL_PARAM_ROWS, 1)
tsl_gemm_element(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                 TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0);
  if (col >= g.n)
    return;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < g.m; row += (TSL_INDEX)TSL_GROUPS(1) * TSL_PARAM_ROWS) {
    const TSL_REAL sum = tsl_dot(a + g.a_offset + row * g.a_row_stride, g.a_col_stride,
                                 b + g.b_offset + col * g.b_col_stride, g.b_row_stride, g.k);
    tsl_store_scaled(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, sum, g.alpha, g.beta);
  }
}
