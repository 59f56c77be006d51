/* What the files of cuda_mma share. */
#ifndef TSL_STRATEGY_GEMM_CUDA_MMA_H
#define TSL_STRATEGY_GEMM_CUDA_MMA_H

#include "strategy/cost_counts.h"
#include "strategy/pack_rows.h"

enum { TSL_CUDA_MMA_TILE_M, TSL_CUDA_MMA_TILE_N, TSL_CUDA_MMA_DEPTH, TSL_CUDA_MMA_FROM };
/* Where panels come from: A and B as they lie, or copies of them, aligned, of what is not. */
enum { TSL_CUDA_MMA_PLACE = 1, TSL_CUDA_MMA_PACKED };

/* The first architecture that turns 8-bit floating point into f16. */
enum { TSL_CUDA_MMA_EIGHTS = 89 };

/* A problem and a config as the kernel sees them. */
typedef struct tsl_cuda_mma {
  tsl_problem problem; /* swapped where C's columns lie side by side: C' = B' A' */
  bool swapped;
  bool a_across, b_across; /* rows of A (columns of B) lie side by side in memory, elements along k do not */
  bool packs;              /* factors that are not aligned are packed first */
  bool is_eight;           /* 8-bit floating point, multiplied as f16 */
  int element;             /* bytes of an element of A and B */
  int tile_m, tile_n;
  int warp_m, warp_n; /* of a warp; 0: there is no such tile */
  int depth;          /* of a panel, elements of k */
  int depth_bytes;
  int groups;        /* blocks that share a multiprocessor */
  double efficiency; /* of the rate of tensor cores, in long sums */
  int items;         /* of a block */
  int stages;        /* 0: there is not enough shared memory for two */
  uint64_t shared_bytes;
  int a_width, b_width;     /* bytes of a copy, of the problem's strides */
  int64_t a_bytes, b_bytes; /* of packed factors, each a multiple of 128; 0 where none is packed */
} tsl_cuda_mma;
tsl_cuda_mma tsl_cuda_mma_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);

/* How a product of the kernel's m, n and k is shared out: tiles, parts of k, blocks (of each product of a
 * batch), and bytes of the sums of parts (0 of one part), in rows of `pitch` sums. */
typedef struct tsl_cuda_mma_shares {
  int64_t tiles_m, tiles_n, parts, blocks, pitch, sums_bytes;
} tsl_cuda_mma_shares;
tsl_cuda_mma_shares tsl_cuda_mma_shares_of(const tsl_cuda_mma *tile, const tsl_device *device);

/* Bytes that a factor can be copied by, 16, 8 or 4, where elements lie `along` apart in a line, lines `line`
 * apart; 0: elements come one by one. `step`: from product to product of a batch. */
int tsl_cuda_mma_width(int element, int64_t along, int64_t line, int64_t lines, int64_t offset, int64_t step);

/* Predicted seconds; docs/lab/cuda_mma.md has what it was fitted to. */
double tsl_cuda_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves. */
void tsl_cuda_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account);

tesela_status tsl_cuda_mma_build(tsl_work *work);
tesela_status tsl_cuda_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_mma_release(tsl_work *work);

#endif
