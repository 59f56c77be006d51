#ifndef TSL_KERNEL_KERNEL_DOT_H
#define TSL_KERNEL_KERNEL_DOT_H

#include "kernel_elements.h"

/* Returns a[0] b[0] + a[a_stride] b[b_stride] + ..., k terms in order. */
TSL_FUNCTION TSL_REAL tsl_dot(TSL_GLOBAL const tsl_element *a, TSL_INDEX a_stride,
                              TSL_GLOBAL const tsl_element *b, TSL_INDEX b_stride, TSL_INDEX k) {
  TSL_REAL sum = 0;
  TSL_INDEX l = 0;
  /* Loads four terms before it uses them; else compilers wait for each pair (docs/lab/element.md). */
  for (; l + 4 <= k; l += 4) {
    TSL_REAL a_next[4], b_next[4];
    TSL_UNROLL
    for (int i = 0; i < 4; i++) {
      a_next[i] = tsl_number(a[i * a_stride], TSL_SIGNED_A);
      b_next[i] = tsl_number(b[i * b_stride], TSL_SIGNED_B);
    }
    TSL_UNROLL
    for (int i = 0; i < 4; i++)
      sum = TSL_REAL_FMA(a_next[i], b_next[i], sum);
    a += 4 * a_stride;
    b += 4 * b_stride;
  }
  for (; l < k; l++, a += a_stride, b += b_stride)
    sum = TSL_REAL_FMA(tsl_number(*a, TSL_SIGNED_A), tsl_number(*b, TSL_SIGNED_B), sum);
  return sum;
}

#endif
