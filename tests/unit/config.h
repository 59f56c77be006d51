/* Parses configs of a strategy from text, and reads their parameters. */
#ifndef TESTS_UNIT_CONFIG_H
#define TESTS_UNIT_CONFIG_H

#include "unit/unit.h"

#include "strategy/strategy.h"

/* The defaults, but for what "name=value ..." says. */
tsl_config config_of(const tsl_strategy *strategy, const char *text);

int64_t value_of(const tsl_strategy *strategy, const tsl_config *config, const char *name);

#endif
