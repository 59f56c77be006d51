#ifndef TSL_EXPLAIN_EXPLAIN_VALUES_H
#define TSL_EXPLAIN_EXPLAIN_VALUES_H

#include "strategy/strategy.h"

#include <jansson.h>

/* Returns a strategy's vendor library with its version ("OpenBLAS 0.3.21 SkylakeX"), after loading it. "":
 * tesela's own strategy, a missing library, or an unsupported device. */
const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device);

/* Returns tsl_strategy_peer() as JSON; null for "". */
json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device);
/* Returns a number as JSON; null for infinity and NaN. */
json_t *tsl_json_real(double value);

#endif
