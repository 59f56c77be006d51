/* Products so small that looking for the best plan takes longer than any plan. */
#ifndef TSL_PLANNER_SMALL_GEMM_RULE_H
#define TSL_PLANNER_SMALL_GEMM_RULE_H

#include "planner/candidate.h"

/* No size is above the first of these. */
enum { TSL_SMALL_GEMM_SIDE = 128 };

/* The strategy that such a product goes to without a list, on the cpu; NULL where there is something to
 * choose: the product is larger (than 32 cubed for many threads, than 100 cubed for one or two), or not
 * plain; something is asked of its result; it may not run there; or wisdom has a record near it, whatever
 * that says. The problem is right (tsl_problem_check()). Any thread. */
const tsl_strategy *tsl_planner_at_once(const tsl_problem *problem, const tsl_choice *choice);

#endif
