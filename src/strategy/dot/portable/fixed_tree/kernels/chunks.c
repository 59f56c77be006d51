/* Sums of one chunk: steps 1 to 3 of the tree (fixed_tree.h). A row is several vectors of doubles, each
 * number in its own lane. So any vector width keeps the order of the lanes. Strided terms and incomplete rows
 * are first gathered on the stack, several rows at a time. */
#include "strategy/dot/portable/fixed_tree/fixed_tree.h"
#include "strategy/host_jobs/low_precision.h"

#include "host/simd.h"

#include <string.h>

enum {
  WIDTH = LANES_f64,
  F32_LANES = TSL_TREE_ROW_BYTES / 4, /* numbers of a row */
  F64_LANES = TSL_TREE_ROW_BYTES / 8, /* numbers of a row */
  F32_VECTORS = F32_LANES / WIDTH,    /* vectors of a row, as double */
  F64_VECTORS = F64_LANES / WIDTH,    /* vectors of a row */
  F32_GATHERED = 8 * F32_LANES,       /* terms gathered at a time */
  F64_GATHERED = 8 * F64_LANES,       /* terms gathered at a time */
  PREFETCHED = 2048,                  /* bytes */
};

typedef vector_f64 vector;

/* Returns sum + a b, equal to a fused operation, because a double holds the product. */
static inline vector add_product(vector sum, vector a, vector b) {
#if HAS_FUSED
  return fma_rounded_once_f64(a, b, sum);
#else
  return sum + a * b;
#endif
}

/* Prefetches PREFETCHED bytes ahead: hardware prefetch stops at page limits. */
static inline void prefetch(const void *x, const void *y) {
  for (int line = 0; line < TSL_TREE_ROW_BYTES; line += 64) {
    __builtin_prefetch((const char *)x + PREFETCHED + line);
    __builtin_prefetch((const char *)y + PREFETCHED + line);
  }
}

/* Returns true if the numbers can be used in place: contiguous, of `type`, and whole rows. */
static inline bool are_whole_rows(const tsl_tree_numbers *from, tesela_type type, int lanes, int count) {
  return from->type == type && from->stride == 1 && count % lanes == 0;
}

/* Returns `count` numbers from `first` on, contiguous, with zeros to the end of the row. */
static const float *gather_f32(const tsl_tree_numbers *from, int first, int count, bool in_place,
                               float *dst) {
  const float *const at = from->at;
  const size_t size = from->type == TESELA_F32 ? sizeof *at : tsl_type(from->type)->size;
  if (in_place)
    return at + first;
  if (from->type != TESELA_F32)
    tsl_narrow_gather(from->type, (const char *)from->at + (ptrdiff_t)size * first * from->stride,
                      from->stride, count, dst);
  for (int i = 0; from->type == TESELA_F32 && i < count; i++)
    dst[i] = at[(first + i) * from->stride];
  for (int i = count; i % F32_LANES != 0; i++)
    dst[i] = 0;
  return dst;
}

static const double *gather_f64(const tsl_tree_numbers *from, int first, int count, bool in_place,
                                double *dst) {
  const double *const at = from->at;
  int i = 0;
  if (in_place)
    return at + first;
  for (; i < count; i++)
    dst[i] = at[(first + i) * from->stride];
  for (; i % F64_LANES != 0; i++)
    dst[i] = 0;
  return dst;
}

typedef struct lanes_f32 {
  vector sum[F32_VECTORS];
} lanes_f32;
typedef struct lanes_f64 {
  vector high[F64_VECTORS], low[F64_VECTORS];
} lanes_f64;

static inline void add_rows_f32(const float *x, const float *y, int rows, lanes_f32 *lanes) {
  lanes_f32 own = *lanes;
  for (int r = 0; r < rows; r++, x += F32_LANES, y += F32_LANES) {
    prefetch(x, y);
    for (int v = 0; v < F32_VECTORS; v++)
      own.sum[v] = add_product(own.sum[v], widen_f64(x + v * WIDTH), widen_f64(y + v * WIDTH));
  }
  *lanes = own;
}

static inline void add_rows_f64(const double *x, const double *y, int rows, lanes_f64 *lanes) {
  lanes_f64 own = *lanes;
  for (int r = 0; r < rows; r++, x += F64_LANES, y += F64_LANES) {
    prefetch(x, y);
    for (int v = 0; v < F64_VECTORS; v++) {
      const vector a = load_f64(x + v * WIDTH), b = load_f64(y + v * WIDTH);
      const vector product = a * b, error = fma_rounded_once_f64(a, b, -product);
      const vector sum = own.high[v] + product, part = sum - own.high[v];
      const vector lost = (own.high[v] - (sum - part)) + (product - part);
      own.high[v] = sum;
      own.low[v] += lost + error;
    }
  }
  *lanes = own;
}

static tsl_tree_sum join_f32(const lanes_f32 *lanes) {
  enum { EACH = F32_LANES / TSL_TREE_COLUMNS };
  double lane[F32_LANES], column[TSL_TREE_COLUMNS];
  memcpy(lane, lanes->sum, sizeof lane);
  for (int j = 0; j < TSL_TREE_COLUMNS; j++)
    column[j] = (lane[EACH * j] + lane[EACH * j + 1]) + (lane[EACH * j + 2] + lane[EACH * j + 3]);
  for (int half = TSL_TREE_COLUMNS / 2; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      column[j] += column[j + half];
  return (tsl_tree_sum){column[0], 0};
}

static tsl_tree_sum join_f64(const lanes_f64 *lanes) {
  double highs[F64_LANES], lows[F64_LANES];
  tsl_tree_sum column[TSL_TREE_COLUMNS];
  memcpy(highs, lanes->high, sizeof highs);
  memcpy(lows, lanes->low, sizeof lows);
  for (int j = 0; j < TSL_TREE_COLUMNS; j++)
    column[j] = tsl_tree_join((tsl_tree_sum){highs[2 * j], lows[2 * j]},
                              (tsl_tree_sum){highs[2 * j + 1], lows[2 * j + 1]});
  for (int half = TSL_TREE_COLUMNS / 2; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      column[j] = tsl_tree_join(column[j], column[j + half]);
  return column[0];
}

static inline int minimum(int a, int b) {
  return a < b ? a : b;
}

/* Sums a chunk; rows of zeros are omitted. */
static tsl_tree_sum sum_chunk_f32(const tsl_tree_numbers *x, const tsl_tree_numbers *y, int count) {
  _Alignas(64) float x_rows[F32_GATHERED], y_rows[F32_GATHERED];
  const bool x_there = are_whole_rows(x, TESELA_F32, F32_LANES, count),
             y_there = are_whole_rows(y, TESELA_F32, F32_LANES, count);
  const int most = x_there && y_there ? count : F32_GATHERED;
  lanes_f32 lanes = {.sum = {{0}}};
  for (int first = 0; first < count; first += most) {
    const int here = minimum(most, count - first);
    add_rows_f32(gather_f32(x, first, here, x_there, x_rows), gather_f32(y, first, here, y_there, y_rows),
                 (here + F32_LANES - 1) / F32_LANES, &lanes);
  }
  return join_f32(&lanes);
}

static tsl_tree_sum sum_chunk_f64(const tsl_tree_numbers *x, const tsl_tree_numbers *y, int count) {
  _Alignas(64) double x_rows[F64_GATHERED], y_rows[F64_GATHERED];
  const bool x_there = are_whole_rows(x, TESELA_F64, F64_LANES, count),
             y_there = are_whole_rows(y, TESELA_F64, F64_LANES, count);
  const int most = x_there && y_there ? count : F64_GATHERED;
  lanes_f64 lanes = {.high = {{0}}};
  for (int first = 0; first < count; first += most) {
    const int here = minimum(most, count - first);
    add_rows_f64(gather_f64(x, first, here, x_there, x_rows), gather_f64(y, first, here, y_there, y_rows),
                 (here + F64_LANES - 1) / F64_LANES, &lanes);
  }
  return join_f64(&lanes);
}

const tsl_tree_functions TSL_ISA_NAME(tsl_tree_functions) = {sum_chunk_f32, sum_chunk_f64};
