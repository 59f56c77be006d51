/* Values that explanations and the tool's reports have in common. */
#ifndef TSL_EXPLAIN_EXPLAIN_VALUES_H
#define TSL_EXPLAIN_EXPLAIN_VALUES_H

#include "strategy/strategy.h"

#include <jansson.h>

/* The vendor's library behind a strategy, with its version, "OpenBLAS 0.3.21 SkylakeX"; "" for tesela's own
 * strategies, where the library is absent, and on devices that it has nothing to do with. May load it. */
const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device);

/* The same, null where that is "". */
json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device);
/* A number, or null for what JSON has no number for. */
json_t *tsl_json_real(double value);

#endif
