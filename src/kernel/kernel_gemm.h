/* Arguments of portable gemm kernels, one struct by value after the pointers (kernel_launch/launch.h).
 * Offsets and strides count elements; with TSL_COMPLEX an element is (real, imaginary). */
#ifndef TSL_KERNEL_KERNEL_GEMM_H
#define TSL_KERNEL_KERNEL_GEMM_H

#include "dialect.h"

#include "../strategy/kernel_launch/gemm_shared.h"

typedef struct tsl_gemm_arguments {
  TSL_GEMM_SIZES
#ifdef TSL_COMPLEX
  TSL_REAL alpha, alpha_imaginary, beta, beta_imaginary;
#else
  TSL_REAL alpha, beta;
#endif
} tsl_gemm_arguments;

#endif
