/* Parses configs of a strategy from text, and reads their parameters. */
#ifndef TESTS_UNIT_CONFIG_H
#define TESTS_UNIT_CONFIG_H

#include "unit/unit.h"

#include "strategy/strategy.h"

/* Returns the default config with the changes in `text`, "name=value ...". */
tsl_config config_of(const tsl_strategy *strategy, const char *text);

/* Returns the value of the parameter `name`; fails the test if there is none. */
int64_t value_of(const tsl_strategy *strategy, const tsl_config *config, const char *name);

#endif
