/* What every portable gemm kernel is given beside its three pointers: sizes, where each operand starts and
 * how it steps, and the scalars. One struct by value; the host's is of strategy/launch.h. Everything counts
 * elements. Where the build defines TSL_COMPLEX, an element is two TSL_REAL: real, imaginary. */
#ifndef TSL_KERNEL_KERNEL_GEMM_H
#define TSL_KERNEL_KERNEL_GEMM_H

#include "dialect.h"

#include "../strategy/gemm_shared.h"

typedef struct tsl_gemm_arguments {
  TSL_GEMM_SIZES
#ifdef TSL_COMPLEX
  TSL_REAL alpha, alpha_imaginary, beta, beta_imaginary;
#else
  TSL_REAL alpha, beta;
#endif
} tsl_gemm_arguments;

#endif
