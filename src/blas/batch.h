/* Batches of products that are alike. */
#ifndef TSL_BLAS_BATCH_H
#define TSL_BLAS_BATCH_H

#include "blas/arguments.h"
#include "blas/calls.h"

/* Of a batch, whose first product this is: NULL asks the entry to go on here, by tsl_blas_alike() for each group. */
tsl_blas_function *tsl_blas_batch(tsl_blas_call *call, const tsl_blas_multiply *first, int64_t count);
/* Products of one shape, the first of which this is, or where `batch` has addresses the description of each; false: the
 * entry calls its own gemm for each. */
bool tsl_blas_alike(tsl_blas_call *call, const tsl_blas_multiply *product, const tesela_batch *batch);

#endif
