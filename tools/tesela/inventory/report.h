/* Devices and strategies in reports. */
#ifndef TSL_TOOL_INVENTORY_REPORT_H
#define TSL_TOOL_INVENTORY_REPORT_H

#include "cli/report.h"
#include "device/devices.h"
#include "strategy/support.h"

/* Returns tsl_strategy_peer() as JSON; null for "". */
json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device);
/* Returns name, label and driver of a device; with `all` every property. */
json_t *tsl_json_device(const tsl_device *device, bool all);
/* Returns the device kinds without a device and their reasons, as objects with `kind`, `what`,
 * `reason`. */
json_t *tsl_json_missing(tsl_devices *devices);

#endif
