/* Micro-kernel: one tile of C in registers. Included once per number of rows and vectors (host/tiles.h).
 * Loops over the tile have constant length and are unrolled. Each step of k has TILE_VECTORS loads of b,
 * TILE_ROWS broadcasts of a, and a multiply-add for each pair. A complex tile has twice the rows.
 *
 * Rows of a are addressed from pointers, five rows each: one, two and four strides are x86 addressing modes,
 * three strides are kept in a register. An empty asm statement hides this: else a compiler makes a pointer of
 * each row and spills registers. Every few steps a row of C and some lines of the next data are prefetched:
 * all at once would delay the loads of b. */
static void TILE_NAME(TILE_ROWS, TILE_VECTORS)(tsl_packed_tile *tile) {
  enum { LANES = NAME(LANES), EDGE = (TILE_VECTORS - 1) * LANES, POINTERS = (TILE_ROWS + 4) / 5 };
  enum { ROW = TILE_VECTORS * LANES, IN_LINE = TSL_CACHE_LINE / sizeof(REAL) };
  const int64_t size = COMPONENTS * sizeof(REAL), a_step = tile->a_step * size,
                b_step = tile->b_step * COMPONENTS, c_row = tile->c_row * COMPONENTS;
  int64_t stride = tile->a_row * size, three = 3 * stride;
  const char *a[POINTERS];
  const REAL *b = tile->b;
  REAL *c = tile->c;
  tsl_packed_prefetch prefetch = tile->prefetch;
  const REAL *c_prefetch = c, *const c_last = c + (TILE_ROWS - 1) * c_row;
  NAME(vector) sum[TILE_ROWS * COMPONENTS][TILE_VECTORS];
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] = (const char *)tile->a + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < TILE_ROWS * COMPONENTS; i++) {
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = (NAME(vector)){0};
  }
  int64_t l = tile->kc;
  for (; l >= PACKED_STEPS; l -= PACKED_STEPS) {
    if (l % TSL_PACKED_PREFETCH_STEPS < PACKED_STEPS) {
      for (int64_t i = tile->c_prefetch_rows; i > 0; i--) {
        TSL_UNROLL for (int j = 0; j < ROW; j += IN_LINE) __builtin_prefetch(c_prefetch + j, 1);
        __builtin_prefetch(c_prefetch + ROW - 1, 1);
        c_prefetch += c_prefetch == c_last ? 0 : c_row;
      }
      prefetch_some(&prefetch);
    }
    TSL_UNROLL for (int step = 0; step < PACKED_STEPS; step++) {
#include "strategy/gemm/host/host_packed/kernels/host_packed_tile_step.h"
    }
  }
  for (; l > 0; l--) {
#include "strategy/gemm/host/host_packed/kernels/host_packed_tile_step.h"
  }
  tile->prefetch = prefetch;
  const int64_t last = tile->columns * COMPONENTS - EDGE;
  const bool is_plain = COMPONENTS == 1 && tile->is_plain,
             alpha_is_one = COMPONENTS == 2 && tile->alpha[0] == 1 && tile->alpha[1] == 0;
  if (alpha_is_one)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] =
          join_sums(tile->signs, sum[i * COMPONENTS][j], sum[i * COMPONENTS + COMPONENTS - 1][j]);
    }
  else if (!is_plain)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] =
          scaled(tile->alpha,
                 join_sums(tile->signs, sum[i * COMPONENTS][j], sum[i * COMPONENTS + COMPONENTS - 1][j]));
    }
  if (tile->c_column != 1) {
    REAL sums[TILE_VECTORS * LANES];
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) NAME(store)(sums + j * LANES, sum[i][j]);
      scatter(sums, tile->columns, c, tile->c_column, tile->beta);
    }
  } else if (is_zero(tile->beta))
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) NAME(store)(c + j * LANES, sum[i][j]);
      NAME(store_edge)(c + EDGE, sum[i][TILE_VECTORS - 1], last);
    }
  else if (is_plain) {
    const REAL sign = (REAL)tile->alpha[0];
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
          NAME(store)(c + j * LANES, NAME(fma)(NAME(load)(c + j * LANES), sign, sum[i][j]));
      NAME(store_edge)
      (c + EDGE, NAME(fma)(NAME(load_edge)(c + EDGE, last), sign, sum[i][TILE_VECTORS - 1]), last);
    }
  } else
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
          NAME(store)(c + j * LANES, added(sum[i][j], tile->beta, NAME(load)(c + j * LANES)));
      NAME(store_edge)
      (c + EDGE, added(sum[i][TILE_VECTORS - 1], tile->beta, NAME(load_edge)(c + EDGE, last)), last);
    }
}
