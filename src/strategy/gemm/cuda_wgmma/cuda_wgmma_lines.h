/* Factors on their way to cuda_wgmma's maps, and copying those that do not lie as maps take them. */
#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_LINES_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_LINES_H

#include "strategy/gemm/cuda_wgmma/cuda_wgmma.h"

/* A factor: its lines once they are copied, where it lies, and whether it is copied. */
typedef struct tsl_cuda_wgmma_factor {
  tsl_rows rows;
  tsl_rows_place place;
  bool packs;
} tsl_cuda_wgmma_factor;

/* Finds the kernel, of build(). */
tesela_status tsl_cuda_wgmma_lines_kernel(tsl_work *work, const tsl_cuda_wgmma *tile, tsl_kernel **kernel);
/* Copies those of both factors that `packs`, of one product, by one launch, to scratch memory, A's first; and
 * says in their places that they lie there, and that they need not be packed any more. Of elements of more
 * than a byte, those that lie side by side alone. Enqueued. */
tesela_status tsl_cuda_wgmma_lines(const tsl_work *work, tsl_kernel *kernel, const tsl_cuda_wgmma *tile,
                                   tsl_buffer *scratch, tsl_stream *stream, tsl_cuda_wgmma_factor factors[2]);

#endif
