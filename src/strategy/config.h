/* Parameters of strategies, and their values. */
#ifndef TSL_STRATEGY_CONFIG_H
#define TSL_STRATEGY_CONFIG_H

#include <stdint.h>

#define TSL_PARAMS_MAX 12
#define TSL_PARAM_VALUES_MAX 32

typedef struct tsl_param {
  const char *name; /* name in texts; NULL ends the table */
  const char *what; /* description of one line, with the unit */
  int64_t fallback; /* default value */
  /* Values that searches and the planner try, ended by 0 or the array's end. None: always the default. */
  int64_t values[TSL_PARAM_VALUES_MAX];
} tsl_param;

/* Range of values that a user may set in addition to the listed values. `max` = 0: none. */
typedef struct tsl_range {
  int64_t min, max;
} tsl_range;

/* Parameter values, in the order of the strategy's table. */
typedef struct tsl_config {
  int64_t value[TSL_PARAMS_MAX];
} tsl_config;

#endif
