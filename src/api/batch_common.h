/* Products that are alike, which one call computes: for batches and groups of them. */
#ifndef TSL_API_BATCH_COMMON_H
#define TSL_API_BATCH_COMMON_H

#include "api/api.h"
#include "judge/judge_measure.h"

/* Under way, as a batch says where they are. */
typedef struct tsl_products {
  tesela_context *context;
  tesela_plan *plan; /* of one, or of all of them together */
  const tesela_gemm_desc *desc;
  const tesela_batch *batch;
  int64_t group;       /* for sentences: its number among others, -1: there are none */
  bool is_one;         /* there is one product, which has the group's number */
  atomic_bool rescues; /* some were finished by the specification */
} tsl_products;

/* What is wrong with a batch, whatever its plan is. */
tesela_status tsl_products_check_batch(const tesela_gemm_desc *desc, const tesela_batch *batch);
/* Returns true for several products whose results have no elements: one of them stands for all. */
static inline bool tsl_products_are_empty(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  return (desc->m == 0 || desc->n == 0) && batch->count > 1;
}
/* What one of them asks for. TESELA_UNSUPPORTED where its operands lie on several devices. */
tesela_status tsl_products_request(tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* A plan of all products where they lie at even distances, do not run on the processor, and a strategy takes
 * them so; else of one. The plan of one says where products in host memory run; of buffers it is made only
 * where it is needed. To be given back. */
tesela_status tsl_products_plan(tesela_context *context, const tesela_gemm_desc *desc,
                                const tesela_batch *batch, const tsl_call_key *key, tsl_cached_plan **cached);
/* Whether it is one of all. */
bool tsl_products_run_together(const tsl_products *products);
/* Checks all of them, of which there is one at least. */
tesela_status tsl_products_check(const tsl_products *products);

/* Where product `index` is, by addresses alone, of a plan that has a direct way; false: something is wrong
 * with it. */
bool tsl_products_at(const tsl_products *products, int64_t index, tsl_operands *operands);
/* Checks product `index`, and says where its operands are; the same of the first one, with the steps to the
 * others. */
tesela_status tsl_products_gather(const tsl_products *products, int64_t index, tsl_operands *operands);
tesela_status tsl_products_gather_all(const tsl_products *products, tsl_operands *operands);
/* Puts the product's number in front of this thread's sentence. */
tesela_status tsl_products_fail_in(const tsl_products *products, int64_t index, tesela_status status);

/* Computes product `index`, which was checked. While none can have been done, `is_first`, the call fails with
 * it and every C is as it was; then one that its plan cannot do is finished by the specification, or the
 * answer is the one that promises nothing about C: tsl_products_resolve_failure() says what a failure comes
 * to. */
tesela_status tsl_products_multiply(tsl_products *products, int64_t index, bool is_first);
tesela_status tsl_products_resolve_failure(tsl_products *products, int64_t index, bool is_first,
                                           tesela_status status);
/* All of them at once, on a plan that is all's. */
tesela_status tsl_products_together(const tsl_products *products);
/* Of whichever strategy computed a product. */
double tsl_products_error_bound(const tsl_products *products);

/* The errors of some of them, where they are asked for: begun before any product is computed, told after all.
 */
enum { TSL_LOOKED_AT = 8 };
typedef struct tsl_batch_error_check {
  int64_t count, products[TSL_LOOKED_AT];
  tsl_error_measurement *measuring[TSL_LOOKED_AT];
} tsl_batch_error_check;
tesela_status tsl_batch_error_check_begin(const tsl_products *products, uint64_t seed,
                                          tsl_batch_error_check *check);
/* Adds what was seen to a record, which may be NULL. */
tesela_status tsl_batch_error_check_end(const tsl_products *products, const tsl_batch_error_check *check,
                                        tesela_record *record);
void tsl_batch_error_check_free(tsl_batch_error_check *check);

#endif
