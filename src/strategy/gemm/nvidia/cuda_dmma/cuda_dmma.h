#ifndef TSL_STRATEGY_GEMM_CUDA_DMMA_H
#define TSL_STRATEGY_GEMM_CUDA_DMMA_H

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { TSL_CUDA_DMMA_SLICES = TSL_SM80_PARAMS, TSL_CUDA_DMMA_CLUSTER };

/* Returns the kernel's tile and memory layout; warp_m = 0 or stages = 0: the config is not supported. */
tsl_sm80_tile tsl_cuda_dmma_tile(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);

#endif
