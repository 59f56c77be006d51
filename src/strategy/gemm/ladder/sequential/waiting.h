#ifndef TSL_GEMM_SEQUENTIAL_WAITING_H
#define TSL_GEMM_SEQUENTIAL_WAITING_H

#include "core/memory.h"
#include "strategy/cost_counts.h"

#include <math.h>

/* Estimates the cache lines from memory for each term. */
static inline double tsl_triple_loop_lines(const tsl_problem *problem) {
  const double line = TSL_CACHE_LINE, size = (double)tsl_type(problem->b.type)->size;
  const double bytes = (double)problem->k * (double)problem->n * size;
  const double step = fabs((double)problem->b.row_stride) * size;
  return tsl_cost_counts_uncached(bytes) * fmin(1, step / line);
}

/* Returns the clocks that a term waits for memory. */
static inline double tsl_triple_loop_waiting(const tsl_problem *problem) {
  static const double clocks = 12;
  return clocks * tsl_triple_loop_lines(problem);
}

/* Counts memory traffic: a column of B and a row of A for each element of C. */
static inline void tsl_triple_loop_account(const tsl_problem *problem, const tsl_device *device,
                                           tsl_cost_counts *account) {
  tsl_cost_counts_operands(problem, account->useful, account->useful, account);
  tsl_cost_counts_result(problem, 1, account);
  tsl_cost_counts_walk(&problem->b, account->useful, (double)problem->k, problem->b.row_stride, device,
                       account);
  account->memory += tsl_triple_loop_lines(problem) * TSL_CACHE_LINE * account->useful;
}

#endif
