/* What a product by many ranks would be: its grid, the words that travel, the time; reckoned, nothing runs.
 */
#ifndef TSL_TOOL_EXPLAIN_RANKS_H
#define TSL_TOOL_EXPLAIN_RANKS_H

#include "explain/options.h"

/* Of --ranks ranks, for operands that lie evenly. TESELA_OUT_OF_MEMORY where --memory is too little. */
tesela_status tsl_explain_ranks(const tsl_call *call, const tsl_problem *problem);

#endif
