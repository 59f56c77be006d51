/* Members of a struct with the sizes and strides of a product, for host (kernel_launch/launch.h) and kernels
 * (kernel/kernel_gemm.h). The includer defines TSL_INDEX as int64. */
#ifndef TSL_STRATEGY_GEMM_SHARED_H
#define TSL_STRATEGY_GEMM_SHARED_H

/* Sizes and strides in elements. C is m x n, A is m x k, B is k x n; k is 0 where alpha is 0. */
#define TSL_GEMM_SIZES                                                                                       \
  TSL_INDEX m, n, k;                                                                                         \
  TSL_INDEX a_offset, a_row_stride, a_col_stride;                                                            \
  TSL_INDEX b_offset, b_row_stride, b_col_stride;                                                            \
  TSL_INDEX c_offset, c_row_stride, c_col_stride;

#endif
