/* Micro-kernels in vector registers, included by host_amx_dot.c: up to TILE_ROWS_MAX rows by two vectors of
 * 32-bit sums. The including file defines
 *
 *   VECTOR            f32 or i32: type of a sum
 *   DOT(sum, a, b)    sum + the products of two units in each lane
 *   OWN(word)         a name of this kind of kernel
 *
 * A step has two loads of b, and for each row a broadcast of a and two dot instructions. */
#define vector JOIN(vector_, VECTOR)
#define load JOIN(load_word_, VECTOR)
#define store JOIN(store_word_, VECTOR)
#define set JOIN(set_word_, VECTOR)
#define add JOIN(add_, VECTOR)

/* Rows of A in memory or copied as rows: five pointers and one step address up to fifteen rows. */
typedef struct OWN(row_addresses) {
  const unsigned char *at[5];
  int64_t row;
} OWN(row_addresses);

TSL_INLINE uint32_t OWN(unit_of)(const OWN(row_addresses) * in, int i) {
  uint32_t unit;
  memcpy(&unit, in->at[i / 3] + i % 3 * in->row, sizeof unit);
  return unit;
}

TSL_INLINE void OWN(multiply_rows)(const tsl_amx_tile *tile, const int rows, const bool by_rows) {
  const uint32_t *a = tile->a, *b = tile->b;
  OWN(row_addresses) in = {.row = tile->a_row};
#pragma GCC unroll 5
  for (int i = 0; i < 5; i++)
    in.at[i] = (const unsigned char *)a + 3 * i * in.row;
  vector sum[TILE_ROWS_MAX][2];
  const vector start_0 = tile->start ? load(tile->start) : (vector){0},
               start_1 = tile->start ? load(tile->start + LANES_f32) : (vector){0};
#pragma GCC unroll 14
  for (int i = 0; i < rows; i++) {
    sum[i][0] = start_0;
    sum[i][1] = start_1;
  }
  for (int64_t u = tile->units; u > 0; u--) {
    const vector b_0 = load(b), b_1 = load(b + LANES_f32);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
      const uint32_t one = by_rows ? OWN(unit_of)(&in, i) : a[i];
      const vector unit = set(one);
      sum[i][0] = DOT(sum[i][0], unit, b_0);
      sum[i][1] = DOT(sum[i][1], unit, b_1);
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
      in.at[i] += 4;
    a += rows;
    b += 2 * LANES_f32;
  }
#pragma GCC unroll 14
  for (int i = 0; i < rows; i++) {
    const uint32_t *const sums = tile->sums + i * 2 * LANES_f32;
    uint32_t *const out = tile->out + i * tile->out_row;
    store(out, tile->adds_to_sums ? add(load(sums), sum[i][0]) : sum[i][0]);
    store(out + LANES_f32, tile->adds_to_sums ? add(load(sums + LANES_f32), sum[i][1]) : sum[i][1]);
  }
}

TSL_INLINE void OWN(multiply_any)(const tsl_amx_tile *tile, const int rows) {
  if (tile->a_step == 1)
    OWN(multiply_rows)(tile, rows, true);
  else
    OWN(multiply_rows)(tile, rows, false);
}

#define TILE_TEXT "strategy/gemm/host/host_amx/kernels/dot_rows.h"
#include "host/tile_rows.h"
#define TILE_ENTRIES
static tsl_amx_tile_function *const OWN(tiles)[] = {
#include "host/tile_rows.h"
};
#undef TILE_ENTRIES
#undef TILE_TEXT
#undef vector
#undef load
#undef store
#undef set
#undef add
