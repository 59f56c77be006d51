#ifndef TSL_BLAS_BLAS_BATCH_H
#define TSL_BLAS_BLAS_BATCH_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

/* Selects the implementation of a batch by its first product. NULL: the entry continues with
 * tsl_blas_uniform_batch() or tsl_blas_run_groups(). Otherwise the host BLAS function to call. */
tsl_blas_function *tsl_blas_batch(tsl_blas_call *call, const tsl_blas_multiply *first, int64_t count);
/* Computes a batch of one shape; `product` is the shape if `batch` has addresses. Returns false if the entry
 * must call its own gemm for each product. */
bool tsl_blas_uniform_batch(tsl_blas_call *call, const tsl_blas_multiply *product, const tesela_batch *batch);

/* Ends the call of a batch or group. `reads`: C is read. Returns true if no product is left to the entry. */
bool tsl_blas_end_batch(tsl_blas_call *call, tesela_status status, const tesela_record *record, bool reads);

/* Products of one shape among other groups; `batch` has their addresses. */
typedef struct tsl_blas_group {
  tsl_blas_multiply product; /* addresses are not used */
  tesela_batch batch;
  int64_t done; /* products computed, from the first on */
} tsl_blas_group;

/* Allocates groups for free(). NULL: no memory, and the entry calls its own gemm. */
tsl_blas_group *tsl_blas_take_groups(int64_t count);
/* Computes the groups that are worth it and sets their `done`; the entry calls its own gemm for the other
 * products. Returns false if two products have one C: nothing was computed, and groups must run in order. */
bool tsl_blas_run_groups(tsl_blas_call *call, tsl_blas_group *groups, int64_t count);
/* Returns true if tesela shall compute such products and the arguments are valid. */
bool tsl_blas_is_ours(tsl_blas_call *call, const tsl_blas_multiply *product);

#endif
