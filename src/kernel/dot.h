/* Sums of products along strides of global memory, with nothing kept but the sum. */
#ifndef TSL_KERNEL_DOT_H
#define TSL_KERNEL_DOT_H

#include "dialect.h"

/* a[0] b[0] + a[a_stride] b[b_stride] + ..., k terms in order. */
TSL_FUNCTION TSL_REAL tsl_dot(TSL_GLOBAL const TSL_REAL *a, TSL_INDEX a_stride, TSL_GLOBAL const TSL_REAL *b,
                              TSL_INDEX b_stride, TSL_INDEX k) {
  TSL_REAL sum = 0;
  for (TSL_INDEX l = 0; l < k; l++) {
    sum = TSL_FMA(*a, *b, sum);
    a += a_stride;
    b += b_stride;
  }
  return sum;
}

#endif
