/* C = alpha A B + beta C on all ranks.
 *
 * In each step a rank receives the panels of A and B of its next step, and multiplies the current panels
 * meanwhile. The sums of a tile go to the owners of C. An owner adds the sums of all layers of k in a fixed
 * tree, scales them and stores them. All memory is taken before the first message. C is written only after
 * all ranks have reported success. */
#ifndef TSL_COMM_PRODUCT_H
#define TSL_COMM_PRODUCT_H

#include "comm/comm_grid.h"
#include "comm/job.h"

/* Chooses the fastest predicted grid, with words counted for the job's layouts; equal on all ranks.
 * TESELA_OUT_OF_MEMORY if no grid fits the memory limit. */
tesela_status tsl_product_plan(const tsl_job *job, tsl_process_grid *grid);

/* Splits each rank's block into tiles if C is stored where it is computed and messages are fast.
 * Each tile takes all of k in one panel, because each panel reads and writes the sums once more.
 * The next tile's panels travel during the product of the current tile. Returns false and leaves
 * the grid unchanged if tiles do not pay, or if the job must keep bits independent of the
 * transport. */
bool tsl_product_tiles(const tsl_job *job, tsl_process_grid *grid);
/* Cost constants; tests may change them. */
typedef struct tsl_product_costs {
  /* Cost of one more tile; minimum rows or columns of a tile; minimum operations of a panel between
   * devices. */
  double tile_seconds, tile_lines, panel_operations;
} tsl_product_costs;
extern tsl_product_costs tsl_product_cost;
/* Counts the words that a grid moves for the job's layouts. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_product_count(const tsl_job *job, tsl_process_grid *grid);

/* Computes the product; all ranks pass the same grid. All ranks return one status and message.
 * After a failure C is unchanged unless the message says that C is lost. Fills in the record's
 * seconds and error_bound. */
tesela_status tsl_product_run(const tsl_job *job, const tsl_process_grid *grid, tesela_mpi_record *record);

/* Returns the error bound, relative to |alpha||A||B| + |beta||C|, of adding `depth` layers and
 * scaling. The products' own errors are not included. */
double tsl_product_roundings(const tsl_job *job, int depth);

/* Computes C = beta C for an empty product. Nothing travels, and alpha is not used. */
void tsl_product_scale(const tsl_job *job);

#endif
