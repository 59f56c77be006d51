/* An account as rows of a list. */
#ifndef TSL_TOOL_EXPLAIN_COUNTED_PAIRS_H
#define TSL_TOOL_EXPLAIN_COUNTED_PAIRS_H

#include "cli/report.h"
#include "explain/cost_report.h"

/* Two rows: groups, and traffic. Nothing where it does not tell. */
void tsl_counted_add_pairs(const tsl_problem *problem, const tsl_counted *counted, tsl_table *table);

#endif
