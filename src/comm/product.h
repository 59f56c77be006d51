/* C = alpha A B + beta C by all ranks together.
 *
 * In each step a rank receives the panels of A and B that its tile needs, from wherever they lie, and multiplies those of the step before
 * meanwhile. What it makes of a tile goes to the owners of C, who add up what the layers of k made of it, in a fixed tree, scale it and
 * store it. All memory is taken before anything travels, and C is written when all ranks say that all went well. */
#ifndef TSL_COMM_PRODUCT_H
#define TSL_COMM_PRODUCT_H

#include "comm/grid.h"
#include "comm/job.h"

/* The grid that ranks agree on for a job: the best by words that are counted for its layouts. TESELA_OUT_OF_MEMORY where it does not fit. */
tesela_status tsl_product_plan(const tsl_job *job, tsl_rank_grid *grid);

/* Runs it; all ranks have the same grid. All return the same status and sentence; where it is not TESELA_OK, C is as it was unless the
 * sentence says that it is lost. The record's seconds and error_bound are filled in. */
tesela_status tsl_product_run(const tsl_job *job, const tsl_rank_grid *grid, tesela_mpi_record *record);

/* C = beta C, where there is nothing to multiply: nothing travels. An empty sum is not scaled by alpha. */
void tsl_product_scale(const tsl_job *job);

#endif
