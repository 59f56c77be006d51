/* Tables and JSON of the results of several ranks. */
#ifndef TSL_TOOL_EXPLORE_RANKS_REPORT_H
#define TSL_TOOL_EXPLORE_RANKS_REPORT_H

#include "explore/options.h"
#include "explore/ranks_found.h"

/* Prints the results in the format of the options. */
tesela_status tsl_ranks_print(const tsl_command_call *call, const tsl_ranks_exploration *all,
                              const tsl_explore_options *options);

#endif
