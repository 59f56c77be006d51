#ifndef TSL_PLANNER_PREDICT_H
#define TSL_PLANNER_PREDICT_H

#include "planner/candidate.h"
#include "planner/estimate.h"

/* Fills config, basis, seconds, doubt and refusal of a device's strategies, for operands on the device.
 * `level` is the prior estimate of measured over predicted seconds. */
void tsl_predict_candidates(const tsl_problem *problem, const tsl_choice *choice,
                            const tsl_strategy_request *request, tsl_estimate level,
                            tsl_candidate *candidates, int count);

/* Returns the prior level of a device's models, by the core's measured speed if the cpu is compared. */
tsl_estimate tsl_predict_candidates_level(const tsl_device *device, bool is_compared);

/* Returns the strategy of bits=devices: the list's first that supports types and accuracy on any device, or
 * NULL. It ignores the available devices, so that all machines agree. */
const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem);

#endif
