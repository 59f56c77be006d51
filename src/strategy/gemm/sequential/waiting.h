/* What the triple loop waits for memory, for the models of the strategies that run it. */
#ifndef TSL_GEMM_SEQUENTIAL_WAITING_H
#define TSL_GEMM_SEQUENTIAL_WAITING_H

#include "strategy/strategy.h"

#include <math.h>

/* Clocks a term. While B stays in the second-level cache there are none; once it does not, each term reads a new
 * cache line of a row-major B, but only a part of one where a column's elements lie closer together. */
static inline double tsl_triple_loop_waiting(const tsl_problem *problem) {
  const double cache = 2e6, line = 64, clocks = 12;
  const double size = (double)tsl_type(problem->b.type)->size;
  const double bytes = (double)problem->k * (double)problem->n * size;
  const double step = fabs((double)problem->b.row_stride) * size;
  return clocks * bytes / (bytes + cache) * fmin(1, step / line);
}

#endif
