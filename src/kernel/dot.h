/* Sums of products along strides of global memory, with nothing kept but the sum. */
#ifndef TSL_KERNEL_DOT_H
#define TSL_KERNEL_DOT_H

#include "dialect.h"

/* a[0] b[0] + a[a_stride] b[b_stride] + ..., k terms in order. */
TSL_FUNCTION TSL_REAL tsl_dot(TSL_GLOBAL const TSL_REAL *a, TSL_INDEX a_stride, TSL_GLOBAL const TSL_REAL *b,
                              TSL_INDEX b_stride, TSL_INDEX k) {
  TSL_REAL sum = 0;
  /* Indices, not moving pointers, and four terms at a time: so NVRTC starts all eight loads before the first
   * multiply-add waits. Stepping pointers instead halved the rate of `element` on an H200. */
  TSL_UNROLL_BY(4)
  for (TSL_INDEX l = 0; l < k; l++)
    sum = TSL_FMA(a[l * a_stride], b[l * b_stride], sum);
  return sum;
}

#endif
