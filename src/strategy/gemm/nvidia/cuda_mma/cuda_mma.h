#ifndef TSL_STRATEGY_GEMM_CUDA_MMA_H
#define TSL_STRATEGY_GEMM_CUDA_MMA_H

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { TSL_CUDA_MMA_DEPTH = TSL_SM80_PARAMS, TSL_CUDA_MMA_FROM };
/* Source of the panels: A and B in memory, or aligned copies of operands that are not aligned. */
enum { TSL_CUDA_MMA_PLACE = 1, TSL_CUDA_MMA_PACKED };

/* Returns the kernel's tile and memory layout; warp_m = 0 or stages = 0: the config is not supported. */
tsl_sm80_tile tsl_cuda_mma_tile(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);

#endif
