/* Floating-point exceptions of a run on the cpu. Nothing traps. A flag raised during the run is
 * reported only if an element of C confirms it, because kernels also compute with padding. */
#ifndef TSL_STRATEGY_EXCEPTIONS_H
#define TSL_STRATEGY_EXCEPTIONS_H

#include "core/floats.h"
#include "strategy/strategy.h"

/* Masks all exceptions for the calling thread. Returns the previous environment. */
static inline tsl_floats tsl_exceptions_begin(void) {
  const tsl_floats before = tsl_floats_read(),
                   masked = tsl_floats_masked(before) | (before & TSL_FLOATS_FLAGS);
  if (masked != before)
    tsl_floats_write(masked);
  return before;
}

/* Restores the environment `before`, and adds the flags that the run raised and C confirms. A NaN element
 * confirms invalid; a NaN, an infinity or the largest number confirms overflow and, of a solve, division by
 * zero. Inexact and underflow are kept unchecked. The operands have the run's strides. */
void tsl_exceptions_settle(tsl_floats before, const tsl_problem *problem, const tsl_operands *operands);

/* Calls tsl_exceptions_settle() if the environment differs from `before` of tsl_exceptions_begin(). */
static inline void tsl_exceptions_end(tsl_floats before, const tsl_problem *problem,
                                      const tsl_operands *operands) {
  if (tsl_floats_read() != before)
    tsl_exceptions_settle(before, problem, operands);
}

#endif
