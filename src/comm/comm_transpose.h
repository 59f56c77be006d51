/* B = alpha op(A) + beta B; each rank sends its elements of A to their owners in B. */
#ifndef TSL_COMM_COMM_TRANSPOSE_H
#define TSL_COMM_COMM_TRANSPOSE_H

#include "comm/job.h"

/* Computes B; job->part[TSL_PART_A] is op(A), TSL_PART_C is B. Failures as for tsl_product_run(). */
tesela_status tsl_transpose_run(const tsl_job *job, tesela_mpi_record *record);

#endif
