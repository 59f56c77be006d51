/* Floating-point exceptions of a run on the cpu: nothing traps, and a flag that is raised during the run
 * stays only where the result bears it out. Kernels compute with padding, too, so flags alone prove
 * nothing. */
#ifndef TSL_STRATEGY_EXCEPTIONS_H
#define TSL_STRATEGY_EXCEPTIONS_H

#include "base/floats.h"
#include "strategy/strategy.h"

/* Masks all exceptions for the calling thread. Returns the environment from before. */
static inline tsl_floats tsl_exceptions_begin(void) {
  const tsl_floats before = tsl_floats_read(),
                   masked = tsl_floats_masked(before) | (before & TSL_FLOATS_FLAGS);
  if (masked != before)
    tsl_floats_write(masked);
  return before;
}

/* Restores the environment from before, and adds the flags that the run raised and C bears out. Invalid
 * needs an element that is NaN; overflow and division by zero need one that is NaN, infinite or the
 * largest number. Inexact and underflow are not checked. The operands have the run's strides. */
void tsl_exceptions_settle(tsl_floats before, const tsl_problem *problem, const tsl_operands *operands);

static inline void tsl_exceptions_end(tsl_floats before, const tsl_problem *problem,
                                      const tsl_operands *operands) {
  if (tsl_floats_read() != before)
    tsl_exceptions_settle(before, problem, operands);
}

#endif
