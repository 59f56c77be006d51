/* Sums of many products, compiled for each instruction set with equal bits: each operation is rounded
 * separately. Without fused multiply-adds factors above 2^996 overflow and give sums that are not finite. */
#ifndef TSL_JUDGE_JUDGE_SUMS_H
#define TSL_JUDGE_JUDGE_SUMS_H

#include "core/isa.h"

#include <stdbool.h>

/* Terms of one element that are added at once; independent chains of additions that hide latency. */
enum { TSL_SUMS_STEP = 512, TSL_SUMS_LANES = 16 };

typedef struct tsl_sums_lanes {
  double high[TSL_SUMS_LANES], low[TSL_SUMS_LANES], magnitude[TSL_SUMS_LANES];
} tsl_sums_lanes;

typedef struct tsl_sums_kernels {
  /* adds a row of A times B (depth x cols, dense) to `cols` sums, compensated unless low is NULL */
  void (*row)(int cols, int depth, const double *a, const double *b, double *high, double *low,
              double *magnitude);
  /* adds TSL_SUMS_STEP products to the lanes in rotation, compensated or in double */
  void (*lanes)(bool compensated, const double *x, const double *y, tsl_sums_lanes *sums);
} tsl_sums_kernels;

/* Computes high + low = a + b exactly, for any a and b (Knuth). */
static inline void tsl_two_sum(double a, double b, double *high, double *low) {
  const double sum = a + b, b_part = sum - a;
  *low = (a - (sum - b_part)) + (b - b_part);
  *high = sum;
}

#define TSL_SUMS_DECLARE(isa, ...) extern const tsl_sums_kernels tsl_sums_kernels_##isa;
TSL_ISA_LIST(TSL_SUMS_DECLARE)
#undef TSL_SUMS_DECLARE

#endif
