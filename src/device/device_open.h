#ifndef TSL_DEVICE_DEVICE_OPEN_H
#define TSL_DEVICE_DEVICE_OPEN_H

#include "device/device.h"

/* Opens a device if it is not open. It stays open until tsl_devices_destroy(). */
tesela_status tsl_device_open(tsl_device *device);
bool tsl_device_is_open(tsl_device *device);

#endif
