/* Counts public calls in the table of products (core/call_table.h). */
#ifndef TSL_API_API_COUNTED_H
#define TSL_API_API_COUNTED_H

#include "api/api.h"
#include "core/call_sample.h"

/* A public call that is counted. */
typedef struct tsl_counted {
  double started;
  tesela_record own; /* used if the caller has no record: its plan names the strategy */
  tesela_record *record;
  size_t record_size;
  tsl_called called;
  tsl_calls_factors factors;
} tsl_counted;

/* Begins a call. `is_small`: the caller's NULL stays, because a record would leave the shortcut. */
void tsl_counted_begin(tsl_counted *counted, tesela_record *record, size_t record_size, bool is_small);
/* Describes a product of `count` members before tsl_counted_end(). Factors of a struct of another size than
 * today's are not sampled. */
void tsl_counted_product(tsl_counted *counted, const tesela_gemm_desc *desc, size_t desc_size, int64_t count);
/* Describes a call of another operation by its sizes. */
void tsl_counted_sizes(tsl_counted *counted, int64_t rows, int64_t cols);
/* Ends the call, and counts it if it has computed. Returns the status. */
tesela_status tsl_counted_end(tsl_counted *counted, const char *name, tesela_status status);

#endif
