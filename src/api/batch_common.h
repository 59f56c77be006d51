/* Products of one shape in one call; shared by batches and groups. */
#ifndef TSL_API_BATCH_COMMON_H
#define TSL_API_BATCH_COMMON_H

#include "api/api.h"
#include "judge/judge_measure.h"

/* Batch of products that is being computed. */
typedef struct tsl_products {
  tesela_context *context;
  tesela_plan *plan; /* plan of one product, or of the whole batch */
  const tesela_gemm_desc *desc;
  const tesela_batch *batch;
  int64_t group;       /* number of the group in messages; -1: there are no groups */
  bool is_one;         /* the group is one product, which messages name by the group's number */
  atomic_bool rescues; /* true: the specification computed some products */
} tsl_products;

/* Checks the members of a batch that do not depend on the plan. */
tesela_status tsl_products_check_batch(const tesela_gemm_desc *desc, const tesela_batch *batch);
/* Returns true for several products without elements in C; a single product then stands for all. */
static inline bool tsl_products_are_empty(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  return (desc->m == 0 || desc->n == 0) && batch->count > 1;
}
/* Builds the key of one product. Returns TESELA_UNSUPPORTED if its operands are on several devices. */
tesela_status tsl_products_request(tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* Returns a plan of the whole batch, or of one product. A plan of the whole batch needs products at
 * equal distances, a device other than the cpu, and a strategy that supports the batch. Give *cached
 * back with tsl_plan_cache_give_back(). */
tesela_status tsl_products_plan(tesela_context *context, const tesela_gemm_desc *desc,
                                const tesela_batch *batch, const tsl_call_key *key, tsl_cached_plan **cached);
/* Returns true if the plan is one of the whole batch. */
bool tsl_products_run_together(const tsl_products *products);
/* Checks the operands of all products; count is at least 1. */
tesela_status tsl_products_check(const tsl_products *products);

/* Fills the host addresses of product `index`, of a plan with a shortcut. Returns false if an address
 * is invalid. */
bool tsl_products_at(const tsl_products *products, int64_t index, tsl_operands *operands);
/* Checks product `index` and fills its operands. */
tesela_status tsl_products_gather(const tsl_products *products, int64_t index, tsl_operands *operands);
/* Checks the first product and fills its operands, with the steps to the next products. */
tesela_status tsl_products_gather_all(const tsl_products *products, tsl_operands *operands);
/* Prefixes this thread's message with the product's number, and the group's. */
tesela_status tsl_products_fail_in(const tsl_products *products, int64_t index, tesela_status status);

/* Computes product `index`, which was checked. A failure is handled by tsl_products_resolve_failure(). */
tesela_status tsl_products_multiply(tsl_products *products, int64_t index, bool is_first);
/* Returns the status of a batch after product `index` failed with status. While no product can be done
 * (is_first) it is that status, and every C is unchanged. Otherwise the specification computes the
 * product; if it cannot, the status is TESELA_DEVICE_FAILED, which promises nothing about C. */
tesela_status tsl_products_resolve_failure(tsl_products *products, int64_t index, bool is_first,
                                           tesela_status status);
/* Computes all products in one run, by a plan of the whole batch. */
tesela_status tsl_products_together(const tsl_products *products);
/* Returns the error bound that holds for every product, also for products of the specification. */
double tsl_products_error_bound(const tsl_products *products);

/* Maximum number of products whose error is measured. */
enum { TSL_LOOKED_AT = 8 };
/* Measurement of the errors of some products of a batch. */
typedef struct tsl_batch_error_check {
  int64_t count, products[TSL_LOOKED_AT];
  tsl_error_measurement *measuring[TSL_LOOKED_AT];
} tsl_batch_error_check;
/* Draws the products and prepares their measurement, before any product is computed. Free *check with
 * tsl_batch_error_check_free(), also after a failure. */
tesela_status tsl_batch_error_check_begin(const tsl_products *products, uint64_t seed,
                                          tsl_batch_error_check *check);
/* Measures the errors after all products are computed and adds them to the record, which may be NULL. */
tesela_status tsl_batch_error_check_end(const tsl_products *products, const tsl_batch_error_check *check,
                                        tesela_record *record);
void tsl_batch_error_check_free(tsl_batch_error_check *check);

#endif
