/* Strategy whose bits a problem with bits=devices gets. */
#ifndef TSL_PLANNER_REPRODUCIBLE_H
#define TSL_PLANNER_REPRODUCIBLE_H

#include "strategy/strategy.h"

/* Returns the first strategy of the list that supports the problem's types and accuracy, on any device;
 * NULL: none. The choice ignores the available devices and their refusals, so that all machines agree. */
const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem);
/* Returns true if two strategies give equal bits, as all do whose results are exact or rounded once. */
bool tsl_same_bits(const tsl_strategy *strategy, const tsl_strategy *other, const tsl_problem *problem);

#endif
