/* Predicts a product by many ranks: the grid, the words sent, the time. Nothing runs. */
#ifndef TSL_TOOL_EXPLAIN_RANKS_H
#define TSL_TOOL_EXPLAIN_RANKS_H

#include "explain/options.h"

/* Prints the prediction for --ranks ranks with evenly distributed operands. Returns
 * TESELA_OUT_OF_MEMORY if --memory is too small. */
tesela_status tsl_explain_ranks(const tsl_command_call *call, const tsl_problem *problem);

#endif
