/* Parts of a run that cuda_wgmma_run.c (a product or batch) and cuda_wgmma_joined.c (different products)
 * share. */
#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_RUN_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_RUN_H

#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"

#include <stdatomic.h>

/* Kernels that few works need: fused launches; a product that leaves sums of C's rows. */
typedef enum tsl_cuda_wgmma_variant {
  TSL_CUDA_WGMMA_VARIANT_JOINED,
  TSL_CUDA_WGMMA_VARIANT_ROW_SUMS,
  TSL_CUDA_WGMMA_VARIANTS
} tsl_cuda_wgmma_variant;

/* State of a built work: the parts of a launch that do not change between runs. */
typedef struct tsl_cuda_wgmma_state {
  tsl_cuda_wgmma tile;
  tsl_cuda_wgmma_schedule schedule;
  cuda_wgmma_arguments args;   /* what operands do not change; with split-k C is the partial sums */
  tsl_kernel *multiply, *fold; /* main kernel; split-k reduction, also for k = 0 */
  tsl_kernel *pack;            /* packs elements of more than a byte, of any layout */
  tsl_kernel *lines; /* packs bytes of any layout, or larger contiguous elements; NULL: not needed */
  _Atomic(tsl_kernel *) variants[TSL_CUDA_WGMMA_VARIANTS]; /* NULL until compiled, at their first run */
  atomic_ullong tickets;                                   /* last ticket of stream-k runs */
} tsl_cuda_wgmma_state;

/* Launch. A, B and the sizes are the kernel's, for C = A B, swapped or not. */
typedef struct tsl_cuda_wgmma_launch {
  const tsl_work *work;
  const tsl_operands *operands;
  const tsl_cuda_wgmma *tile;
  const tsl_cuda_wgmma_schedule *schedule;
  tsl_gemm_sizes sizes;
  int64_t first, count; /* products of the batch that the launch takes */
  tsl_stream *stream;
} tsl_cuda_wgmma_launch;

/* Operand A or B of a launch. */
typedef struct tsl_cuda_wgmma_factor {
  tsl_rows rows;        /* lines after packing */
  tsl_rows_place place; /* present layout */
  bool packs;           /* must be packed before a tensor map can address it */
  bool mn_major;        /* its boxes have 128 bytes of adjacent lines; else of k */
  int box_lines;        /* lines of a box: along k if MN-major */
  int tail_lines;       /* lines of a box of the last tile, if K-major */
  int sharing;          /* blocks of a cluster that each load a box of a tile's lines */
  int64_t copy_offset;  /* byte of the workspace where its packed copy begins */
  int first, layer;     /* set with its tensor map: product p of the launch has layer first + p * layer */
} tsl_cuda_wgmma_factor;

/* Fills in the lines of A and B (columns of B) from the launch's first product on. */
void tsl_cuda_wgmma_find_factors(const tsl_cuda_wgmma_launch *run, tsl_cuda_wgmma_factor factors[2]);
/* Encodes an operand's tensor map. A batch with a negative step is mapped from its last product. */
tesela_status tsl_cuda_wgmma_map_factor(const tsl_cuda_wgmma_launch *run, tsl_cuda_wgmma_factor *factor,
                                        tsl_tensor_map *map);
/* Returns true if all products of the launch can be stored to C by one tensor map. */
bool tsl_cuda_wgmma_run_by_map(const tsl_cuda_wgmma_launch *run, bool reads_c);
/* Encodes the tensor map of C for tsl_cuda_wgmma_run_by_map(): boxes of 64 lines by 128 bytes. */
tesela_status tsl_cuda_wgmma_map_result(const tsl_cuda_wgmma_launch *run, tsl_tensor_map *map);

/* Compiles the kernel of tsl_cuda_wgmma_lines(), or takes it from the cache. */
tesela_status tsl_cuda_wgmma_lines_kernel(tsl_work *work, const tsl_cuda_wgmma *tile, tsl_kernel **kernel);
/* Enqueues one launch that copies the operands with `packs` set, of one product, to the workspace, A first.
 * Sets their `place` to the copies and clears `packs`. Operands of several bytes an element that are not
 * contiguous are left out and keep `packs`. */
tesela_status tsl_cuda_wgmma_lines(const tsl_work *work, tsl_kernel *kernel, const tsl_cuda_wgmma *tile,
                                   tsl_buffer *scratch, tsl_stream *stream, tsl_cuda_wgmma_factor factors[2]);

/* Returns a variant of the kernel; compiles it at the first call, once for concurrent callers. */
tesela_status tsl_cuda_wgmma_variant_kernel(const tsl_work *work, const tsl_cuda_wgmma *tile,
                                            tsl_cuda_wgmma_variant variant, tsl_kernel **kernel);
#endif
