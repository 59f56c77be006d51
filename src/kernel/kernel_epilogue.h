#ifndef TSL_KERNEL_KERNEL_EPILOGUE_H
#define TSL_KERNEL_KERNEL_EPILOGUE_H

#include "kernel_elements.h"

/* Stores *c = alpha * sum + beta * *c; beta = 0 never reads *c (it may be NaN or uninitialized). */
TSL_FUNCTION void tsl_store_scaled(TSL_GLOBAL tsl_result *c, TSL_REAL sum, TSL_REAL alpha, TSL_REAL beta) {
  const TSL_REAL scaled = alpha * sum;
  *c = tsl_round_to_result(beta == 0 ? scaled : TSL_REAL_FMA(beta, tsl_widen_result(*c), scaled));
}

#endif
