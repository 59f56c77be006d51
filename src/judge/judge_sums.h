/* The judge's sums of many products, once per instruction set: the bits are those of any other, since each
 * operation is rounded by itself and what a product leaves is exact however it is found. Factors above 2^996,
 * where that overflows without fused multiply-adds, make sums that are not finite, which the caller sees. */
#ifndef TSL_JUDGE_JUDGE_SUMS_H
#define TSL_JUDGE_JUDGE_SUMS_H

#include "base/isa.h"

#include <stdbool.h>

/* STEP: terms of one element that are added at once. LANES: chains of additions, enough to hide their latency
 * and to fill vectors. */
enum { TSL_SUMS_STEP = 512, TSL_SUMS_LANES = 16 };

typedef struct tsl_sums_lanes {
  double high[TSL_SUMS_LANES], low[TSL_SUMS_LANES], magnitude[TSL_SUMS_LANES];
} tsl_sums_lanes;

/* row: a row of A times B (depth x cols, dense) is added to `cols` sums, with low = NULL in double, else
 * compensated. lanes: TSL_SUMS_STEP terms to the lanes by turns, compensated or in double. */
typedef struct tsl_sums_kernels {
  void (*row)(int cols, int depth, const double *a, const double *b, double *high, double *low,
              double *magnitude);
  void (*lanes)(bool compensated, const double *x, const double *y, tsl_sums_lanes *sums);
} tsl_sums_kernels;

#define TSL_SUMS_DECLARE(isa, ...) extern const tsl_sums_kernels tsl_sums_kernels_##isa;
TSL_ISA_LIST(TSL_SUMS_DECLARE)
#undef TSL_SUMS_DECLARE

#endif
