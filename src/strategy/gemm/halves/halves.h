/* gemm halves: what its files share. */
#ifndef TSL_STRATEGY_GEMM_HALVES_H
#define TSL_STRATEGY_GEMM_HALVES_H

#include "strategy/subplans.h"

/* What is guaranteed of |A||B|, in roundings of f32: what was asked for, or the least that there is. And what
 * of it the product of halves may err by, of its own factors: what is asked of a child. */
double tsl_halves_factor(const tsl_problem *problem);
double tsl_halves_product_factor(const tsl_problem *problem);

/* C' = B' A', where C's columns follow each other. */
bool tsl_halves_is_swapped(const tsl_problem *problem);
/* The product of halves, f32 = f16 f16, for as many lines as the problem has: rounded numbers lie as the
 * problem's do. */
tsl_problem tsl_halves_product(const tsl_problem *problem);

/* What build() leaves in work->state. */
typedef struct tsl_halves_state {
  tsl_subplan *product;                                  /* NULL: there is nothing to multiply */
  tsl_kernel *guess, *round[2], *decide, *join, *native; /* round: of A's lines, of B's */
} tsl_halves_state;

/* Bytes of memory of a run, and of it what a child may have; kernels for a state; a run. */
uint64_t tsl_halves_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
uint64_t tsl_halves_workspace(const tsl_problem *problem);
tesela_status tsl_halves_find_kernels(tsl_work *work);
tesela_status tsl_halves_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Predicted seconds, and what is moved. */
double tsl_halves_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_halves_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account);

#endif
