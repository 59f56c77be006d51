/* Products that are done without a plan, from their descriptions. */
#ifndef TSL_API_SMALL_GEMM_H
#define TSL_API_SMALL_GEMM_H

#include "api/api.h"
#include "planner/candidate.h"

/* One, as it is multiplied, and which bytes its C takes. */
typedef struct tsl_small_gemm {
  tsl_fast_product product;
  int64_t number; /* among others: the caller's */
  uintptr_t start, end;
  bool is_dense;
} tsl_small_gemm;

/* What is the same for any number of them, looked up once. */
typedef struct tsl_small_gemm_finding {
  tesela_context *context;
  tsl_device *cpu; /* or NULL */
  tsl_shared_wisdom *known;
  tsl_choice choice;
  tsl_problem problem;          /* its sizes, strides and scalars are each one's in turn */
  const tsl_strategy *strategy; /* the last one's */
} tsl_small_gemm_finding;

/* To be ended also where it fails. */
tesela_status tsl_small_gemm_begin(tesela_context *context, tsl_small_gemm_finding *state);
void tsl_small_gemm_end(tsl_small_gemm_finding *state);
/* Whether a product is one: plain, small, with operands that lie well in host memory, apart from C, and are
 * right. What is wrong with others is for the long way to say. */
bool tsl_small_gemm_take(tsl_small_gemm_finding *state, const tesela_gemm_desc *desc, tsl_small_gemm *out);

/* Multiplies without a plan where one would be found for nothing (planner/small_gemm_rule.h), with the same
 * bits; false: nothing was touched. */
bool tsl_api_at_once(tesela_context *context, const tesela_gemm_desc *desc);

#endif
