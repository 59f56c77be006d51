/* The race of one type and size by several ranks. */
#ifndef TSL_TOOL_EXPLORE_RANKS_RACE_H
#define TSL_TOOL_EXPLORE_RANKS_RACE_H

#include "explore/pblas.h"
#include "explore/ranks_found.h"

/* Called by all ranks. `pblas`: NULL where there is none, which the point's entry says already. The same
 * failure on all ranks. */
tesela_status tsl_ranks_race(const tsl_ranks_exploration *all, const tsl_pblas *pblas,
                             tsl_ranks_point *point);

#endif
