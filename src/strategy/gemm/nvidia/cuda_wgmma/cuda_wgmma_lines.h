#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_LINES_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_LINES_H

#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"

/* Operand A or B of a launch. */
typedef struct tsl_cuda_wgmma_factor {
  tsl_rows rows;        /* lines after packing */
  tsl_rows_place place; /* present layout */
  bool packs;           /* must be packed before a tensor map can address it */
  bool mn_major;        /* its boxes have 64 elements of each of a panel's k; else box_lines lines of k */
  int box_lines;
  int64_t copy_offset; /* byte of the workspace where its packed copy begins */
  int first, layer;    /* set with its tensor map: product p of the launch has layer first + p * layer */
} tsl_cuda_wgmma_factor;

/* Compiles the kernel of tsl_cuda_wgmma_lines(), or takes it from the cache. */
tesela_status tsl_cuda_wgmma_lines_kernel(tsl_work *work, const tsl_cuda_wgmma *tile, tsl_kernel **kernel);
/* Enqueues one launch that copies the operands with `packs` set, of one product, to the workspace, A first.
 * Sets their `place` to the copies and clears `packs`. Operands of several bytes an element that are not
 * contiguous are left out and keep `packs`. */
tesela_status tsl_cuda_wgmma_lines(const tsl_work *work, tsl_kernel *kernel, const tsl_cuda_wgmma *tile,
                                   tsl_buffer *scratch, tsl_stream *stream, tsl_cuda_wgmma_factor factors[2]);

#endif
