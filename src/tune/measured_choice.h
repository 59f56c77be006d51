/* Planner's choice with measured transfer costs. With several devices to choose from, the CPU
 * core's speed and the chosen device's transfer costs are measured first, if unknown (tune/link.h). */
#ifndef TSL_TUNE_MEASURED_CHOICE_H
#define TSL_TUNE_MEASURED_CHOICE_H

#include "planner/planner.h"

/* Lists candidates and creates the plan of the best one (tsl_planner_list() with `sparing`,
 * tsl_planner_take()). */
tesela_status tsl_tune_choose(const tsl_problem *problem, const tsl_choice *choice, tsl_plan **plan);
/* Chooses like tsl_tune_choose(), but prefers `first` if it is in the list and has a strategy. */
tesela_status tsl_tune_choose_first(const tsl_problem *problem, const tsl_choice *choice,
                                    const tsl_candidate *first, tsl_plan **plan);

#endif
