#include "explain/explain_values.h"

#include <math.h>

const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device) {
  const bool could = strategy->vendor.load && !tsl_capability_missing(strategy->needs, device->capabilities);
  return could ? strategy->vendor.load()->name : "";
}

json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device) {
  const char *peer = tsl_strategy_peer(strategy, device);
  return *peer ? json_string(peer) : json_null();
}

json_t *tsl_json_real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}
