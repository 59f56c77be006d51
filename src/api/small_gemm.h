/* Products that are computed from their descriptions, without a plan. */
#ifndef TSL_API_SMALL_GEMM_H
#define TSL_API_SMALL_GEMM_H

#include "api/api.h"
#include "planner/candidate.h"

/* One such product, and the memory range of its C. */
typedef struct tsl_small_gemm {
  tsl_fast_product product;
  int64_t number; /* the caller's number among other products */
  uintptr_t start, end;
  bool is_dense;
} tsl_small_gemm;

/* State that is looked up once for any number of such products. */
typedef struct tsl_small_gemm_finding {
  tesela_context *context;
  tsl_device *cpu; /* NULL: the context does not use the cpu */
  tsl_shared_wisdom *known;
  tsl_choice choice;
  tsl_problem problem;          /* sizes, strides and scalars are set for each product */
  const tsl_strategy *strategy; /* strategy of the last product */
} tsl_small_gemm_finding;

/* Looks up the state. Call tsl_small_gemm_end() afterwards, also after a failure. */
tesela_status tsl_small_gemm_begin(tesela_context *context, tsl_small_gemm_finding *state);
void tsl_small_gemm_end(tsl_small_gemm_finding *state);
/* Fills out if the product is plain, small and correct, with contiguous operands in host memory that do
 * not overlap C. Returns false otherwise; the full path then reports errors. */
bool tsl_small_gemm_take(tsl_small_gemm_finding *state, const tesela_gemm_desc *desc, tsl_small_gemm *out);

/* Multiplies without a plan if the rule of planner/small_gemm_rule.h allows it, with the bits of a
 * planned product. Returns false if nothing was done. */
bool tsl_api_at_once(tesela_context *context, const tesela_gemm_desc *desc);

#endif
