/* Rule for products so small that planning takes longer than any plan. */
#ifndef TSL_PLANNER_SMALL_GEMM_RULE_H
#define TSL_PLANNER_SMALL_GEMM_RULE_H

#include "planner/candidate.h"

/* Maximum size of m, n and k. */
enum { TSL_SMALL_GEMM_SIDE = 128 };

/* Returns the cpu strategy for such a product, without listing candidates. NULL: the planner must
 * choose. That is the case if the product is too large (32 cubed for many threads, 100 cubed for one or
 * two) or not plain. It is also the case if its result has requirements, it may not run on the cpu, or
 * wisdom has a record near it. The problem must have passed tsl_problem_check(). Thread-safe. */
const tsl_strategy *tsl_planner_at_once(const tsl_problem *problem, const tsl_choice *choice);

#endif
