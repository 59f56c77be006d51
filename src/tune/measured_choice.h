/* The planner's choice, resting on what the machine does: where there is a choice of devices, the processor's
 * core and the way to the device that would be chosen are measured first, if nobody did (tune/link.h). */
#ifndef TSL_TUNE_MEASURED_CHOICE_H
#define TSL_TUNE_MEASURED_CHOICE_H

#include "planner/planner.h"

/* tsl_planner_list(), sparing, and tsl_planner_take(). */
tesela_status tsl_tune_choose(const tsl_problem *problem, const tsl_choice *choice, tsl_plan **plan);
/* The same, but `first` is taken where it is in the list and has a strategy. */
tesela_status tsl_tune_choose_first(const tsl_problem *problem, const tsl_choice *choice,
                                    const tsl_candidate *first, tsl_plan **plan);

#endif
