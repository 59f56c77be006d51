/* `tesela explore` by processes that MPI started: tesela's product of all of them, and with --peers the
 * machine's ScaLAPACK, on the same matrices in the same places, by turns. Every entry is verified before its
 * time counts: each rank judges some of the rows and columns that it has. */
#ifndef TSL_TOOL_EXPLORE_RANKS_H
#define TSL_TOOL_EXPLORE_RANKS_H

#include "explore/options.h"

/* The whole command, on each of the processes; the report is the speaker's. `options` that are of one process
 * are refused. */
tesela_status tsl_explore_together(const tsl_call *call, const tsl_explore_options *options, const char *op,
                                   const char *strategies, bool peers);

#endif
