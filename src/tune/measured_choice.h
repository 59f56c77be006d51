/* Planner's choice with measured transfer costs (tune/link.h), if there are several devices. */
#ifndef TSL_TUNE_MEASURED_CHOICE_H
#define TSL_TUNE_MEASURED_CHOICE_H

#include "planner/planner.h"

/* Creates the plan of the best candidate (tsl_planner_list() with `sparing`, tsl_planner_take()). */
tesela_status tsl_tune_choose(const tsl_problem *problem, const tsl_choice *choice, tsl_plan **plan);
/* Chooses like tsl_tune_choose(), but prefers `first` if it is in the list and has a strategy. *second gets
 * the best other candidate on the plan's device; without a strategy: there is none. It may be NULL. */
tesela_status tsl_tune_choose_first(const tsl_problem *problem, const tsl_choice *choice,
                                    const tsl_candidate *first, tsl_candidate *second, tsl_plan **plan);

#endif
