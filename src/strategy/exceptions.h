/* Floating-point exceptions of a run on the cpu: nothing traps, and a flag that is set during the run stays only where the result
 * bears it out. Kernels compute with padding and with numbers that no element of C depends on, so flags alone prove nothing. */
#ifndef TSL_STRATEGY_EXCEPTIONS_H
#define TSL_STRATEGY_EXCEPTIONS_H

#include "base/floats.h"
#include "strategy/strategy.h"

#define TSL_EXCEPTIONS_CHECKED (TSL_FLOATS_INVALID | TSL_FLOATS_DIVISION | TSL_FLOATS_OVERFLOW)

/* Masks all exceptions for the calling thread, in the default mode if that is needed. Returns the environment from before. */
static inline tsl_floats tsl_exceptions_begin(bool needs_nearest) {
  const tsl_floats before = tsl_floats_read(), flags = before & TSL_FLOATS_FLAGS;
  const tsl_floats mode = needs_nearest ? tsl_floats_default(before) : tsl_floats_masked(before);
  if ((mode | flags) != before)
    tsl_floats_write(mode | flags);
  return before;
}

/* Returns the flags of `raised` that C bears out: invalid where an element is NaN, overflow and division by zero where one is NaN,
 * infinite or the largest number. Inexact and underflow are not checked. The operands have the run's strides. */
tsl_floats tsl_exceptions_confirmed(tsl_floats raised, const tsl_problem *problem,
                                    const tsl_operands *operands);

/* Restores the mode from before, and adds the flags that the run raised and C bears out. */
static inline void tsl_exceptions_end(tsl_floats before, const tsl_problem *problem,
                                      const tsl_operands *operands) {
  const tsl_floats after = tsl_floats_read();
  tsl_floats raised = after & TSL_FLOATS_FLAGS & ~before;
  if (raised & TSL_EXCEPTIONS_CHECKED)
    raised = tsl_exceptions_confirmed(raised, problem, operands);
  if (after != (before | raised))
    tsl_floats_write(before | raised);
}

#endif
