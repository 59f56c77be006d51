/* Measures one type and size on several ranks. */
#ifndef TSL_TOOL_EXPLORE_RANKS_RACE_H
#define TSL_TOOL_EXPLORE_RANKS_RACE_H

#include "explore/pblas.h"
#include "explore/ranks_found.h"

/* Measures a point; called by all ranks. `pblas` is NULL if there is no peer; the point's entry
 * then has the reason already. A failure is equal on all ranks. */
tesela_status tsl_ranks_race(const tsl_ranks_exploration *all, const tsl_pblas *pblas,
                             tsl_ranks_point *point);

#endif
