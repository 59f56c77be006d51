#ifndef TSL_PLANNER_REPRODUCIBLE_H
#define TSL_PLANNER_REPRODUCIBLE_H

#include "strategy/strategy.h"

/* Returns the strategy of bits=devices: the list's first that supports types and accuracy on any device, or
 * NULL. It ignores the available devices, so that all machines agree. */
const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem);
/* Returns true if two strategies give equal bits; exact or once rounded results do. */
bool tsl_same_bits(const tsl_strategy *strategy, const tsl_strategy *other, const tsl_problem *problem);

#endif
