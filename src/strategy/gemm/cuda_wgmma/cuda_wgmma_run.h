/* What runs of cuda_wgmma share, of one product or batch (cuda_wgmma_run.c) and of several that differ
 * (joined.c). */
#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_RUN_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_CUDA_WGMMA_RUN_H

#include "strategy/gemm/cuda_wgmma/cuda_wgmma_lines.h"

#include <stdatomic.h>

/* What build() leaves in work->state. */
typedef struct tsl_cuda_wgmma_kernels {
  tsl_kernel *multiply, *fold;
  tsl_kernel *pack;  /* of elements of more than a byte: anything */
  tsl_kernel *lines; /* of a byte: anything; else rows, of one product, where the problem has some to be
                        packed, or NULL */
  _Atomic(tsl_kernel *) joined; /* NULL until it is asked for */
  atomic_ullong tickets;        /* of runs whose blocks wait for flags */
} tsl_cuda_wgmma_kernels;

/* One run; A, B and the sizes are those of C = A B as the kernel sees it, swapped or not. */
typedef struct tsl_cuda_wgmma_running {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_cuda_wgmma tile;
  tsl_cuda_wgmma_shares shares;
  tsl_gemm_sizes sizes;
  int64_t first, count; /* products of the batch that a launch takes */
  tsl_stream *stream;
} tsl_cuda_wgmma_running;

/* A factor on its way to the kernel: product p of a launch has layer first + p * layer of its map. */
typedef struct tsl_cuda_wgmma_layers {
  bool across;
  int first, layer;
} tsl_cuda_wgmma_layers;

/* Threads of a block. */
int tsl_cuda_wgmma_items(const tsl_cuda_wgmma *tile);

/* A's and B's lines (of B, columns), as they lie from the launch's first product on. */
void tsl_cuda_wgmma_find_factors(const tsl_cuda_wgmma_running *run, tsl_cuda_wgmma_factor factors[2]);
/* A map of a factor, whose boxes have so many lines, or of those across k 64 elements of as many lines as a
 * panel is deep. */
tesela_status tsl_cuda_wgmma_map_factor(const tsl_cuda_wgmma_running *run,
                                        const tsl_cuda_wgmma_factor *factor, int lines,
                                        tsl_cuda_wgmma_layers *found, tsl_tensor_map *map);
/* Whether C goes by a map, all products of a launch by one; and that map. */
bool tsl_cuda_wgmma_run_by_map(const tsl_cuda_wgmma_running *run, bool reads_c);
tesela_status tsl_cuda_wgmma_map_result(const tsl_cuda_wgmma_running *run, tsl_tensor_map *map);

/* What kernels of a tile are told, each line on its own. */
enum { TSL_CUDA_WGMMA_DEFINES = 640 };
void tsl_cuda_wgmma_define(const tsl_problem *problem, const tsl_cuda_wgmma *tile, bool is_split,
                           char text[TSL_CUDA_WGMMA_DEFINES]);

/* The kernel of products that differ, which is compiled when it is first asked for: text that was compiled
 * before is not compiled again, whoever asks for it meanwhile. */
tesela_status tsl_cuda_wgmma_joined_kernel(const tsl_work *work, const tsl_cuda_wgmma *tile,
                                           tsl_kernel **kernel);
#endif
