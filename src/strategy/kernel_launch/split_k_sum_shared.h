/* Include kernel_launch/launch.h first, in kernels kernel_gemm.h. */
#ifndef TSL_STRATEGY_SPLIT_K_SUM_SHARED_H
#define TSL_STRATEGY_SPLIT_K_SUM_SHARED_H

/* Arguments of split_k_sum.cl. Splits are numbers of the sums' type from number `first` on. */
typedef struct tsl_split_k_sum_arguments {
  TSL_INDEX first, pitch; /* pitch: between rows of a split */
  TSL_INDEX split_step, batch_step,
      c_step;                     /* between splits, between products, and between results (elements) */
  TSL_INDEX wanted, wanted_above; /* tsl_is_unwanted() */
#ifdef TSL_REAL
  tsl_gemm_arguments gemm;
#else
  tsl_gemm_argument gemm; /* the kernel gets its first gemm.bytes bytes */
#endif
} tsl_split_k_sum_arguments;

#endif
