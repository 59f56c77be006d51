/* Idea: each work-item computes a whole row of C, with its row of A in private memory, PANEL elements at a
 * time. Beyond `row`: each element of A is read from global memory once, where `row` reads it n times.
 *
 *              B   | column j           item x owns row i = gx ITEMS + x; for each panel p of A's row:
 *         p  +-----+-------+              private a[PANEL] = A(i, p), zeros beyond k
 *            |     v       |              for each j:
 *            +-------------+                sum = a[0] B(p,j) + ... + a[PANEL-1] B(p+PANEL-1,j)
 *   A    p                                  first panel: C(i,j) = alpha sum + beta C(i,j)
 *   i  |----|----|--                        later ones: C(i,j) = alpha sum + C(i,j)
 *
 * C keeps the sums between panels. Only the first panel uses beta, so that an uninitialised C is not read;
 * k = 0 is one empty panel. A product is rounded at most PANEL times in its panel, once with alpha, and once
 * for each panel.
 *
 * Any sizes and strides. If dimension 0 has fewer groups than C needs, each item advances to further rows.
 * Limits: only m items; a panel larger than the registers is in global memory in fact. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "panel.h"

/* Returns the panel times a column of B, of which only the first `count` elements may be read. */
TSL_FUNCTION TSL_REAL panel_dot(const TSL_REAL *panel, TSL_GLOBAL const TSL_REAL *b, TSL_INDEX stride,
                                int count) {
  TSL_REAL sum = 0;
  if (count == TSL_PARAM_PANEL) {
    TSL_UNROLL
    for (int i = 0; i < TSL_PARAM_PANEL; i++)
      sum = TSL_FMA(panel[i], b[i * stride], sum);
  } else {
    TSL_UNROLL
    for (int i = 0; i < TSL_PARAM_PANEL; i++)
      if (i < count)
        sum = TSL_FMA(panel[i], b[i * stride], sum);
  }
  return sum;
}

TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_gemm_row_private(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                     TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(0); row < g.m; row += (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_ITEMS)
    for (TSL_INDEX l = 0; l == 0 || l < g.k; l += TSL_PARAM_PANEL) {
      const int count = tsl_panel_length(l, g.k);
      TSL_REAL panel[TSL_PARAM_PANEL];
      tsl_panel_load(panel, a + g.a_offset + row * g.a_row_stride + l * g.a_col_stride, g.a_col_stride,
                     count);
      for (TSL_INDEX col = 0; col < g.n; col++) {
        const TSL_REAL sum = panel_dot(panel, b + g.b_offset + l * g.b_row_stride + col * g.b_col_stride,
                                       g.b_row_stride, count);
        tsl_store_scaled(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, sum, g.alpha,
                         l == 0 ? g.beta : (TSL_REAL)1);
      }
    }
}
