#ifndef TSL_GEMM_EXACT_H
#define TSL_GEMM_EXACT_H

#include "strategy/cost_counts.h"
#include "strategy/strategy.h"

/* exact on the processor. A run fails only if memory is short. */
tesela_status tsl_gemm_exact_run_host(const tsl_work *work, const tsl_operands *operands);
double tsl_gemm_exact_score_host(const tsl_problem *problem, const tsl_device *device);
void tsl_gemm_exact_account_host(const tsl_problem *problem, const tsl_device *device,
                                 tsl_cost_counts *account);

#endif
