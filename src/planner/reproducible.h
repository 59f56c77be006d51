/* Whose bits a problem gets that asks for the same ones on every device. */
#ifndef TSL_PLANNER_REPRODUCIBLE_H
#define TSL_PLANNER_REPRODUCIBLE_H

#include "strategy/strategy.h"

/* Those of the first of the list that takes its types and guarantees what it asks for, whatever devices there
 * are and whatever they refuse, so that all come to the same; NULL: there is none. */
const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem);
/* Whether two come to the same bits, as all do whose results are exact or rounded once. */
bool tsl_same_bits(const tsl_strategy *strategy, const tsl_strategy *other, const tsl_problem *problem);

#endif
