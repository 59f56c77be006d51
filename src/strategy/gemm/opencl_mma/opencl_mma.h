/* What the files of opencl_mma share. */
#ifndef TSL_STRATEGY_GEMM_OPENCL_MMA_H
#define TSL_STRATEGY_GEMM_OPENCL_MMA_H

#include "strategy/pack_rows.h"

enum {
  TSL_OPENCL_MMA_TILE_M,
  TSL_OPENCL_MMA_TILE_N,
  TSL_OPENCL_MMA_WARP_M,
  TSL_OPENCL_MMA_WARP_N,
  TSL_OPENCL_MMA_DEPTH,
  TSL_OPENCL_MMA_STAGES,
  TSL_OPENCL_MMA_BAND,
  TSL_OPENCL_MMA_GROUPS,
  TSL_OPENCL_MMA_WARPS
};

/* Items that run in step; one more warp copies panels where four multiply together. */
enum { TSL_OPENCL_MMA_WARP = 32 };

/* A problem and a config as the kernels see them. */
typedef struct tsl_opencl_mma {
  tsl_problem problem; /* swapped where C's columns are dense */
  bool swapped;
  bool a_across, b_across; /* rows of A (columns of B) lie side by side in memory, numbers along k do not */
  int size;                /* bytes of an element of A and B */
  int tile_m, tile_n, warp_m, warp_n, depth, stages, band, groups;
  int warps; /* that multiply together: 1, or 4 (opencl_mma_group.cl) */
  int rows;  /* of C that these have in registers, tile_n columns of them; of 4 warps */
  int items;
  int64_t local_bytes;
  int64_t a_bytes, b_bytes; /* of packed operands, each a multiple of 128 */
} tsl_opencl_mma;

/* Descriptions of A and B that each group writes to scratch memory, where four warps multiply together. */
enum { TSL_OPENCL_MMA_MAPS = 256 };

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config);

/* How a run's work is shared: tiles of C, parts of k, groups that are started, bytes of the parts' sums (none
 * of one). */
typedef struct tsl_opencl_mma_shares {
  int64_t tiles_m, tiles_n, split_k, groups, sums_bytes;
} tsl_opencl_mma_shares;
tsl_opencl_mma_shares tsl_opencl_mma_shares_of(const tsl_opencl_mma *tile, int64_t m, int64_t n, int64_t k,
                                               const tsl_device *device);

/* The launch that multiplies. Others have at most a few groups for each compute unit. */
tsl_grid tsl_opencl_mma_grid(const tsl_opencl_mma *tile, const tsl_opencl_mma_shares *shares);

/* Local memory that a group may have. */
uint64_t tsl_opencl_mma_local(const tsl_device *device);

/* Predicted seconds; docs/lab/opencl_mma.md has what it was fitted to. */
double tsl_opencl_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves: opencl_mma_account.c. */
void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);
/* Of the model, for opencl_mma_account.c: operations while a lane of the device does one; bytes that a tile's
 * warps read from local memory for a panel; whether an operand has to be packed. */
double tsl_opencl_mma_times(const tsl_opencl_mma *tile);
double tsl_opencl_mma_read(const tsl_opencl_mma *tile);
bool tsl_opencl_mma_packs(const tsl_shape *shape, bool across_rows, int size);

tesela_status tsl_opencl_mma_build(tsl_work *work);
tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_opencl_mma_release(tsl_work *work);

#endif
