/* Products of one shape in one call; shared by batches and groups. */
#ifndef TSL_API_BATCH_COMMON_H
#define TSL_API_BATCH_COMMON_H

#include "api/api.h"
#include "judge/judge_measure.h"

typedef struct tsl_products {
  tesela_context *context;
  tesela_plan *plan; /* plan of one product, or of the whole batch */
  const tesela_gemm_desc *desc;
  const tesela_batch *batch;
  int64_t group;       /* number of the group in messages; -1: no groups */
  bool is_one;         /* the group is one product, which messages name by the group's number */
  atomic_bool rescues; /* true: the specification computed some products */
} tsl_products;

/* Checks the members of a batch that do not depend on the plan. */
tesela_status tsl_products_check_batch(const tesela_gemm_desc *desc, const tesela_batch *batch);
/* Returns true for several products without elements in C. */
static inline bool tsl_products_are_empty(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  return (desc->m == 0 || desc->n == 0) && batch->count > 1;
}
/* Builds the key of one product. Returns TESELA_UNSUPPORTED if its operands are on several devices. */
tesela_status tsl_products_request(tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* Builds the key of one product with this description. TESELA_UNSUPPORTED: operands on several devices. */
tesela_status tsl_products_key(tesela_context *context, const tesela_gemm_desc *desc, tsl_call_key *key);
/* Returns a plan of the whole batch, or of one product on the cpu, at unequal distances or for strategies
 * without batches. Give *cached back with tsl_plan_cache_give_back(). */
tesela_status tsl_products_plan(tesela_context *context, const tesela_gemm_desc *desc,
                                const tesela_batch *batch, const tsl_call_key *key, tsl_cached_plan **cached);
/* Returns true if the plan is one of the whole batch. */
bool tsl_products_run_together(const tsl_products *products);
/* Checks the distances of products that are not at addresses of their own. */
tesela_status tsl_products_check_strides(const tsl_products *products);
/* Checks the operands of all products; count is at least 1. */
tesela_status tsl_products_check(const tsl_products *products);

/* Fills host addresses for a plan with a shortcut. Returns false if an address is invalid. */
bool tsl_products_at(const tsl_products *products, int64_t index, tsl_operands *operands);
/* Checks product `index` and fills its operands. */
tesela_status tsl_products_gather(const tsl_products *products, int64_t index, tsl_operands *operands);
/* Checks the first product and fills its operands and the distances to the next products. */
tesela_status tsl_products_gather_all(const tsl_products *products, tsl_operands *operands);

/* Computes a checked product. If is_first, no C is changed, and the result is the product's status. Otherwise
 * the specification computes a failed product, or the result is TESELA_DEVICE_FAILED. */
tesela_status tsl_products_multiply(tsl_products *products, int64_t index, bool is_first);
/* Computes a product by the specification (strategy "sequential"), which needs no memory. The operands have
 * the problem's strides. */
tesela_status tsl_products_by_specification(const tsl_problem *problem, tsl_device *cpu,
                                            tsl_memory_place place, const tsl_operands *operands);
/* Computes all products in one run, by a plan of the whole batch. */
tesela_status tsl_products_together(const tsl_products *products);
/* Returns the error bound that holds for every product. */
double tsl_products_error_bound(const tsl_products *products);

/* Maximum number of products whose error is measured. */
enum { TSL_LOOKED_AT = 8 };
typedef struct tsl_batch_error_check {
  int64_t count, products[TSL_LOOKED_AT]; /* number and indices of the measured products */
  tsl_error_measurement *measuring[TSL_LOOKED_AT];
  tsl_verification **verifications; /* of all products; NULL: the products are not verified */
  int64_t verified_count;
} tsl_batch_error_check;
/* Prepares the measurement of drawn products, and the verification of all, before any is computed. Free
 * *check, also after a failure. */
tesela_status tsl_batch_error_check_begin(const tsl_products *products, tsl_api_checks checks,
                                          tsl_batch_error_check *check);
/* Checks the results after the computation and adds to the record, which may be NULL. */
tesela_status tsl_batch_error_check_end(const tsl_products *products, const tsl_batch_error_check *check,
                                        tesela_record *record);
void tsl_batch_error_check_free(tsl_batch_error_check *check);

#endif
