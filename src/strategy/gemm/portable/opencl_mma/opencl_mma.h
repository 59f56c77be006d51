#ifndef TSL_STRATEGY_GEMM_OPENCL_MMA_H
#define TSL_STRATEGY_GEMM_OPENCL_MMA_H

#include "strategy/gemm/portable/opencl_matrix_units/opencl_matrix_units.h"
#include "strategy/kernel_launch/pack_rows.h"

enum {
  TSL_OPENCL_MMA_STAGES = TSL_MATRIX_UNITS_PARAMS,
  TSL_OPENCL_MMA_BAND,
  TSL_OPENCL_MMA_GROUPS,
  TSL_OPENCL_MMA_WARPS,
  TSL_OPENCL_MMA_FROM
};
/* Source of the panels: A and B in memory, or aligned copies of operands that are not aligned. */
enum { TSL_OPENCL_MMA_PLACE = 1, TSL_OPENCL_MMA_PACKED };

/* Items of a warp. With four warps that multiply together, one more warp copies panels. */
enum { TSL_OPENCL_MMA_WARP = 32 };

typedef struct tsl_opencl_mma {
  tsl_matrix_tile tile;
  /* parameters; band: rows of tiles that groups take together; groups: persistent groups of a compute unit */
  int stages, band, groups;
  int warps;                /* warps of one matrix instruction: 1, or 4 (opencl_mma_group.cl) */
  int rows;                 /* rows of C that four warps have in registers, with tile_n columns */
  bool in_place;            /* operands that are not aligned are copied as they are */
  int a_width, b_width;     /* bytes of a copy with the problem's strides: 16, 4, or 0 for single elements */
  int64_t a_bytes, b_bytes; /* bytes of packed operands, multiples of 128; 0 in place */
} tsl_opencl_mma;

/* Bytes of the tensor maps of A and B that each group writes to the workspace, with four warps. */
enum { TSL_OPENCL_MMA_MAPS = 256 };

/* Returns the bytes of a copy of elements of `size` bytes: 16, 4, or 0 for single elements. Strides and
 * offset in elements: `step` inside a row, `pitch` between rows. */
int tsl_opencl_mma_width(int size, int64_t offset, int64_t pitch, int64_t step);
tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config);

typedef struct tsl_opencl_mma_schedule {
  int64_t split_k, groups, sums_bytes; /* split-k parts; groups; bytes of partial sums (0 for one part) */
  bool joins;          /* the group of a tile's last part adds them, not a further launch; one warp only */
  int64_t join_rounds; /* rounds of loads of a group that adds them */
  int64_t flags_bytes; /* bytes of the parts' flags */
} tsl_opencl_mma_schedule;
tsl_opencl_mma_schedule tsl_opencl_mma_get_schedule(const tsl_opencl_mma *mma, const tsl_device *device);
/* Returns the bytes of all groups' tensor maps; 0 with one warp. */
int64_t tsl_opencl_mma_maps(const tsl_opencl_mma *mma, const tsl_opencl_mma_schedule *schedule);

double tsl_opencl_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);
tesela_status tsl_opencl_mma_build(tsl_work *work);
tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
