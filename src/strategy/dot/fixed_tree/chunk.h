/* The sums of one chunk, as text: steps 1 to 3 of the tree (fixed_tree.h). Included with VECTOR_BYTES, the size of a
 * vector register, by files that differ in their compiler flags.
 *
 * A row is a few vectors of doubles, each number of them a lane: adding row after row keeps the lanes' order whatever the
 * width of a vector is. Terms that are not side by side, or that do not fill the chunk, are brought together first. */
#include "strategy/dot/fixed_tree/fixed_tree.h"
#include "strategy/narrow.h"

#include <math.h>
#include <string.h>
#if defined(__FMA__)
#include <immintrin.h>
#endif

enum {
  WIDTH = VECTOR_BYTES / 8,              /* doubles of a vector */
  F32_LANES = TSL_TREE_ROW_BYTES / 4,    /* of a row */
  F64_LANES = TSL_TREE_ROW_BYTES / 8,    /* of a row */
  F32_VECTORS = F32_LANES / WIDTH,       /* of a row, widened */
  F64_VECTORS = F64_LANES / WIDTH,       /* of a row */
  F32_CHUNK = TSL_TREE_ROWS * F32_LANES, /* terms */
  F64_CHUNK = TSL_TREE_ROWS * F64_LANES, /* terms */
  AHEAD = 2048,
};

/* Vectors of the compiler's own: in a register, and as they are found in memory. */
typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

static inline vector widened(const float *from) {
#if defined(__AVX512F__) && VECTOR_BYTES == 64
  return (vector)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__) && VECTOR_BYTES == 32
  return (vector)_mm256_cvtps_pd(_mm_loadu_ps(from)); /* gcc 12 would widen it by halves */
#else
  return __builtin_convertvector(*(const floats *)from, vector);
#endif
}

/* a b + c, rounded once. */
static inline vector fused(vector a, vector b, vector c) {
#if defined(__AVX512F__) && VECTOR_BYTES == 64
  return (vector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__) && VECTOR_BYTES == 32
  return (vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  vector out;
  for (int i = 0; i < WIDTH; i++)
    out[i] = fma(a[i], b[i], c[i]);
  return out;
#endif
}

/* sum + a b where a double holds the product: the same, but without a call where there is no instruction. */
static inline vector added(vector sum, vector a, vector b) {
#if defined(__FMA__)
  return fused(a, b, sum);
#else
  return sum + a * b;
#endif
}

/* Asks for what comes AHEAD bytes later: hardware looks no further than a page, and only as far as the instructions
 * that are under way reach. */
static inline void prefetch(const void *x, const void *y) {
  for (int line = 0; line < TSL_TREE_ROW_BYTES; line += 64) {
    __builtin_prefetch((const char *)x + AHEAD + line);
    __builtin_prefetch((const char *)y + AHEAD + line);
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
      sum[v] = added(sum[v], widened(x + v * WIDTH), widened(y + v * WIDTH));
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
      const vector a = *(const doubles *)(x + v * WIDTH), b = *(const doubles *)(y + v * WIDTH);
      const vector product = a * b, rest = fused(a, b, -product);
      const vector sum = high[v] + product, part = sum - high[v];
      const vector lost = (high[v] - (sum - part)) + (product - part);
      high[v] = sum;
      low[v] += lost + rest;
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
