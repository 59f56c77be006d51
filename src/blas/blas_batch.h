/* Batches of products that are alike. */
#ifndef TSL_BLAS_BLAS_BATCH_H
#define TSL_BLAS_BLAS_BATCH_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

/* Of a batch, whose first product this is: NULL asks the entry to go on here, by tsl_blas_uniform_batch() or
 * tsl_blas_run_groups(). */
tsl_blas_function *tsl_blas_batch(tsl_blas_call *call, const tsl_blas_multiply *first, int64_t count);
/* Products of one shape, the first of which this is, or where `batch` has addresses the description of each;
 * false: the entry calls its own gemm for each. */
bool tsl_blas_uniform_batch(tsl_blas_call *call, const tsl_blas_multiply *product, const tesela_batch *batch);

/* Ends the call of a batch or group that came to this status; `reads`: C is read. Whether no product is left
 * to the entry. */
bool tsl_blas_end_batch(tsl_blas_call *call, tesela_status status, const tesela_record *record, bool reads);

/* Products of one shape among others, as the batch says where they are. */
typedef struct tsl_blas_group {
  tsl_blas_multiply product; /* without addresses */
  tesela_batch batch;
  int64_t done; /* so many of them, from the first on, are computed */
} tsl_blas_group;

/* Room for the groups of a call, for free(); NULL where there is no memory: then the entry calls its own gemm
 * for all. */
tsl_blas_group *tsl_blas_take_groups(int64_t count);
/* Computes what is worth it of them, all groups at once; for the others the entry calls its own gemm. False:
 * two products have one C, and groups are done in turn. */
bool tsl_blas_run_groups(tsl_blas_call *call, tsl_blas_group *groups, int64_t count);
/* Whether tesela is to compute products like this, and nothing is wrong with it. */
bool tsl_blas_is_ours(tsl_blas_call *call, const tsl_blas_multiply *product);

#endif
