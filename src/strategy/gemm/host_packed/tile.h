/* One tile of C in registers, as text: included once per number of rows and of vectors (tile_rows.h), with TILE_ROWS
 * and TILE_VECTORS. The loops over the tile are of constant length and vanish; what remains is, for each step along
 * the panel, TILE_VECTORS loads of b, TILE_ROWS broadcasts of a, and a multiply-add for each pair.
 *
 * Rows of a are found from three addresses, five rows from each: one, two and four strides further are addresses that
 * x86 computes in the load, three is kept. Compilers that see through this make an address of each row, and run out
 * of registers; an empty instruction keeps them from it.
 *
 * Every few steps a row of C, which is needed at the end, and some lines of what is needed after this tile are asked
 * for: all at once they would hold up the loads of b. */
static void TILE_NAME(TILE_ROWS, TILE_VECTORS, SUFFIX)(tsl_packed_tile *tile) {
  enum { LANES = NAME(LANES), EDGE = (TILE_VECTORS - 1) * LANES, POINTERS = (TILE_ROWS + 4) / 5 };
  const int64_t a_step = tile->a_step * (int64_t)sizeof(REAL), b_step = tile->b_step;
  int64_t stride = tile->a_row * (int64_t)sizeof(REAL), three = 3 * stride;
  const char *a[POINTERS];
  const REAL *b = tile->b;
  tsl_packed_ahead ahead = tile->ahead;
  const REAL *c_wanted = tile->c, *const c_last = c_wanted + (TILE_ROWS - 1) * tile->c_row;
  NAME(vector) sum[TILE_ROWS][TILE_VECTORS];
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] = (const char *)tile->a + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = (NAME(vector)){0};
  }
  int64_t l = tile->depth;
  for (; l >= TILE_STEPS; l -= TILE_STEPS) {
    if (l % TSL_PACKED_PREFETCH_STEPS < TILE_STEPS) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) __builtin_prefetch(c_wanted + j * LANES, 1);
      c_wanted += c_wanted == c_last ? 0 : tile->c_row;
      NAME(look_ahead)(&ahead);
    }
    TSL_UNROLL for (int step = 0; step < TILE_STEPS; step++) {
#include "strategy/gemm/host_packed/tile_step.h"
    }
  }
  for (; l > 0; l--) {
#include "strategy/gemm/host_packed/tile_step.h"
  }
  tile->ahead = ahead;
  const int64_t last = tile->columns - EDGE;
  const REAL alpha = (REAL)tile->alpha[0], beta = (REAL)tile->beta[0];
  REAL *c = tile->c;
  if (tile->c_column != 1) {
    NAME(vector) sums[TILE_ROWS][TILE_VECTORS];
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sums[i][j] = sum[i][j];
    }
    NAME(scatter)(tile, TILE_ROWS, TILE_VECTORS, sums[0]);
  } else if (beta == 0)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += tile->c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) NAME(store)(c + j * LANES, alpha * sum[i][j]);
      NAME(store_edge)(c + EDGE, alpha * sum[i][TILE_VECTORS - 1], last);
    }
  else
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += tile->c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
          NAME(store)(c + j * LANES, beta * NAME(load)(c + j * LANES) + alpha * sum[i][j]);
      NAME(store_edge)
      (c + EDGE, beta * NAME(load_edge)(c + EDGE, last) + alpha * sum[i][TILE_VECTORS - 1], last);
    }
}
