/* C = alpha A B + beta C by all ranks together.
 *
 * In each step a rank receives the panels of A and B that its tile needs, from wherever they lie, and
 * multiplies those of the step before meanwhile. What it makes of a tile goes to the owners of C, who add up
 * what the layers of k made of it, in a fixed tree, scale it and store it. All memory is taken before
 * anything travels, and C is written when all ranks say that all went well. */
#ifndef TSL_COMM_PRODUCT_H
#define TSL_COMM_PRODUCT_H

#include "comm/comm_grid.h"
#include "comm/job.h"

/* The grid that ranks agree on for a job: the best by words that are counted for its layouts.
 * TESELA_OUT_OF_MEMORY where it does not fit. */
tesela_status tsl_product_plan(const tsl_job *job, tsl_process_grid *grid);

/* For C that stays where it is made, and messages that are fast: fewer and deeper steps, as each one more
 * reads and writes the sums once more. A block is made in some tiles, each of all terms, whose panels come
 * while the one before is multiplied. False: the grid is as good as it was. Of a job whose bits may differ
 * from those of another way of messages. */
bool tsl_product_tiles(const tsl_job *job, tsl_process_grid *grid);
/* Seconds that one tile more costs, lines of one and operations of a panel between devices, at least. A test
 * may change them. */
typedef struct tsl_product_costs {
  double tile_seconds, tile_lines, panel_operations;
} tsl_product_costs;
extern tsl_product_costs tsl_product_cost;
/* Counts the words of a grid for the job's layouts. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_product_count(const tsl_job *job, tsl_process_grid *grid);

/* Runs it; all ranks have the same grid. All return the same status and sentence; where it is not TESELA_OK,
 * C is as it was unless the sentence says that it is lost. The record's seconds and error_bound are filled
 * in. */
tesela_status tsl_product_run(const tsl_job *job, const tsl_process_grid *grid, tesela_mpi_record *record);

/* Returns the share of |alpha||A||B| + |beta||C| by which adding up `depth` layers of sums and scaling them
 * may be off, the products themselves left out. */
double tsl_product_roundings(const tsl_job *job, int depth);

/* C = beta C, where there is nothing to multiply: nothing travels. An empty sum is not scaled by alpha. */
void tsl_product_scale(const tsl_job *job);

#endif
