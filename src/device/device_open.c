#include "device/device_open.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
#include "device/device_private.h"

tesela_status tsl_device_open(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tesela_status status = TESELA_OK;
  char took[32];
  tsl_fork_mutex_lock(&slot->open_lock);
  if (!slot->is_open) {
    const double begin = tsl_clock();
    status = device->ops->open(device);
    slot->is_open = status == TESELA_OK;
    tsl_log(TSL_LOG_DEVICE, "%s %s after %s: %s", device->name, slot->is_open ? "is open" : "does not open",
            tsl_format_seconds(tsl_clock() - begin, took, sizeof took),
            slot->is_open ? device->label : tesela_last_error());
  }
  tsl_fork_mutex_unlock(&slot->open_lock);
  return status;
}

bool tsl_device_is_open(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tsl_fork_mutex_lock(&slot->open_lock);
  const bool is_open = slot->is_open;
  tsl_fork_mutex_unlock(&slot->open_lock);
  return is_open;
}
