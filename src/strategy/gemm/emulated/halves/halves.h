#ifndef TSL_STRATEGY_GEMM_HALVES_H
#define TSL_STRATEGY_GEMM_HALVES_H

#include "strategy/subplans.h"

/* Returns the error bound relative to |A||B| in roundings of f32: the required accuracy, or the best. */
double tsl_halves_factor(const tsl_problem *problem);
/* Returns the error that the child plan of the f16 product may have, relative to its own factors. */
double tsl_halves_product_factor(const tsl_problem *problem);

/* Returns true if C' = B' A' is computed, since C's columns are contiguous. */
bool tsl_halves_is_swapped(const tsl_problem *problem);
/* Returns the problem of the f16 product with f32 sums; rounded operands keep the operands' orientation. */
tsl_problem tsl_halves_product(const tsl_problem *problem);

typedef struct tsl_halves_state {
  tsl_subplan *product; /* NULL: no products */
  /* guess: scales of lines; round: A's lines, B's; decide: states of lines from scales and counts; join: C
   * from sums; native: elements of C without a proof */
  tsl_kernel *guess, *round[2], *decide, *join, *native;
} tsl_halves_state;

uint64_t tsl_halves_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* Returns the bytes of scratch memory that the child plan may use. */
uint64_t tsl_halves_workspace(const tsl_problem *problem);
tesela_status tsl_halves_find_kernels(tsl_work *work);
tesela_status tsl_halves_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

double tsl_halves_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_halves_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account);

#endif
