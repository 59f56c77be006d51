#ifndef TSL_STRATEGY_GEMM_CUDA_FEW_ROWS_H
#define TSL_STRATEGY_GEMM_CUDA_FEW_ROWS_H

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { TSL_CUDA_FEW_ROWS_TILE_N, TSL_CUDA_FEW_ROWS_WARPS };

typedef struct tsl_cuda_few_rows {
  tsl_problem problem; /* C has few rows: where it has few columns, the swapped problem C' = B' A' */
  bool swapped;
  int rows;              /* of a block's tile of C, 8 or 16 */
  int tile_n, warps;     /* columns of a block's tile; warps that share k */
  int element;           /* bytes of an element of A and B */
  int threads, resident; /* of a block; resident blocks of a multiprocessor */
  int64_t blocks;
} tsl_cuda_few_rows;
tsl_cuda_few_rows tsl_cuda_few_rows_of(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device);

#endif
