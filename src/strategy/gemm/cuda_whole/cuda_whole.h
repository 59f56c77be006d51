/* What the files of cuda_whole share. */
#ifndef TSL_STRATEGY_GEMM_CUDA_WHOLE_H
#define TSL_STRATEGY_GEMM_CUDA_WHOLE_H

#include "strategy/cost_counts.h"
#include "strategy/launch.h"

enum { TSL_CUDA_WHOLE_TILE_M, TSL_CUDA_WHOLE_TILE_N, TSL_CUDA_WHOLE_ROOM };

/* A factor of a product in shared memory: lines of elements that lie side by side in memory, a row of A (a
 * column of B), or where it lies across all its elements of one k; how many, how long, and bytes from one to
 * the next. */
typedef struct tsl_cuda_whole_lines {
  bool across;
  int64_t down, wide, pitch, bytes;
} tsl_cuda_whole_lines;

/* A problem and a config as the kernel sees them. */
typedef struct tsl_cuda_whole {
  tsl_problem problem; /* swapped where C's columns lie side by side: C' = B' A' */
  bool swapped;
  int tile_m, tile_n; /* of a warp */
  int most_warps,
      resident; /* that a block has registers for, and blocks of so many that share a multiprocessor's */
  tsl_cuda_whole_lines a, b;
  int64_t warps_n, warps;      /* of a product */
  int64_t bytes, shared_bytes; /* of a product; of a block, which has room for `together` of them: 0 where
                                  there is none */
  int64_t together;
  int64_t blocks;
} tsl_cuda_whole;
tsl_cuda_whole tsl_cuda_whole_of(const tsl_problem *problem, const tsl_config *config);

/* Bytes that are copied at once of lines `line` elements apart, products `apart`, from `offset` on: 16, 8, 4
 * or 2. */
int tsl_cuda_whole_width(const tsl_cuda_whole_lines *lines, int64_t step, int64_t line, int64_t offset,
                         int64_t apart);

/* Predicted seconds; docs/lab/cuda_whole.md has what it was fitted to. */
double tsl_cuda_whole_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves. */
void tsl_cuda_whole_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);

tesela_status tsl_cuda_whole_build(tsl_work *work);
tesela_status tsl_cuda_whole_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_whole_release(tsl_work *work);

#endif
