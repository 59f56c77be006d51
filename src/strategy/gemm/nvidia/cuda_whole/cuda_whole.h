#ifndef TSL_STRATEGY_GEMM_CUDA_WHOLE_H
#define TSL_STRATEGY_GEMM_CUDA_WHOLE_H

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { TSL_CUDA_WHOLE_TILE_M, TSL_CUDA_WHOLE_TILE_N, TSL_CUDA_WHOLE_ROOM };

/* Operand of a product in shared memory. A line has adjacent elements: a row of A (column of B), or for an
 * MN-major operand all elements of one k. */
typedef struct tsl_cuda_whole_lines {
  bool across;                     /* the operand is MN-major */
  int64_t line_count, line_length; /* lines; elements of a line */
  int64_t pitch, bytes;            /* bytes between lines; bytes of all lines */
} tsl_cuda_whole_lines;

typedef struct tsl_cuda_whole {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  int tile_m, tile_n;
  int most_warps, resident; /* warps that the registers allow in a block; resident blocks of this size */
  tsl_cuda_whole_lines a, b;
  int64_t warps_n, warps;      /* warps of a product */
  int64_t bytes, shared_bytes; /* of a product; of a block with `together` products; 0: does not fit */
  int64_t together;            /* products of a block */
  int64_t blocks;              /* blocks of the whole batch */
} tsl_cuda_whole;
/* Returns the tile and memory of a block; shared_bytes < bytes: a product does not fit. */
tsl_cuda_whole tsl_cuda_whole_of(const tsl_problem *problem, const tsl_config *config);

/* Returns a copy's bytes, 16, 8, 4 or 2. Strides in elements: `step` in a line, `line`, `apart` of products.
 */
int tsl_cuda_whole_width(const tsl_cuda_whole_lines *lines, int64_t step, int64_t line, int64_t offset,
                         int64_t apart);

#endif
