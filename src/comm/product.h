/* C = alpha A B + beta C on all ranks.
 *
 * In each step a rank multiplies panels of A and B while the next ones arrive. The sums of a tile go to the
 * owners of C, which add the layers of k in a fixed tree, scale and store. All memory is taken before the
 * first message. C is written only after all ranks have reported success. */
#ifndef TSL_COMM_PRODUCT_H
#define TSL_COMM_PRODUCT_H

#include "comm/comm_grid.h"
#include "comm/job.h"

/* Chooses the fastest predicted grid, equal on all ranks. TESELA_OUT_OF_MEMORY: none fits the limit. */
tesela_status tsl_ranks_product_plan(const tsl_job *job, tsl_process_grid *grid);

/* Splits blocks into tiles of one panel if C is stored where it is computed and messages are fast. Returns
 * false, with the grid unchanged, if tiles do not pay, or if bits must not depend on the transport. */
bool tsl_ranks_product_tiles(const tsl_job *job, tsl_process_grid *grid);
/* Constants that tests may change. */
typedef struct tsl_ranks_product_costs {
  /* Seconds of one more tile; minimum rows or columns of a tile; minimum operations of a panel between
   * devices. */
  double tile_seconds, tile_lines, panel_operations;
} tsl_ranks_product_costs;
extern tsl_ranks_product_costs tsl_ranks_product_cost;
/* Counts the words of a grid. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_ranks_product_count(const tsl_job *job, tsl_process_grid *grid);

/* Computes the product; all ranks pass one grid and return one status and message. After a failure C is
 * unchanged unless the message says that C is lost. Fills in the record's seconds and error_bound. */
tesela_status tsl_ranks_product_run(const tsl_job *job, const tsl_process_grid *grid,
                                    tesela_mpi_record *record);

/* Returns the error bound of adding `depth` layers and scaling, relative to |alpha||A||B| + |beta||C|. */
double tsl_ranks_product_roundings(const tsl_job *job, int depth);

void tsl_ranks_product_scale_c_by_beta(const tsl_job *job);

#endif
