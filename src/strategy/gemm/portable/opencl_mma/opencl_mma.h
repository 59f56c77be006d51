#ifndef TSL_STRATEGY_GEMM_OPENCL_MMA_H
#define TSL_STRATEGY_GEMM_OPENCL_MMA_H

#include "strategy/gemm/portable/opencl_matrix_units/opencl_matrix_units.h"
#include "strategy/kernel_launch/pack_rows.h"

enum {
  TSL_OPENCL_MMA_STAGES = TSL_MATRIX_UNITS_PARAMS,
  TSL_OPENCL_MMA_BAND,
  TSL_OPENCL_MMA_GROUPS,
  TSL_OPENCL_MMA_WARPS
};

/* Items of a warp. With four warps that multiply together, one more warp copies panels. */
enum { TSL_OPENCL_MMA_WARP = 32 };

typedef struct tsl_opencl_mma {
  tsl_matrix_tile tile;
  /* parameters; band: rows of tiles that groups take together; groups: persistent groups of a compute unit */
  int stages, band, groups;
  int warps;                /* warps of one matrix instruction: 1, or 4 (opencl_mma_group.cl) */
  int rows;                 /* rows of C that four warps have in registers, with tile_n columns */
  int64_t a_bytes, b_bytes; /* bytes of packed operands, multiples of 128 */
} tsl_opencl_mma;

/* Bytes of the tensor maps of A and B that each group writes to the workspace, with four warps. */
enum { TSL_OPENCL_MMA_MAPS = 256 };

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config);

typedef struct tsl_opencl_mma_schedule {
  int64_t split_k, groups, sums_bytes; /* split-k parts; groups; bytes of partial sums (0 for one part) */
} tsl_opencl_mma_schedule;
tsl_opencl_mma_schedule tsl_opencl_mma_get_schedule(const tsl_opencl_mma *mma, const tsl_device *device);

double tsl_opencl_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);
tesela_status tsl_opencl_mma_build(tsl_work *work);
tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
