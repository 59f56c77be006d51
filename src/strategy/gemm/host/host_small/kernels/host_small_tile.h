/* Micro-kernel: one tile of C in registers; host_packed_tile.h explains the addresses of a. Included once per
 * number of rows and vectors (host/tiles.h). Four steps share the addresses of a's contiguous elements. */
static tesela_status TILE_NAME(TILE_ROWS, TILE_VECTORS)(const void *state, const void *a_at, const void *b_at,
                                                        void *c_at) {
  const tsl_small_tile *tile = state;
  const bool is_whole = tile->last == NAME(LANES) / COMPONENTS;
  const int64_t a_step = tile->a_step;
  if (tile->c_column != 1)
    return OWN(scatter)(TILE_NAME(TILE_ROWS, TILE_VECTORS), tile, TILE_ROWS, TILE_VECTORS, a_at, b_at, c_at);
  enum { LANES = NAME(LANES), EDGE = (TILE_VECTORS - 1) * LANES, POINTERS = (TILE_ROWS + 4) / 5 };
  const int64_t b_step = tile->b_step;
  int64_t stride = tile->a_row, three = 3 * stride;
  const char *a[POINTERS], *b = b_at;
  NAME(vector) sum[TILE_ROWS * COMPONENTS][TILE_VECTORS];
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] = (const char *)a_at + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    TSL_UNROLL for (int part = 0; part < COMPONENTS; part++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i * COMPONENTS + part][j] = (NAME(vector)){0};
    }
  }
  if (!is_whole) {
    const NAME(mask) mask = NAME(mask_of)(tile->last * COMPONENTS);
    for (int64_t l = tile->depth; l > 0; l--) {
#define LOAD_LAST(from) NAME(load_masked)(from, mask)
#define STEP_AT 0
#include "host/tile_step.h"
#undef STEP_AT
#undef LOAD_LAST
      TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
    }
  } else {
    int64_t l = tile->depth;
#define LOAD_LAST(from) NAME(load)(from)
    if (a_step == COMPONENTS * sizeof(REAL))
      for (; l >= 4; l -= 4) {
#include "host/tile_steps.h"
      }
    for (; l > 0; l--) {
#define STEP_AT 0
#include "host/tile_step.h"
#undef STEP_AT
      TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
    }
#undef LOAD_LAST
  }
#if COMPONENTS == 2
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] =
        join_sums(tile->signs, sum[2 * i][j], sum[2 * i + 1][j]);
  }
  if (tile->scales)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = scaled(tile->alpha, sum[i][j]);
    }
#define ADDED(sum, value) added(sum, tile->beta, value)
#else
  const REAL alpha = (REAL)tile->alpha[0], beta = (REAL)tile->beta[0];
#define ADDED(sum, value) NAME(fma)(sum, beta, value)
  if (tile->scales)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] *= alpha;
    }
#endif
  char *c[POINTERS];
  stride = tile->c_row * (int64_t)(COMPONENTS * sizeof(REAL));
  three = 3 * stride;
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) c[i] = (char *)c_at + 5 * i * stride;
  if (is_whole) {
#define LOAD_LAST(from) NAME(load)(from)
#define STORE_LAST(to, value) NAME(store)(to, value)
#include "strategy/gemm/host/host_small/kernels/tile_end.h"
#undef LOAD_LAST
#undef STORE_LAST
  } else {
    const NAME(mask) mask = NAME(mask_of)(tile->last * COMPONENTS);
#define LOAD_LAST(from) NAME(load_masked)(from, mask)
#define STORE_LAST(to, value) NAME(store_masked)(to, value, mask)
#include "strategy/gemm/host/host_small/kernels/tile_end.h"
#undef LOAD_LAST
#undef STORE_LAST
  }
#undef ADDED
  return TESELA_OK;
}
