/* What the files of cuda_dmma share. */
#ifndef TSL_STRATEGY_GEMM_CUDA_DMMA_H
#define TSL_STRATEGY_GEMM_CUDA_DMMA_H

#include "strategy/cost_counts.h"
#include "strategy/launch.h"

enum { TSL_CUDA_DMMA_TILE_M, TSL_CUDA_DMMA_TILE_N, TSL_CUDA_DMMA_SLICES, TSL_CUDA_DMMA_CLUSTER };

/* Depth of a slice of a panel along k. */
enum { TSL_CUDA_DMMA_DEPTH = 16 };

/* A problem and a config as the kernel sees them. */
typedef struct tsl_cuda_dmma {
  tsl_problem problem; /* swapped where C's columns lie side by side: C' = B' A' */
  bool swapped;
  bool a_across, b_across; /* rows of A (columns of B) lie side by side in memory, elements along k do not */
  int numbers;             /* of f64 in a number: 2 in a complex one */
  int tile_m, tile_n;
  int warp_m, warp_n; /* of a warp; 0: there is no such tile */
  int slices;         /* of a panel's k, each multiplied by warps of its own */
  int depth;          /* of a panel */
  int cluster;        /* blocks that share out k and fold their sums by themselves */
  int groups;         /* blocks that share a multiprocessor */
  bool stays;         /* blocks take tile after tile, whose panels are all whole */
  double efficiency;  /* of the peak of tensor cores, in long sums */
  int items;          /* of a block */
  int stages;         /* 0: there is not enough shared memory for two */
  uint64_t shared_bytes;
} tsl_cuda_dmma;
tsl_cuda_dmma tsl_cuda_dmma_of(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device);

/* How a product of the kernel's m, n and k is shared out: tiles, parts of k, blocks (of each product of a
 * batch), and bytes of the sums of parts (0 of one part, and of a cluster's, which need no memory), in rows
 * of `pitch` sums. */
typedef struct tsl_cuda_dmma_shares {
  int64_t tiles_m, tiles_n, parts, blocks, pitch, sums_bytes;
} tsl_cuda_dmma_shares;
tsl_cuda_dmma_shares tsl_cuda_dmma_shares_of(const tsl_cuda_dmma *tile, const tsl_device *device);

/* Whether numbers along one stride, in lines along the other, can be copied 16 bytes at a time: real ones by
 * pairs. */
bool tsl_cuda_dmma_pairs(int numbers, int64_t along, int64_t line, int64_t lines, int64_t offset);

/* Predicted seconds; docs/lab/cuda_dmma.md has what it was fitted to. */
double tsl_cuda_dmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves. */
void tsl_cuda_dmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account);

tesela_status tsl_cuda_dmma_build(tsl_work *work);
tesela_status tsl_cuda_dmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_dmma_release(tsl_work *work);

#endif
