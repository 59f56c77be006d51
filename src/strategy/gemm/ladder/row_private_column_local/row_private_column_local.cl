/* Idea: as `row_private`, but the work-group loads each panel of a column of B into local memory before its
 * items multiply. Beyond `row_private`: an element of B is read from global memory once a group instead of
 * once an item.
 *
 *              B   | column j           for each panel p of A's rows:
 *         p  +-----+-------+              private a[PANEL] = A(i, p), zeros beyond k and beyond m
 *            |     v       |              for each column j:
 *            +-------------+                item x loads B(p + x, j), B(p + x + ITEMS, j), ... to column
 *   A    p                                  barrier
 *   i  |----|----|--                        sum = a[0] column[0] + ... + a[PANEL-1] column[PANEL-1]
 *   ...                                     barrier
 *   i+ITEMS-1                               C(i,j) = alpha sum + (first panel ? beta : 1) C(i,j)
 *
 * Items whose row lies beyond m multiply zeros, so that every item reaches every barrier. As in
 * `row_private`, C keeps the sums between panels, and only the first panel uses beta.
 *
 * Local memory: PANEL elements. Any sizes and strides. If dimension 0 has fewer groups than C needs, each
 * group advances to further rows. Limits: only m items; two barriers for PANEL products of an item. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "panel.h"

TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_gemm_row_private_column_local(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a,
                                  TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                                  TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_REAL column[TSL_PARAM_PANEL];
  const TSL_INDEX step = (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_ITEMS;
  for (TSL_INDEX row0 = (TSL_INDEX)TSL_GROUP(0) * TSL_PARAM_ITEMS; row0 < g.m; row0 += step) {
    const TSL_INDEX row = row0 + TSL_ITEM(0);
    for (TSL_INDEX l = 0; l == 0 || l < g.k; l += TSL_PARAM_PANEL) {
      const int count = tsl_panel_length(l, g.k);
      TSL_REAL panel[TSL_PARAM_PANEL];
      tsl_panel_load(panel, a + g.a_offset + row * g.a_row_stride + l * g.a_col_stride, g.a_col_stride,
                     row < g.m ? count : 0);
      for (TSL_INDEX col = 0; col < g.n; col++) {
        TSL_GLOBAL const TSL_REAL *b_column = b + g.b_offset + l * g.b_row_stride + col * g.b_col_stride;
        for (int i = TSL_ITEM(0); i < TSL_PARAM_PANEL; i += TSL_PARAM_ITEMS)
          column[i] = i < count ? b_column[i * g.b_row_stride] : (TSL_REAL)0;
        TSL_BARRIER();
        TSL_REAL sum = 0;
        TSL_UNROLL
        for (int i = 0; i < TSL_PARAM_PANEL; i++)
          sum = TSL_FMA(panel[i], column[i], sum);
        TSL_BARRIER();
        if (row < g.m)
          tsl_store_scaled(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, sum, g.alpha,
                           l == 0 ? g.beta : (TSL_REAL)1);
      }
    }
  }
}
