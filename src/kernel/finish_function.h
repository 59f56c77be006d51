/* The function of a product's last step, which finish.cl and kernels that do that step themselves have in common: the same bits wherever
 * it is compiled for a device, since no sum in it is left for compilers to fuse. Before it is included: FINISH_FUNCTION (a tesela_activation). */
#ifndef TSL_KERNEL_FINISH_FUNCTION_H
#define TSL_KERNEL_FINISH_FUNCTION_H

#include "dialect.h"

/* Below it both GELU are 0: a product with a share that underflows, which at -infinity would be NaN. */
#define FINISH_LEAST ((TSL_REAL)-40)

TSL_FUNCTION TSL_REAL finish_function(TSL_REAL x) {
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
