#ifndef TSL_STRATEGY_GEMM_CUDA_MMA_H
#define TSL_STRATEGY_GEMM_CUDA_MMA_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/pack_rows.h"

enum { TSL_CUDA_MMA_TILE_M, TSL_CUDA_MMA_TILE_N, TSL_CUDA_MMA_DEPTH, TSL_CUDA_MMA_FROM };
/* Source of the panels: A and B in memory, or aligned copies of operands that are not aligned. */
enum { TSL_CUDA_MMA_PLACE = 1, TSL_CUDA_MMA_PACKED };

enum { TSL_CUDA_MMA_EIGHTS = 89 }; /* first architecture that converts 8-bit floating point to f16 */

typedef struct tsl_cuda_mma {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  bool packs;                  /* operands that are not aligned are packed first */
  bool is_eight;               /* 8-bit floating point, multiplied as f16 */
  int element;                 /* bytes of an element of A and B */
  int tile_m, tile_n;
  int warp_m, warp_n;    /* tile of a warp; 0: the config is not supported */
  int depth;             /* elements of k in a panel */
  int depth_bytes;       /* bytes of a line of a panel */
  int groups;            /* resident blocks of a multiprocessor */
  double efficiency;     /* fraction of the tensor cores' rate for large k */
  int items;             /* threads of a block */
  int stages;            /* pipeline stages; 0: shared memory is too small for two */
  uint64_t shared_bytes; /* shared memory of a block for all stages */
  int a_width, b_width;  /* bytes of a copy with the problem's strides: 16, 8, 4, or 0 for single elements */
  int64_t a_bytes, b_bytes; /* bytes of packed operands, multiples of 128; 0 without packing */
} tsl_cuda_mma;
/* Returns the kernel's tile and memory layout; warp_m = 0 or stages = 0: the config is not supported. */
tsl_cuda_mma tsl_cuda_mma_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);

/* Division of the kernel's m, n and k for one product. */
typedef struct tsl_cuda_mma_schedule {
  int64_t tiles_m, tiles_n, parts, blocks; /* tiles in a column and a row of C; parts of k; blocks */
  int64_t pitch;                           /* elements between rows of partial sums */
  int64_t sums_bytes;                      /* bytes of all partial sums; 0 for one part */
} tsl_cuda_mma_schedule;
tsl_cuda_mma_schedule tsl_cuda_mma_get_schedule(const tsl_cuda_mma *tile, const tsl_device *device);

/* Returns the widest copy for an operand, 16, 8 or 4 bytes; 0: elements one by one. Strides in elements:
 * `along` a line, `line` between lines, `step` between products. */
int tsl_cuda_mma_width(int element, int64_t along, int64_t line, int64_t lines, int64_t offset, int64_t step);

double tsl_cuda_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_cuda_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account);

tesela_status tsl_cuda_mma_build(tsl_work *work);
tesela_status tsl_cuda_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_mma_release(tsl_work *work);

#endif
