/* Start points of a search on a device, and its records for wisdom. */
#ifndef TSL_TUNE_SEARCH_SEEDS_H
#define TSL_TUNE_SEARCH_SEEDS_H

#include "planner/planner.h"
#include "tune/tune.h"

/* Finds the planner's point, or the models' first if it is not in the space. *known, for free(): other
 * strategies' points in wisdom that are not far slower. */
tesela_status tsl_tune_find_start(const tsl_problem *problem, const tsl_choice *choice,
                                  const tsl_space *space, int *start, int **known, int *known_count);
/* Appends the records for wisdom, one a line. */
void tsl_tuned_print(const tsl_tuned *tuned, const tsl_space *space, const tsl_problem *problem,
                     const tsl_device *device, tsl_text *out);

#endif
