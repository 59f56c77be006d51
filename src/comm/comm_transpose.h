/* B = alpha op(A) + beta B by all ranks together: what each rank has of A goes to where it belongs in B, at
 * once. */
#ifndef TSL_COMM_COMM_TRANSPOSE_H
#define TSL_COMM_COMM_TRANSPOSE_H

#include "comm/job.h"

/* A is part TSL_PART_A as it comes into B (turned already), B is TSL_PART_C. Results as of tsl_product_run().
 */
tesela_status tsl_transpose_run(const tsl_job *job, tesela_mpi_record *record);

#endif
