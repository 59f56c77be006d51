/* A product whose operands are in host memory, cut so that copies and computing overlap: C into blocks of
 * rows and columns, A into panels of those rows, B into panels of those columns. Blocks are of one size but
 * for the last of a row and of a column, so there are at most four kinds, which the plan's own kernels
 * compute: sizes reach them at run time.
 *
 *        B0  B1  B2          panels arrive, and blocks are computed as they can be:
 *   A0   00  01  02
 *   A1   10  11  12          A0 B0 (00) A1 (10) B1 (01 11) A2 (20 21) B2 (02 12 22)
 *   A2   20  21  22
 */
#ifndef TSL_PLAN_BLOCK_GRID_H
#define TSL_PLAN_BLOCK_GRID_H

#include "device/staging.h"
#include "strategy/staged_copy.h"
#include "strategy/strategy.h"

enum { TSL_PIPELINE_BLOCKS = TSL_STAGING_MARKS };

/* How C is cut. Plain numbers. */
typedef struct tsl_block_grid {
  int64_t m, n;       /* C's */
  int64_t rows, cols; /* of a block that is not the last one */
  int row_blocks, col_blocks;
} tsl_block_grid;

/* One block. */
tsl_block_grid tsl_block_grid_whole(const tsl_problem *problem);
/* Blocks of about so many elements. */
tsl_block_grid tsl_block_grid_of(const tsl_problem *problem, int64_t block);
/* The rows and columns of block (i, j). */
tsl_copy_chunk tsl_block_grid_part(const tsl_block_grid *grain, int i, int j);

/* What arrives next where so many panels of A and B are there: of A, or else of B. False: all are. The first
 * two of A and B come together. */
typedef struct tsl_panel_arrivals {
  int a, b;      /* panels that are there */
  bool a_is_new; /* the last one is A's */
} tsl_panel_arrivals;
bool tsl_block_grid_next(const tsl_block_grid *grain, const tsl_problem *problem,
                         tsl_panel_arrivals *arrivals);
/* Block number `index` of those that the last panel completed; false behind the last. */
bool tsl_block_grid_block(const tsl_panel_arrivals *arrivals, int index, int *i, int *j);

/* The cut of a plan. */
typedef struct tsl_pipeline_plan {
  const tsl_subplan_factory *children; /* of blocks */
  tsl_staging_sizes sizes;
  tsl_block_grid grain;
  tsl_work *works[2][2]; /* by whether a block is the last of its column, and of its row; NULL: the plan's own
                            work */
  tsl_work made[4];
  int made_count;
  size_t scratch; /* bytes that the largest block needs */
} tsl_pipeline_plan;

/* Cuts a plan's product, as far as its strategy takes blocks of it with the kernels that were compiled for
 * all of it; *cut is NULL where operands are not to be staged at all. `children` are for blocks. */
tesela_status tsl_pipeline_plan_create(const tsl_work *work, const tsl_subplan_factory *children,
                                       tsl_pipeline_plan **cut);
void tsl_pipeline_plan_destroy(tsl_pipeline_plan *cut);
/* Who computes block (i, j). */
const tsl_work *tsl_pipeline_plan_work(const tsl_pipeline_plan *cut, const tsl_work *whole, int i, int j);

#endif
