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

/* Returns true if a run's result is not needed: the int at `address` (0: none) is at most `above`
 * (kernel_launch/launch.h, tsl_launch_wanted). Only CUDA kernels get an address. */
TSL_FUNCTION bool tsl_is_unwanted(TSL_INDEX address, TSL_INDEX above) {
#ifdef __OPENCL_C_VERSION__
  return false;
#else
  return address != 0 && *(const volatile int *)address <= above;
#endif
}

#endif
