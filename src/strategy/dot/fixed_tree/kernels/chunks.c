/* The sums of one chunk: steps 1 to 3 of the tree (fixed_tree.h).
 *
 * A row is a few vectors of doubles, each number of them a lane: adding row after row keeps the lanes' order whatever the
 * width of a vector is. Terms that are not side by side, or that do not fill the chunk, are brought together first. */
#include "strategy/dot/fixed_tree/fixed_tree.h"
#include "strategy/narrow.h"

#include "host/simd.h"

#include <string.h>

enum {
  WIDTH = LANES_f64,
  F32_LANES = TSL_TREE_ROW_BYTES / 4,    /* of a row */
  F64_LANES = TSL_TREE_ROW_BYTES / 8,    /* of a row */
  F32_VECTORS = F32_LANES / WIDTH,       /* of a row, widened */
  F64_VECTORS = F64_LANES / WIDTH,       /* of a row */
  F32_CHUNK = TSL_TREE_ROWS * F32_LANES, /* terms */
  F64_CHUNK = TSL_TREE_ROWS * F64_LANES, /* terms */
  PREFETCHED = 2048,                     /* bytes */
};

typedef vector_f64 vector;

/* sum + a b where a double holds the product: the same, but without a call where there is no instruction. */
static inline vector added(vector sum, vector a, vector b) {
#if HAS_FUSED
  return fused_f64(a, b, sum);
#else
  return sum + a * b;
#endif
}

/* Prefetches what comes PREFETCHED bytes later: hardware looks no further than a page, and only as far as the instructions
 * that are under way reach. */
static inline void prefetch(const void *x, const void *y) {
  for (int line = 0; line < TSL_TREE_ROW_BYTES; line += 64) {
    __builtin_prefetch((const char *)x + PREFETCHED + line);
    __builtin_prefetch((const char *)y + PREFETCHED + line);
  }
}

/* `count` numbers side by side, and zeros to the end of the row; or where they are, if they are that already. */
static const float *gather_f32(const tsl_tree_numbers *from, int count, float *to) {
  const float *const at = from->at;
  if (from->type == TESELA_F32 && from->stride == 1 && count % F32_LANES == 0)
    return at;
  if (from->type != TESELA_F32)
    tsl_narrow_gather(from->type, from->at, from->stride, count, to);
  for (int i = 0; from->type == TESELA_F32 && i < count; i++)
    to[i] = at[i * from->stride];
  for (int i = count; i % F32_LANES != 0; i++)
    to[i] = 0;
  return to;
}

static const double *gather_f64(const tsl_tree_numbers *from, int count, double *to) {
  const double *const at = from->at;
  int i = 0;
  if (from->stride == 1 && count % F64_LANES == 0)
    return at;
  for (; i < count; i++)
    to[i] = at[i * from->stride];
  for (; i % F64_LANES != 0; i++)
    to[i] = 0;
  return to;
}

/* Rows to lanes to columns to the sum. */
static tsl_tree_sum rows_f32(const float *x, const float *y, int rows) {
  enum { EACH = F32_LANES / TSL_TREE_COLUMNS };
  vector sum[F32_VECTORS] = {{0}};
  double lane[F32_LANES], column[TSL_TREE_COLUMNS];
  for (int r = 0; r < rows; r++, x += F32_LANES, y += F32_LANES) {
    prefetch(x, y);
    for (int v = 0; v < F32_VECTORS; v++)
      sum[v] = added(sum[v], widen_f64(x + v * WIDTH), widen_f64(y + v * WIDTH));
  }
  memcpy(lane, sum, sizeof lane);
  for (int j = 0; j < TSL_TREE_COLUMNS; j++)
    column[j] = (lane[EACH * j] + lane[EACH * j + 1]) + (lane[EACH * j + 2] + lane[EACH * j + 3]);
  for (int half = TSL_TREE_COLUMNS / 2; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      column[j] += column[j + half];
  return (tsl_tree_sum){column[0], 0};
}

static tsl_tree_sum rows_f64(const double *x, const double *y, int rows) {
  vector high[F64_VECTORS] = {{0}}, low[F64_VECTORS] = {{0}};
  double highs[F64_LANES], lows[F64_LANES];
  tsl_tree_sum column[TSL_TREE_COLUMNS];
  for (int r = 0; r < rows; r++, x += F64_LANES, y += F64_LANES) {
    prefetch(x, y);
    for (int v = 0; v < F64_VECTORS; v++) {
      const vector a = load_f64(x + v * WIDTH), b = load_f64(y + v * WIDTH);
      const vector product = a * b, error = fused_f64(a, b, -product);
      const vector sum = high[v] + product, part = sum - high[v];
      const vector lost = (high[v] - (sum - part)) + (product - part);
      high[v] = sum;
      low[v] += lost + error;
    }
  }
  memcpy(highs, high, sizeof highs);
  memcpy(lows, low, sizeof lows);
  for (int j = 0; j < TSL_TREE_COLUMNS; j++)
    column[j] = tsl_tree_join((tsl_tree_sum){highs[2 * j], lows[2 * j]},
                              (tsl_tree_sum){highs[2 * j + 1], lows[2 * j + 1]});
  for (int half = TSL_TREE_COLUMNS / 2; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      column[j] = tsl_tree_join(column[j], column[j + half]);
  return column[0];
}

/* Rows of zeros are left out. */
static tsl_tree_sum chunk_f32(const tsl_tree_numbers *x, const tsl_tree_numbers *y, int count) {
  _Alignas(64) float x_row[F32_CHUNK], y_row[F32_CHUNK];
  return rows_f32(gather_f32(x, count, x_row), gather_f32(y, count, y_row),
                  (count + F32_LANES - 1) / F32_LANES);
}

static tsl_tree_sum chunk_f64(const tsl_tree_numbers *x, const tsl_tree_numbers *y, int count) {
  _Alignas(64) double x_row[F64_CHUNK], y_row[F64_CHUNK];
  return rows_f64(gather_f64(x, count, x_row), gather_f64(y, count, y_row),
                  (count + F64_LANES - 1) / F64_LANES);
}

const tsl_tree_functions TSL_ISA_NAME(tsl_tree_functions) = {chunk_f32, chunk_f64};
