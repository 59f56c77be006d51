/* Idea: each work-item computes a whole row of C, element after element, from global memory. Beyond
 * `element`: fewer items with more work. An item reads its row of A again for each element, from its own
 * cache; all items of a group read the same element of B at the same time.
 *
 *              B   | column j           group gx of ITEMS items; item x owns row i = gx ITEMS + x
 *                  v
 *   A              C                    for each j: C(i,j) = sum over l of A(i,l) B(l,j)
 *   i ------->     i * * * j . . .
 *   i+1 ----->     i+1 * * j . . .      adjacent items are a row apart in A and C: their addresses are
 *   ...            ...                  adjacent only if A and C are column-major
 *
 * Any sizes and strides. If dimension 0 has fewer groups than C needs, each item advances to further rows.
 * Limits: only m items, so a device with many lanes is idle. */
#include "kernel_dot.h"
#include "kernel_epilogue.h"
#include "kernel_gemm.h"

TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_gemm_row(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
             TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(0); row < g.m; row += (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_ITEMS)
    for (TSL_INDEX col = 0; col < g.n; col++) {
      const TSL_REAL sum = tsl_dot(a + g.a_offset + row * g.a_row_stride, g.a_col_stride,
                                   b + g.b_offset + col * g.b_col_stride, g.b_row_stride, g.k);
      tsl_store_scaled(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, sum, g.alpha, g.beta);
    }
}
