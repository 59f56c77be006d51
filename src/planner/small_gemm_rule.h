/* Rule for products that take less time than planning. */
#ifndef TSL_PLANNER_SMALL_GEMM_RULE_H
#define TSL_PLANNER_SMALL_GEMM_RULE_H

#include "planner/candidate.h"

/* Maximum of m, n and k. */
enum { TSL_SMALL_GEMM_SIDE = 128 };

/* Returns the cpu strategy for a small product: 32 cubed for many threads, 100 cubed for one or two. NULL:
 * the planner chooses, for size, structure, requirements, device or near wisdom. Thread-safe. */
const tsl_strategy *tsl_planner_at_once(const tsl_problem *problem, const tsl_choice *choice);

#endif
