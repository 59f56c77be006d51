/* A strategy's variants on a mock graphics processor: refusals, and the choices of its model. */
#ifndef TESTS_UNIT_VARIANTS_H
#define TESTS_UNIT_VARIANTS_H

#include "unit/config.h"

/* A large graphics processor, with numbers of its data sheet. */
extern const tsl_device graphics;

/* Fails the test unless the strategy refuses the config `text` with a reason that contains `part`. */
void assert_refused_for(const tsl_strategy *strategy, const char *text, const tsl_device *device,
                        const tsl_problem *problem, const char *part);

/* Returns the legal config with the shortest predicted time, and stores the time in *seconds. Fails the test
 * if a prediction is not positive and finite. */
tsl_config best_config(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       double *seconds);

/* Prints a choice to the test's log. */
void say_choice(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                double seconds);

#endif
