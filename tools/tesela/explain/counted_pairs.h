/* Prints a strategy's counts of groups and traffic. */
#ifndef TSL_TOOL_EXPLAIN_COUNTED_PAIRS_H
#define TSL_TOOL_EXPLAIN_COUNTED_PAIRS_H

#include "cli/report.h"
#include "explain/cost_report.h"

/* Adds two rows, groups and traffic; nothing if the strategy does not count them. */
void tsl_counted_add_pairs(const tsl_problem *problem, const tsl_cost_report *counted, tsl_table *table);

#endif
