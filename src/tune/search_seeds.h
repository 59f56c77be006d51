/* What a search on a device begins with, and what it leaves to wisdom: for tesela tune, and for planning with
 * effort. */
#ifndef TSL_TUNE_SEARCH_SEEDS_H
#define TSL_TUNE_SEARCH_SEEDS_H

#include "planner/planner.h"
#include "tune/tune.h"

/* The point that the planner would run, where that is in the space, else the models' first; and those of
 * other strategies that wisdom knows and that are not out of the question. Free *known with free(). */
tesela_status tsl_tune_find_start(const tsl_problem *problem, const tsl_choice *choice,
                                  const tsl_space *space, int *start, int **known, int *known_count);
/* Appends the records that wisdom is to keep, one a line. */
void tsl_tuned_print(const tsl_tuned *tuned, const tsl_space *space, const tsl_problem *problem,
                     const tsl_device *device, tsl_text *out);

#endif
