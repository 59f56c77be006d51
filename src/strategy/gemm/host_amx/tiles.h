/* Tiles of C in vector registers, as text: up to 14 rows by two vectors of 32-bit sums. A file that includes it has the
 * words VECTOR, LANES, LOAD, STORE, BROADCAST (one unit in every place), DOT (sum + the products of two units) and ADD.
 * For each unit: two loads of b, a broadcast of a for each row, and two dot instructions for each of these. */
#include "strategy/gemm/host_amx/kernels.h"

#include <string.h>

/* Rows of A, as they lie or copied so: five pointers and one step reach up to fifteen of them. */
typedef struct places {
  const unsigned char *at[5];
  int64_t row;
} places;

static inline __attribute__((always_inline)) uint32_t unit_of(const places *in, int i) {
  uint32_t unit;
  memcpy(&unit, in->at[i / 3] + i % 3 * in->row, sizeof unit);
  return unit;
}

static inline __attribute__((always_inline)) void multiply_rows(const tsl_amx_tile *tile, const int rows,
                                                                const bool by_rows) {
  const uint32_t *a = tile->a, *b = tile->b;
  places in = {.row = tile->a_row};
#pragma GCC unroll 5
  for (int i = 0; i < 5; i++)
    in.at[i] = (const unsigned char *)a + 3 * i * in.row;
  VECTOR sum[14][2];
  const VECTOR start_0 = tile->start ? LOAD(tile->start) : ZERO,
               start_1 = tile->start ? LOAD(tile->start + LANES) : ZERO;
#pragma GCC unroll 14
  for (int i = 0; i < rows; i++) {
    sum[i][0] = start_0;
    sum[i][1] = start_1;
  }
  for (int64_t u = tile->units; u > 0; u--) {
    const VECTOR b_0 = LOAD(b), b_1 = LOAD(b + LANES);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
      const uint32_t one = by_rows ? unit_of(&in, i) : a[i];
      const VECTOR unit = BROADCAST(&one);
      sum[i][0] = DOT(sum[i][0], unit, b_0);
      sum[i][1] = DOT(sum[i][1], unit, b_1);
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
      in.at[i] += 4;
    a += rows;
    b += 2 * LANES;
  }
#pragma GCC unroll 14
  for (int i = 0; i < rows; i++) {
    const uint32_t *const sums = tile->sums + i * 2 * LANES;
    uint32_t *const out = tile->out + i * tile->out_row;
    STORE(out, tile->goes_on ? ADD(LOAD(sums), sum[i][0]) : sum[i][0]);
    STORE(out + LANES, tile->goes_on ? ADD(LOAD(sums + LANES), sum[i][1]) : sum[i][1]);
  }
}

static inline __attribute__((always_inline)) void multiply_any(const tsl_amx_tile *tile, const int rows) {
  if (tile->a_step == 1)
    multiply_rows(tile, rows, true);
  else
    multiply_rows(tile, rows, false);
}

static void rows_1(const tsl_amx_tile *tile) {
  multiply_any(tile, 1);
}
static void rows_2(const tsl_amx_tile *tile) {
  multiply_any(tile, 2);
}
static void rows_3(const tsl_amx_tile *tile) {
  multiply_any(tile, 3);
}
static void rows_4(const tsl_amx_tile *tile) {
  multiply_any(tile, 4);
}
static void rows_5(const tsl_amx_tile *tile) {
  multiply_any(tile, 5);
}
static void rows_6(const tsl_amx_tile *tile) {
  multiply_any(tile, 6);
}
#define ROWS_TO_6 rows_1, rows_2, rows_3, rows_4, rows_5, rows_6
#ifdef HAS_14_ROWS
static void rows_7(const tsl_amx_tile *tile) {
  multiply_any(tile, 7);
}
static void rows_8(const tsl_amx_tile *tile) {
  multiply_any(tile, 8);
}
static void rows_9(const tsl_amx_tile *tile) {
  multiply_any(tile, 9);
}
static void rows_10(const tsl_amx_tile *tile) {
  multiply_any(tile, 10);
}
static void rows_11(const tsl_amx_tile *tile) {
  multiply_any(tile, 11);
}
static void rows_12(const tsl_amx_tile *tile) {
  multiply_any(tile, 12);
}
static void rows_13(const tsl_amx_tile *tile) {
  multiply_any(tile, 13);
}
static void rows_14(const tsl_amx_tile *tile) {
  multiply_any(tile, 14);
}
#define ALL_ROWS ROWS_TO_6, rows_7, rows_8, rows_9, rows_10, rows_11, rows_12, rows_13, rows_14
#else
#define ALL_ROWS ROWS_TO_6
#endif
