#ifndef TSL_STRATEGY_GEMM_CUDA_STRIP_H
#define TSL_STRATEGY_GEMM_CUDA_STRIP_H

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { TSL_CUDA_STRIP_TILE_N };

typedef struct tsl_cuda_strip {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  int tile_n, element;
  int resident;                  /* resident blocks of a multiprocessor */
  int64_t steps, strips;         /* steps of 32 bytes along k; strips of columns */
  int64_t groups, rounds, waves; /* blocks of a strip; times 16 rows of each warp; blocks in a row */
  int64_t shared_bytes;          /* shared memory of a block */
} tsl_cuda_strip;
tsl_cuda_strip tsl_cuda_strip_of(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);

#endif
