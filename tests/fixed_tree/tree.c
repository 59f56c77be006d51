#include "fixed_tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  double high, low;
} pair;

typedef struct vectors {
  tesela_type type;
  const void *x, *y;
  int64_t x_stride, y_stride, k;
} vectors;

static double lost(double a, double b) {
  const double h = a + b, v = h - a;
  return (a - (h - v)) + (b - v);
}

static pair add(pair sum, double x, double y) {
  const double p = x * y, e = fma(x, y, -p);
  return (pair){sum.high + p, sum.low + (lost(sum.high, p) + e)};
}

static pair join(pair a, pair b) {
  return (pair){a.high + b.high, (a.low + b.low) + lost(a.high, b.high)};
}

/* Sums of f32 are the high parts alone: there, a term is exact. */
static double number(tesela_type type, const void *from, int64_t i) {
  return type == TESELA_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static pair lane_of_chunk(const vectors *vectors_in, int64_t chunk, int lane, int lanes) {
  pair sum = {0, 0};
  for (int row = 0; row < 32; row++) {
    const int64_t i = (chunk * 32 + row) * lanes + lane;
    if (i < vectors_in->k)
      sum = add(sum, number(vectors_in->type, vectors_in->x, i * vectors_in->x_stride),
                number(vectors_in->type, vectors_in->y, i * vectors_in->y_stride));
  }
  return sum;
}

static pair fold(pair *numbers, int count) {
  for (int apart = count / 2; apart > 0; apart /= 2)
    for (int j = 0; j < apart; j++)
      numbers[j] = join(numbers[j], numbers[j + apart]);
  return numbers[0];
}

static pair chunk_sum(const vectors *vectors_in, int64_t chunk) {
  const int lanes = vectors_in->type == TESELA_F64 ? 64 : 128, width = lanes / 32;
  pair column[32];
  for (int j = 0; j < 32; j++) {
    pair lane[4];
    for (int w = 0; w < width; w++)
      lane[w] = lane_of_chunk(vectors_in, chunk, j * width + w, lanes);
    column[j] = join(lane[0], lane[1]);
    if (width == 4)
      column[j] = join(column[j], join(lane[2], lane[3]));
  }
  return fold(column, 32);
}

/* Chunks beyond the last are sums of zeros. */
static pair block_sum(const vectors *vectors_in, int64_t block) {
  pair sums[8];
  for (int c = 0; c < 8; c++)
    sums[c] = chunk_sum(vectors_in, 8 * block + c);
  return fold(sums, 8);
}

static double finish_f64(pair sum, double alpha, double beta, double before) {
  const double p = alpha * sum.high;
  pair scaled = {p, fma(alpha, sum.low, fma(alpha, sum.high, -p))};
  if (beta != 0)
    scaled = add(scaled, beta, before);
  return isfinite(scaled.low) ? scaled.high + scaled.low : scaled.high;
}

static float finish_f32(double sum, float alpha, float beta, float before) {
  const double scaled = (double)alpha * sum;
  return (float)(beta == 0 ? scaled : scaled + (double)beta * (double)before);
}

uint64_t tree_bits(const tsl_problem *problem, const void *x, const void *y, const void *before) {
  const tesela_type type = problem->c.type;
  const double alpha = problem->alpha[0], beta = problem->beta[0];
  const bool empty = problem->k == 0 || alpha == 0;
  const vectors of = {type, x, y, problem->a.col_stride, problem->b.row_stride, empty ? 0 : problem->k};
  const int64_t block = type == TESELA_F64 ? 8 * 2048 : 8 * 4096, blocks = (of.k + block - 1) / block;
  static pair lane[256];
  memset(lane, 0, sizeof lane);
  for (int64_t b = 0; b < blocks; b++)
    lane[b % 256] = join(lane[b % 256], block_sum(&of, b));
  const pair sum = fold(lane, 256);
  uint64_t bits = 0;
  if (type == TESELA_F64) {
    const double result = finish_f64(sum, empty ? 0 : alpha, beta, beta == 0 ? 0 : *(const double *)before);
    memcpy(&bits, &result, sizeof result);
    return isnan(result) ? 0x7ff8000000000000 : bits;
  }
  const float result =
      finish_f32(sum.high, empty ? 0 : (float)alpha, (float)beta, beta == 0 ? 0 : *(const float *)before);
  memcpy(&bits, &result, sizeof result);
  return isnan(result) ? 0x7fc00000 : bits;
}
