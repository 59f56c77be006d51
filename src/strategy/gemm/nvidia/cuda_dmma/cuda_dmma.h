#ifndef TSL_STRATEGY_GEMM_CUDA_DMMA_H
#define TSL_STRATEGY_GEMM_CUDA_DMMA_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

enum { TSL_CUDA_DMMA_TILE_M, TSL_CUDA_DMMA_TILE_N, TSL_CUDA_DMMA_SLICES, TSL_CUDA_DMMA_CLUSTER };

enum { TSL_CUDA_DMMA_DEPTH = 16 }; /* elements of k in a slice of a panel */

typedef struct tsl_cuda_dmma {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  int numbers;                 /* f64 in an element: 2 in a complex one */
  int tile_m, tile_n;
  int warp_m, warp_n;    /* tile of a warp; 0: the config is not supported */
  int slices;            /* slices of a panel's k, each multiplied by its own warps */
  int depth;             /* elements of k in a panel */
  int cluster;           /* blocks that split k and add their sums through shared memory */
  int groups;            /* resident blocks of a multiprocessor */
  bool is_persistent;    /* persistent blocks: tile after tile of whole panels */
  double efficiency;     /* fraction of the tensor cores' peak for large k */
  int items;             /* threads of a block */
  int stages;            /* pipeline stages; 0: shared memory is too small for two */
  uint64_t shared_bytes; /* shared memory of a block for all stages */
} tsl_cuda_dmma;
/* Returns the kernel's tile and memory layout; warp_m = 0 or stages = 0: the config is not supported. */
tsl_cuda_dmma tsl_cuda_dmma_of(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device);

/* Division of the kernel's m, n and k for one product. */
typedef struct tsl_cuda_dmma_schedule {
  int64_t tiles_m, tiles_n, parts, blocks; /* tiles in a column and a row of C; parts of k; blocks */
  int64_t pitch;                           /* elements between rows of partial sums */
  int64_t sums_bytes; /* bytes of all partial sums; 0 for one part, and for the parts of a cluster */
} tsl_cuda_dmma_schedule;
tsl_cuda_dmma_schedule tsl_cuda_dmma_get_schedule(const tsl_cuda_dmma *tile, const tsl_device *device);

/* Returns true if elements can be copied 16 bytes at a time: complex ones, or aligned pairs of real ones.
 * `numbers`: f64 in an element. Strides in elements: `along` a line, `line` between the `lines` lines. */
bool tsl_cuda_dmma_pairs(int numbers, int64_t along, int64_t line, int64_t lines, int64_t offset);

double tsl_cuda_dmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_cuda_dmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account);

tesela_status tsl_cuda_dmma_build(tsl_work *work);
tesela_status tsl_cuda_dmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_dmma_release(tsl_work *work);

#endif
