/* The activation of the epilogue, with equal bits in strategy_epilogue.cl and kernels with a fused epilogue:
 * compilers can fuse no sum. The includer defines FINISH_FUNCTION (a tesela_activation) and FINISH_PLACES,
 * the binary places of C's type.
 *
 * GELU in f32 is max(x, 0) - |x| Q(|x|), where Q(x) is the tail probability above x. Its logarithm is nearly
 * a parabola, so 2^P(x) with a polynomial P of few terms is accurate enough. Each P minimizes the largest
 * error of Q (Remez's exchange, weighted by Q plus 10^-4), and decreases for all x:
 *
 *   error of |x| Q relative to |x|, 2^-22.5 of 2^P and all roundings included, in 2^-24:
 *     x (1 + erf(x / sqrt(2))) / 2    5 terms 11, where C has 8 places;  8 terms 2.4
 *     by tanh                         8 terms 4.5
 *
 * The guarantee allows 24 (tsl_accuracy_finished()). From FINISH_LAST on Q is 0. */
#ifndef TSL_KERNEL_EPILOGUE_FUNCTION_H
#define TSL_KERNEL_EPILOGUE_FUNCTION_H

#include "dialect.h"

#if FINISH_FUNCTION >= 2 && FINISH_PLACES <= 24
#define FINISH_LAST 16.0f /* 2^P is subnormal there */

TSL_FUNCTION float apply_activation_function(float x) {
  const float size = fmin(fabs(x), FINISH_LAST);
#if FINISH_FUNCTION == 2 && FINISH_PLACES <= 8
  float power = -4.94718493e-4f;
  power = TSL_FMA(power, size, 7.26804323e-3f);
  power = TSL_FMA(power, size, -5.23438565e-2f);
  power = TSL_FMA(power, size, -4.59397644e-1f);
  power = TSL_FMA(power, size, -1.15105867f);
  power = TSL_FMA(power, size, -1.00000155f);
#elif FINISH_FUNCTION == 2
  float power = -1.61213984e-6f;
  power = TSL_FMA(power, size, 2.54812621e-5f);
  power = TSL_FMA(power, size, -1.24655897e-4f);
  power = TSL_FMA(power, size, -2.72910605e-4f);
  power = TSL_FMA(power, size, 7.2229756e-3f);
  power = TSL_FMA(power, size, -5.25936708e-2f);
  power = TSL_FMA(power, size, -4.59180027e-1f);
  power = TSL_FMA(power, size, -1.15110826f);
  power = TSL_FMA(power, size, -0.99999994f);
#else
  float power = -2.55207106e-5f;
  power = TSL_FMA(power, size, 4.16154944e-4f);
  power = TSL_FMA(power, size, -2.26713321e-3f);
  power = TSL_FMA(power, size, 3.23620834e-3f);
  power = TSL_FMA(power, size, 4.62758867e-3f);
  power = TSL_FMA(power, size, -4.9989e-2f);
  power = TSL_FMA(power, size, -4.59568799e-1f);
  power = TSL_FMA(power, size, -1.15107465f);
  power = TSL_FMA(power, size, -1.00000036f);
#endif
  return TSL_FMA(-size, TSL_EXP2(power), TSL_MAX(x, 0.0f));
}
#else

/* Limit below which both GELU are 0: x times an underflowing share would be NaN at -infinity. */
#define FINISH_LEAST ((TSL_REAL)-40)

TSL_FUNCTION TSL_REAL apply_activation_function(TSL_REAL x) {
#if FINISH_FUNCTION == 1
  return x < 0 ? 0 : x;
#elif FINISH_FUNCTION == 2
  return x < FINISH_LEAST ? 0 : (TSL_REAL)0.5 * x * (1 + TSL_ERF(x * (TSL_REAL)0.70710678118654752440));
#elif FINISH_FUNCTION == 3
  const TSL_REAL square = TSL_MUL(TSL_REAL, x, x), cubic = TSL_MUL(TSL_REAL, (TSL_REAL)0.044715, square),
                 inner = TSL_MUL(TSL_REAL, (TSL_REAL)0.79788456080286535588, TSL_FMA(cubic, x, x));
  return x < FINISH_LEAST ? 0 : (TSL_REAL)0.5 * x * (1 + TSL_TANH(inner));
#else
  return x;
#endif
}
#endif

#endif
