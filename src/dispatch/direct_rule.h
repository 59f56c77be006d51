/* Rule for products that take less time than planning. */
#ifndef TSL_DISPATCH_DIRECT_RULE_H
#define TSL_DISPATCH_DIRECT_RULE_H

#include "planner/candidate.h"

/* Returns the cpu strategy for a small product: 32 cubed for many threads, 100 cubed for one or two. NULL:
 * the planner chooses, for size, structure, requirements, device or near wisdom. Thread-safe. */
const tsl_strategy *tsl_direct_strategy(const tsl_problem *problem, const tsl_choice *choice);
/* Appends the crossover that decides about such a product: "direct_volume: 8e+06, at most 1e+06; by a plan".
 * Appends nothing if another property decides. */
void tsl_direct_explain(const tsl_problem *problem, const tsl_choice *choice, tsl_text *out);

#endif
