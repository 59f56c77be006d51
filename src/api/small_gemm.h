/* Products so small that finding a plan takes longer: computed from their descriptions. */
#ifndef TSL_API_SMALL_GEMM_H
#define TSL_API_SMALL_GEMM_H

#include "api/api.h"
#include "dispatch/dispatch.h"
#include "planner/candidate.h"

typedef struct tsl_small_gemm {
  tsl_call call;
  int64_t number;       /* index of the member in the caller's arrays */
  uintptr_t start, end; /* first byte of C, and one past the last */
  bool is_dense;        /* C has no gaps */
} tsl_small_gemm;

/* State that is looked up once for many products. */
typedef struct tsl_small_gemm_finding {
  tesela_context *context;
  tsl_device *cpu;          /* NULL: the context does not use the cpu */
  tsl_shared_wisdom *known; /* wisdom of the context, held until tsl_small_gemm_end() */
  tsl_choice choice;
  tsl_problem problem; /* each product sets sizes, strides and scalars */
} tsl_small_gemm_finding;

/* Looks up devices and wisdom, to which `state` holds a reference until tsl_small_gemm_end(); call that even
 * after a failure. */
tesela_status tsl_small_gemm_begin(tesela_context *context, tsl_small_gemm_finding *state);
void tsl_small_gemm_end(tsl_small_gemm_finding *state);
/* Fills out if the product is plain, small and correct, with contiguous host operands that do not overlap C.
 * If it returns false, the full path reports errors. */
bool tsl_small_gemm_take(tsl_small_gemm_finding *state, const tesela_gemm_desc *desc, tsl_small_gemm *out);

/* Multiplies by dispatch/direct_rule.h, with a planned product's bits; false: nothing was done. */
bool tsl_small_gemm_run(tesela_context *context, const tesela_gemm_desc *desc);

#endif
