/* `tesela explore` on processes that MPI started. It measures tesela's product on all ranks, and
 * with --peers the machine's ScaLAPACK, by turns on equal matrices in an equal layout. Every entry
 * is verified before its time counts: each rank checks some of its rows and columns. */
#ifndef TSL_TOOL_EXPLORE_RANKS_H
#define TSL_TOOL_EXPLORE_RANKS_H

#include "explore/options.h"

/* Runs the whole command. Called by all ranks; one rank prints the report. Returns TESELA_BAD_CALL for
 * options that apply to one process only. */
tesela_status tsl_explore_together(const tsl_command_call *call, const tsl_explore_options *options,
                                   const char *op, const char *strategies, bool peers);

#endif
