/* Sums in twice the precision of double as an unevaluated pair: `high` is the plain sum in order, `low` the
 * sum of its errors (TwoSum: Knuth 1969; TwoProduct by a fused multiply-add), with equal bits on every
 * device. Nothing here may be fused or reordered; TSL_MUL and the language ensure that. Where `high` is
 * infinite or NaN, `low` is undefined. */
#ifndef TSL_KERNEL_TWOFOLD_H
#define TSL_KERNEL_TWOFOLD_H

#include "dialect.h"

typedef struct tsl_twofold {
  double high, low;
} tsl_twofold;

/* Returns the rounding error of `sum`, the rounded a + b. */
TSL_FUNCTION double tsl_twofold_error(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

TSL_FUNCTION tsl_twofold tsl_twofold_add_product(tsl_twofold sum, double x, double y) {
  const double product = TSL_MUL(double, x, y), tail = TSL_FMA(x, y, -product);
  tsl_twofold out;
  out.high = sum.high + product;
  out.low = sum.low + (tsl_twofold_error(sum.high, product, out.high) + tail);
  return out;
}

TSL_FUNCTION tsl_twofold tsl_twofold_sum(tsl_twofold a, tsl_twofold b) {
  tsl_twofold out;
  out.high = a.high + b.high;
  out.low = (a.low + b.low) + tsl_twofold_error(a.high, b.high, out.high);
  return out;
}

TSL_FUNCTION tsl_twofold tsl_twofold_scale(tsl_twofold sum, double alpha) {
  tsl_twofold out;
  out.high = TSL_MUL(double, alpha, sum.high);
  out.low = TSL_FMA(alpha, sum.low, TSL_FMA(alpha, sum.high, -out.high));
  return out;
}

/* Returns the pair as one number; `high` alone where `low` is not finite. */
TSL_FUNCTION double tsl_twofold_round(tsl_twofold sum) {
  return sum.low - sum.low == 0 ? sum.high + sum.low : sum.high;
}

#endif
