/* One loop over strategies, configs and devices; the least predicted time wins. */
#ifndef TSL_PLANNER_PLANNER_H
#define TSL_PLANNER_PLANNER_H

#include "planner/candidate.h"

/* Returns true if TESELA_VENDORS allows vendors' libraries without being named. */
bool tsl_planner_vendors(void);

/* Parses a strategy text; NULL fixes nothing. TESELA_BAD_INPUT names the wrong word. */
tesela_status tsl_planner_request(tsl_op op, const char *text, tsl_strategy_request *out);

/* Lists all candidates, best first, refused ones last; the caller calls free(). PoCL on the processor is
 * never faster than the cpu, unless measured here. TESELA_NO_DEVICE; TESELA_BAD_INPUT: a wrong strategy. */
tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count);

/* Returns a factory that chooses sub-plans like plans of this choice, which must stay valid. */
tsl_subplan_factory tsl_planner_subplans(const tsl_choice *choice);

/* Creates a candidate's plan, with its self-test if none is stored (planner/kernel_self_test.h). */
tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan);
/* Creates the plan of the first usable candidate. TESELA_UNSUPPORTED: all refuse; the message has reasons. A
 * candidate that cannot be built, or has wrong kernels, is logged, refused and skipped. It is not skipped if
 * the caller named the strategy, or the device that failed. */
tesela_status tsl_planner_take(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate *candidates, int count, tsl_plan **plan);

#endif
