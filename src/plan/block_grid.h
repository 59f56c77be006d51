/* Product of operands in host memory, cut so that copies and computing overlap: C into blocks, A into panels
 * of their rows, B into panels of their columns. Only the last block of a row or column may be smaller. The
 * plan's kernels compute all blocks: sizes are kernel arguments.
 *
 *        B0  B1  B2          panels arrive, and each block is computed as soon as possible:
 *   A0   00  01  02
 *   A1   10  11  12          A0 B0 (00) A1 (10) B1 (01 11) A2 (20 21) B2 (02 12 22)
 *   A2   20  21  22 */
#ifndef TSL_PLAN_BLOCK_GRID_H
#define TSL_PLAN_BLOCK_GRID_H

#include "copy/staged_copy.h"
#include "device/staging.h"
#include "strategy/subplans.h"

enum { TSL_PIPELINE_BLOCKS = TSL_STAGING_MARKS };

typedef struct tsl_block_grid {
  int64_t m, n;       /* size of C */
  int64_t rows, cols; /* size of a block; the last of a row or column may be smaller */
  int row_blocks, col_blocks;
} tsl_block_grid;

/* Returns a grid with blocks of about `block` elements. */
tsl_block_grid tsl_block_grid_of(const tsl_problem *problem, int64_t block);

/* Seconds of blocks: [i][j], where i is 1 for a column's last block, and j for a row's last block. */
typedef struct tsl_block_seconds {
  double of[2][2];
} tsl_block_seconds;
/* Returns the seconds of blocks that take `compute` seconds in all, in proportion to their elements. */
tsl_block_seconds tsl_block_seconds_even(const tsl_block_grid *grid, double compute);

/* Bytes per second of copies through pinned memory, and whether blocks return while panels arrive. */
typedef struct tsl_block_rates {
  double in, out;
  bool both;
} tsl_block_rates;
/* Returns true if blocks return while panels arrive: the device tells which blocks are computed. */
bool tsl_block_grid_is_duplex(const tsl_device *device);
/* Simulates a run (plan/pipeline.h) and returns its seconds. */
double tsl_block_grid_seconds(const tsl_block_grid *grid, const tsl_problem *problem,
                              const tsl_block_rates *rates, const tsl_block_seconds *compute);
/* Returns the grid with the least simulated seconds by the model of the work's strategy. Without a model, or
 * with blocks of a given size, it is tsl_block_grid_of(). Sets *compute by the model, or to zeros. The work
 * has a strategy, a problem, a config and a device, and need not be built. A plan takes the next grid if a
 * block takes kernels that the whole product does not. */
tsl_block_grid tsl_block_grid_for(const tsl_work *work, const tsl_staging_sizes *sizes,
                                  tsl_block_seconds *compute);
/* Returns the rows and columns of block (i, j). */
tsl_copy_part tsl_block_grid_part(const tsl_block_grid *grid, int i, int j);

/* Panels that have arrived on the device. */
typedef struct tsl_panel_arrivals {
  int a, b;      /* numbers of panels */
  bool a_is_new; /* the last panel is A's */
} tsl_panel_arrivals;
/* Adds the next panel; the first call adds one of A and of B. Returns false when all have arrived. */
bool tsl_block_grid_next(const tsl_block_grid *grid, const tsl_problem *problem,
                         tsl_panel_arrivals *arrivals);
/* Gets block number `index` of the blocks that the last panel completed; false past the last. */
bool tsl_block_grid_block(const tsl_panel_arrivals *arrivals, int index, int *i, int *j);

typedef struct tsl_pipeline_plan {
  tsl_subplan_factory children; /* factory for the blocks' sub-plans: the plan's, by models */
  tsl_staging_sizes sizes;
  tsl_block_grid grid;
  /* works[i][j]: i is 1 for a column's last block, j for a row's last block; NULL: the plan's own work. */
  tsl_work *works[2][2];
  tsl_work made[4]; /* the works that `works` points to */
  int made_count;
  size_t scratch; /* bytes of scratch memory of the largest block */
} tsl_pipeline_plan;

/* Cuts a plan's product as far as its compiled kernels support the blocks. *cut is NULL if the operands need
 * no staging. Free it with tsl_pipeline_plan_destroy(). */
tesela_status tsl_pipeline_plan_create(const tsl_work *work, tsl_pipeline_plan **cut);
void tsl_pipeline_plan_destroy(tsl_pipeline_plan *cut);
/* Returns the work that computes block (i, j). */
const tsl_work *tsl_pipeline_plan_work(const tsl_pipeline_plan *cut, const tsl_work *whole, int i, int j);

#endif
