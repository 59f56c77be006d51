/* What every portable gemm kernel is given beside its three pointers: sizes, where each operand starts and
 * how it steps, and the scalars. One struct by value; strategy/launch.c has the same struct on the host.
 * Everything counts elements. Where the build defines TSL_COMPLEX, an element is two TSL_REAL: real, imaginary. */
#ifndef TSL_KERNEL_GEMM_H
#define TSL_KERNEL_GEMM_H

#include "dialect.h"

typedef struct tsl_gemm_arguments {
  TSL_INDEX m, n, k; /* C is m x n, A is m x k, B is k x n; k is 0 where alpha is 0 */
  TSL_INDEX a_offset, a_row_stride, a_col_stride;
  TSL_INDEX b_offset, b_row_stride, b_col_stride;
  TSL_INDEX c_offset, c_row_stride, c_col_stride;
#ifdef TSL_COMPLEX
  TSL_REAL alpha, alpha_imaginary, beta, beta_imaginary;
#else
  TSL_REAL alpha, beta;
#endif
} tsl_gemm_arguments;

#endif
