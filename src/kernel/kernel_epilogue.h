#ifndef TSL_KERNEL_KERNEL_EPILOGUE_H
#define TSL_KERNEL_KERNEL_EPILOGUE_H

#include "kernel_elements.h"

/* Stores *c = alpha * sum + beta * *c; beta = 0 never reads *c (it may be NaN or uninitialized). */
TSL_FUNCTION void tsl_finish(TSL_GLOBAL tsl_result *c, TSL_REAL sum, TSL_REAL alpha, TSL_REAL beta) {
  const TSL_REAL scaled = alpha * sum;
  *c = tsl_rounded(beta == 0 ? scaled : TSL_REAL_FMA(beta, tsl_before(*c), scaled));
}

#endif
