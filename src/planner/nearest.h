/* The sentence of a problem that nothing takes: its types are wrong, or the strategy that came nearest says
 * why. */
#ifndef TSL_PLANNER_NEAREST_H
#define TSL_PLANNER_NEAREST_H

#include "planner/candidate.h"

/* Returns true where no strategy takes a problem's types together, on any device. */
bool tsl_planner_types_are_wrong(const tsl_problem *problem);

/* Fails with TESELA_UNSUPPORTED. All candidates refuse the problem. */
tesela_status tsl_planner_refuse(const tsl_problem *problem, const tsl_candidate *candidates, int count);

#endif
