/* What a run is expected to take: for each strategy on a device its config, and an estimate of its seconds
 * from wisdom and models. */
#ifndef TSL_PLANNER_PREDICT_H
#define TSL_PLANNER_PREDICT_H

#include "planner/candidate.h"
#include "planner/estimate.h"

/* Fills config, basis, seconds, doubt and refusal of all strategies of one device, with operands on the
 * device. `level` is what is known of the device's models beforehand. */
void tsl_predict_candidates(const tsl_problem *problem, const tsl_choice *choice,
                            const tsl_strategy_request *request, tsl_estimate level,
                            tsl_candidate *candidates, int count);

/* Of the models of a device, before anything of a problem is known; of the cpu, where it is compared with
 * others, by what its core was measured to do. */
tsl_estimate tsl_predict_candidates_level(const tsl_device *device, bool is_compared);

#endif
