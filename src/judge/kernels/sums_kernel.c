/* Plain C that compilers vectorize for each instruction set. Only explicit calls are fused (flags.cmake). */
#include "judge/judge_sums.h"

#include "host/simd.h"

#include <math.h>
#include <stddef.h>

/* Without a fused multiply-add instruction, the 26-bit halves of the factors are multiplied exactly. */
#ifdef FP_FAST_FMA
static inline double product_error(double x, double y, double product) {
  return fma(x, y, -product);
}
#else
static inline double upper_half(double x) {
  const double shifted = 134217729.0 * x; /* 2^27 + 1 (Veltkamp) */
  return shifted - (shifted - x);
}

static inline double product_error(double x, double y, double product) {
  const double x_high = upper_half(x), x_low = x - x_high;
  const double y_high = upper_half(y), y_low = y - y_high;
  return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}
#endif

static void add_row_plain(int cols, int depth, const double *a, const double *b, double *restrict sum,
                          double *restrict magnitude) {
  for (int l = 0; l < depth; l++) {
    const double *row = b + (size_t)l * (size_t)cols;
    const double x = a[l];
    for (int j = 0; j < cols; j++) {
      const double product = x * row[j];
      sum[j] += product;
      magnitude[j] += fabs(product);
    }
  }
}

static void add_row_compensated(int cols, int depth, const double *a, const double *b, double *restrict high,
                                double *restrict low, double *restrict magnitude) {
  for (int l = 0; l < depth; l++) {
    const double *row = b + (size_t)l * (size_t)cols;
    const double x = a[l];
    for (int j = 0; j < cols; j++) {
      const double product = x * row[j];
      double error;
      tsl_two_sum(high[j], product, &high[j], &error);
      low[j] += error + product_error(x, row[j], product);
      magnitude[j] += fabs(product);
    }
  }
}

static void add_row(int cols, int depth, const double *a, const double *b, double *high, double *low,
                    double *magnitude) {
  if (low)
    add_row_compensated(cols, depth, a, b, high, low, magnitude);
  else
    add_row_plain(cols, depth, a, b, high, magnitude);
}

static void add_lanes_plain(const double *x, const double *y, tsl_sums_lanes *restrict sums) {
  for (int l = 0; l < TSL_SUMS_STEP; l += TSL_SUMS_LANES)
    for (int i = 0; i < TSL_SUMS_LANES; i++) {
      const double product = x[l + i] * y[l + i];
      sums->high[i] += product;
      sums->magnitude[i] += fabs(product);
    }
}

static void add_lanes_compensated(const double *x, const double *y, tsl_sums_lanes *restrict sums) {
  for (int l = 0; l < TSL_SUMS_STEP; l += TSL_SUMS_LANES)
    for (int i = 0; i < TSL_SUMS_LANES; i++) {
      const double product = x[l + i] * y[l + i];
      double error;
      tsl_two_sum(sums->high[i], product, &sums->high[i], &error);
      sums->low[i] += error + product_error(x[l + i], y[l + i], product);
      sums->magnitude[i] += fabs(product);
    }
}

static void add_lanes(bool compensated, const double *x, const double *y, tsl_sums_lanes *sums) {
  if (compensated)
    add_lanes_compensated(x, y, sums);
  else
    add_lanes_plain(x, y, sums);
}

const tsl_sums_kernels TSL_ISA_NAME(tsl_sums_kernels) = {add_row, add_lanes};
