#ifndef TSL_STRATEGY_GEMM_OPENCL_MMA_H
#define TSL_STRATEGY_GEMM_OPENCL_MMA_H

#include "strategy/kernel_launch/pack_rows.h"

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

/* Items of a warp. With four warps that multiply together, one more warp copies panels. */
enum { TSL_OPENCL_MMA_WARP = 32 };

typedef struct tsl_opencl_mma {
  tsl_problem problem; /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  int size;                    /* bytes of an element of A and B */
  /* parameters; band: rows of tiles that groups take together; groups: persistent groups of a compute unit */
  int tile_m, tile_n, warp_m, warp_n, depth, stages, band, groups;
  int warps; /* warps of one matrix instruction: 1, or 4 (opencl_mma_group.cl) */
  int rows;  /* rows of C that four warps have in registers, with tile_n columns */
  int items;
  int64_t local_bytes;
  int64_t a_bytes, b_bytes; /* bytes of packed operands, multiples of 128 */
} tsl_opencl_mma;

/* Bytes of the tensor maps of A and B that each group writes to the workspace, with four warps. */
enum { TSL_OPENCL_MMA_MAPS = 256 };

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config);

typedef struct tsl_opencl_mma_schedule {
  /* tiles in a column and a row of C; split-k parts; groups; bytes of partial sums (0 for one part) */
  int64_t tiles_m, tiles_n, split_k, groups, sums_bytes;
} tsl_opencl_mma_schedule;
tsl_opencl_mma_schedule tsl_opencl_mma_get_schedule(const tsl_opencl_mma *tile, int64_t m, int64_t n,
                                                    int64_t k, const tsl_device *device);

/* Returns the grid of the main launch. Other launches have at most a few groups per compute unit. */
tsl_grid tsl_opencl_mma_grid(const tsl_opencl_mma *tile, const tsl_opencl_mma_schedule *schedule);

/* Returns the local memory that a group may use, in bytes. */
uint64_t tsl_opencl_mma_local(const tsl_device *device);

double tsl_opencl_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);
/* Returns the operations of the matrix units per operation of the device's lanes. */
double tsl_opencl_mma_times(const tsl_opencl_mma *tile);
/* Returns the bytes that a group reads from local memory per panel. */
double tsl_opencl_mma_read(const tsl_opencl_mma *tile);
/* Returns true if an operand is packed: stride 1 (across_rows: of rows) or an aligned pitch is missing. */
bool tsl_opencl_mma_packs(const tsl_shape *shape, bool across_rows, int size);

tesela_status tsl_opencl_mma_build(tsl_work *work);
tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_opencl_mma_release(tsl_work *work);

#endif
