/* Sums over rows in lanes, so that few roundings follow one another. Four rows meet two vectors at once (four
 * with 32 registers):
 *
 *                 v0  v1
 *      row 0   [ sum sum ]     a load of each row and vector for
 *      row 1   [ sum sum ]     eight products
 *      row 2   [ sum sum ]
 *      row 3   [ sum sum ] */
#include "judge/checksum_kernels.h"

#include "host/simd.h"

#include <math.h>
#include <stddef.h>

enum { ROWS = 4, VECTORS = REGISTERS >= 32 ? 4 : 2 };

static void widen_row_f32(int count, const void *row, double *numbers) {
  const float *from = row;
  int i = 0;
  for (; i + LANES_f64 <= count; i += LANES_f64)
    store_f64(numbers + i, widen_f64(from + i));
  for (; i < count; i++)
    numbers[i] = (double)from[i];
}

static void widen_row_bf16(int count, const void *row, double *numbers) {
  const uint16_t *from = row;
  for (int i = 0; i < count; i++) {
    const uint32_t bits = (uint32_t)from[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    numbers[i] = (double)value;
  }
}

static inline vector_f64 magnitudes_f64(vector_f64 value) {
  const vector_f64 zero = {0};
  return max_lanes_f64(value, zero - value);
}

static void weighted_sums(int rows, int cols, const double *tile, int64_t pitch, const double *weights,
                          double *sum, double *magnitude) {
  for (int i = 0; i < rows; i++) {
    const double *row = tile + i * pitch;
    vector_f64 sums = {0}, sizes = {0};
    int j = 0;
    for (; j + LANES_f64 <= cols; j += LANES_f64) {
      const vector_f64 value = load_f64(row + j);
      sums += value * load_f64(weights + j);
      sizes += magnitudes_f64(value);
    }
    double own = sum_lanes_f64(sums), size = sum_lanes_f64(sizes);
    for (; j < cols; j++) {
      own += row[j] * weights[j];
      size += fabs(row[j]);
    }
    sum[i] = own;
    magnitude[i] = size;
  }
}

/* Adds ROWS rows times VECTORS vectors. */
static inline void add_block(int depth, const double *tile, int64_t pitch, const double *vector,
                             int64_t vector_pitch, double *sums, int64_t sums_pitch) {
  vector_f64 sum[ROWS][VECTORS] = {{{0}}};
  int l = 0;
  for (; l + LANES_f64 <= depth; l += LANES_f64)
    for (int p = 0; p < VECTORS; p++) {
      const vector_f64 factor = load_f64(vector + p * vector_pitch + l);
      for (int i = 0; i < ROWS; i++)
        sum[i][p] = fma_vectors_f64(sum[i][p], load_f64(tile + i * pitch + l), factor);
    }
  for (int i = 0; i < ROWS; i++)
    for (int p = 0; p < VECTORS; p++) {
      double own = sum_lanes_f64(sum[i][p]);
      for (int t = l; t < depth; t++)
        own += tile[i * pitch + t] * vector[p * vector_pitch + t];
      sums[i * sums_pitch + p] += own;
    }
}

static inline double dot_row(int depth, const double *row, const double *vector) {
  vector_f64 sum = {0};
  int l = 0;
  for (; l + LANES_f64 <= depth; l += LANES_f64)
    sum = fma_vectors_f64(sum, load_f64(row + l), load_f64(vector + l));
  double own = sum_lanes_f64(sum);
  for (; l < depth; l++)
    own += row[l] * vector[l];
  return own;
}

static inline double dot_magnitudes(int depth, const double *row, const double *vector) {
  vector_f64 sum = {0};
  int l = 0;
  for (; l + LANES_f64 <= depth; l += LANES_f64)
    sum = fma_vectors_f64(sum, magnitudes_f64(load_f64(row + l)), load_f64(vector + l));
  double own = sum_lanes_f64(sum);
  for (; l < depth; l++)
    own += fabs(row[l]) * vector[l];
  return own;
}

static void add_dots(int rows, int depth, const double *tile, int64_t pitch, int vectors,
                     const double *vector, int64_t vector_pitch, const double *bound, double *sums,
                     double *bounds) {
  for (int i = 0; i < rows; i += ROWS) {
    const int here = rows - i < ROWS ? rows - i : ROWS;
    for (int p = 0; p < vectors; p += VECTORS) {
      const int wide = vectors - p < VECTORS ? vectors - p : VECTORS;
      double *to = sums + (int64_t)i * vectors + p;
      if (here == ROWS && wide == VECTORS) {
        add_block(depth, tile + i * pitch, pitch, vector + p * vector_pitch, vector_pitch, to, vectors);
        continue;
      }
      for (int r = 0; r < here; r++)
        for (int q = 0; q < wide; q++)
          to[(int64_t)r * vectors + q] +=
              dot_row(depth, tile + (i + r) * pitch, vector + (p + q) * vector_pitch);
    }
    for (int r = 0; r < here; r++)
      bounds[i + r] += dot_magnitudes(depth, tile + (i + r) * pitch, bound);
  }
}

static uint32_t sum_row_i8(int cols, const void *row, const uint32_t *weights) {
  const int8_t *from = row;
  uint32_t sum = 0;
  for (int j = 0; j < cols; j++)
    sum += (uint32_t)(int32_t)from[j] * weights[j];
  return sum;
}

static uint32_t sum_row_u8(int cols, const void *row, const uint32_t *weights) {
  const uint8_t *from = row;
  uint32_t sum = 0;
  for (int j = 0; j < cols; j++)
    sum += (uint32_t)from[j] * weights[j];
  return sum;
}

static uint32_t sum_row_i32(int cols, const void *row, const uint32_t *weights) {
  const uint32_t *from = row;
  uint32_t sum = 0;
  for (int j = 0; j < cols; j++)
    sum += from[j] * weights[j];
  return sum;
}

const tsl_checksum_kernels TSL_ISA_NAME(tsl_checksum_kernels) = {
    LANES_f64, widen_row_f32, widen_row_bf16, weighted_sums, add_dots, sum_row_i8, sum_row_u8, sum_row_i32};
