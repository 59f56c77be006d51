/* Values shared by explanations and the tool's reports. */
#ifndef TSL_EXPLAIN_EXPLAIN_VALUES_H
#define TSL_EXPLAIN_EXPLAIN_VALUES_H

#include "strategy/strategy.h"

#include <jansson.h>

/* Returns the vendor's library of a strategy with its version, such as "OpenBLAS 0.3.21 SkylakeX".
 * Returns "" for tesela's own strategies, for a missing library, and for devices that the library does
 * not support. May load the library. */
const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device);

/* Returns tsl_strategy_peer() as JSON; null for "". */
json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device);
/* Returns a number as JSON; null for infinity and NaN. */
json_t *tsl_json_real(double value);

#endif
