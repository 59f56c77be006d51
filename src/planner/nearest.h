/* Message for an unsupported problem: the wrong type, or the reason of the nearest strategy. */
#ifndef TSL_PLANNER_NEAREST_H
#define TSL_PLANNER_NEAREST_H

#include "planner/candidate.h"

/* Returns true if no strategy on any device supports the combination of types. */
bool tsl_planner_types_are_wrong(const tsl_problem *problem);

/* Returns TESELA_UNSUPPORTED with a message. All candidates must have refused. */
tesela_status tsl_planner_refuse(const tsl_problem *problem, const tsl_candidate *candidates, int count);

#endif
