/* Idea: the work-group loads a TILE x TILE tile of A and of B into local memory, multiplies them, and
 * advances along k. Beyond `element`: an element from global memory serves TILE items, so that traffic falls
 * by TILE.
 *
 *              B   |     +------+         for each step l of TILE along k:
 *                l |     | TILE |           item (x, y) loads A(row0 + y, l + x), B(l + y, col0 + x)
 *                  v     +------+           barrier
 *   A   l ->                                sum += A(y, i) B(i, x) for i = 0 .. TILE - 1
 *   +------+             +------+           barrier
 *   | TILE |             |  C   |         item (x, y) owns C(row0 + y, col0 + x)
 *   +------+             +------+
 *
 * If an operand is column-major, x and y are exchanged in its load, so that adjacent items always read
 * adjacent addresses. Rows of the tiles are padded by 16 bytes against bank conflicts.
 *
 * Local memory: 2 TILE (TILE * size + 16) bytes. Any sizes and strides. If dimension 1 has fewer groups than
 * C needs, each group advances to further rows. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "tile.h"

#define TILE TSL_PARAM_TILE
#define PITCH (TILE + 16 / (int)sizeof(TSL_REAL))

TSL_KERNEL(TILE, TILE, 1)
tsl_gemm_tile_local(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                    TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_REAL a_tile[TILE][PITCH];
  TSL_LOCAL TSL_REAL b_tile[TILE][PITCH];
  const int x = TSL_ITEM(0), y = TSL_ITEM(1);
  const bool a_down = g.a_row_stride == 1, b_down = g.b_row_stride == 1;
  const int a_row = a_down ? x : y, a_col = a_down ? y : x;
  const int b_row = b_down ? x : y, b_col = b_down ? y : x;
  const TSL_INDEX col0 = (TSL_INDEX)TSL_GROUP(0) * TILE;

  for (TSL_INDEX row0 = (TSL_INDEX)TSL_GROUP(1) * TILE; row0 < g.m; row0 += (TSL_INDEX)TSL_GROUPS(1) * TILE) {
    TSL_REAL sum = 0;
    for (TSL_INDEX l = 0; l < g.k; l += TILE) {
      a_tile[a_row][a_col] =
          tsl_load_or_zero(a + g.a_offset, row0 + a_row, l + a_col, g.m, g.k, g.a_row_stride, g.a_col_stride);
      b_tile[b_row][b_col] =
          tsl_load_or_zero(b + g.b_offset, l + b_row, col0 + b_col, g.k, g.n, g.b_row_stride, g.b_col_stride);
      TSL_BARRIER();
      TSL_UNROLL
      for (int i = 0; i < TILE; i++)
        sum = TSL_FMA(a_tile[y][i], b_tile[i][x], sum);
      TSL_BARRIER();
    }
    const TSL_INDEX row = row0 + y, col = col0 + x;
    if (row < g.m && col < g.n)
      tsl_store_scaled(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, sum, g.alpha, g.beta);
  }
}
