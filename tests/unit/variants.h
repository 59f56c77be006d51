/* A strategy's variants on a mock graphics processor: refusals, and the choices of its model. */
#ifndef TESTS_UNIT_VARIANTS_H
#define TESTS_UNIT_VARIANTS_H

#include "unit/config.h"

/* A large graphics processor, with numbers of its data sheet. */
extern const tsl_device graphics;

/* The config that `text` names is refused, in words that hold `part`. */
void assert_refused_for(const tsl_strategy *strategy, const char *text, const tsl_device *device,
                        const tsl_problem *problem, const char *part);

/* The legal config with the shortest prediction, which goes to *seconds; every prediction is a time. */
tsl_config best_config(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       double *seconds);

/* Prints a choice to the test's log. */
void say_choice(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                double seconds);

#endif
