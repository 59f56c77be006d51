/* Micro-kernel: one tile of C in registers; host_packed_tile.h explains the addresses of a. Included once per
 * number of rows and vectors (host/tiles.h). Four steps share the addresses of a's contiguous elements. */
static void TILE_NAME(TILE_ROWS, TILE_VECTORS)(const tsl_skinny_tile *tile, const void *a_at,
                                               const void *b_at, void *c_at) {
  enum {
    LANES = NAME(LANES),
    POINTERS = (TILE_ROWS + 4) / 5,
    LINES = (TILE_VECTORS * VECTOR_BYTES + 63) / 64
  };
  const int64_t a_step = tile->a_step, b_step = tile->b_step, c_row = tile->c_row;
  int64_t stride = tile->a_row, three = 3 * stride, l = tile->depth;
  const char *a[POINTERS], *b = b_at;
  NAME(vector) sum[TILE_ROWS][TILE_VECTORS];
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] = (const char *)a_at + 5 * i * stride;
  if (tile->goes_on) {
    const char *from = c_at;
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, from += c_row) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] =
          NAME(load)((const REAL *)(const void *)from + j * LANES);
    }
  } else
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = (NAME(vector)){0};
    }
  if (tile->c_ahead != 0) {
    const char *line_start = (const char *)c_at + tile->c_ahead;
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, line_start += c_row) {
      TSL_UNROLL for (int line = 0; line < LINES; line++) __builtin_prefetch(line_start + 64 * line, 1);
    }
  }
  if (a_step == sizeof(REAL) && tile->asks == 0)
    for (; l >= 4; l -= 4) {
#include "host/tile_steps.h"
    }
  else if (a_step == sizeof(REAL)) {
    const int64_t asks = tile->asks;
    const char *wanted = b + tile->b_ahead;
    for (; l >= 4; l -= 4) {
      for (int64_t asked = 0; asked < asks; asked++, wanted += b_step)
        if (tile->is_near)
          TSL_UNROLL for (int line = 0; line < LINES; line++) __builtin_prefetch(wanted + 64 * line, 0, 3);
        else
          TSL_UNROLL for (int line = 0; line < LINES; line++) __builtin_prefetch(wanted + 64 * line, 0, 2);
#include "host/tile_steps.h"
    }
  }
  for (; l > 0; l--) {
#define STEP_AT 0
#include "host/tile_step.h"
#undef STEP_AT
    TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
  }
  if (tile->scales) {
    const REAL alpha = (REAL)tile->alpha;
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] *= alpha;
    }
  }
  char *c[POINTERS];
  const bool adds = tile->adds;
  const REAL beta = (REAL)tile->beta;
  stride = c_row;
  three = 3 * stride;
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) c[i] = (char *)c_at + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(c[i]), "+r"(stride), "+r"(three));
#define ROW_AT (REAL *)(void *)(c[i / 5] + (i % 5 == 3 ? three : i % 5 * stride))
  if (!adds)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      REAL *const row = ROW_AT;
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) NAME(store)(row + j * LANES, sum[i][j]);
    }
  else if (tile->plain > 0)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      REAL *const row = ROW_AT;
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++)
          NAME(store)(row + j * LANES, NAME(load)(row + j * LANES) + sum[i][j]);
    }
  else if (tile->plain < 0)
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      REAL *const row = ROW_AT;
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++)
          NAME(store)(row + j * LANES, NAME(load)(row + j * LANES) - sum[i][j]);
    }
  else
    TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
      REAL *const row = ROW_AT;
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++)
          NAME(store)(row + j * LANES, NAME(fma)(sum[i][j], beta, NAME(load)(row + j * LANES)));
    }
#undef ROW_AT
}
