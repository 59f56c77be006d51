#ifndef TSL_DEVICE_DEVICE_CLOCK_H
#define TSL_DEVICE_DEVICE_CLOCK_H

#include "device/device.h"

/* Returns the present clock in MHz: the fastest core from Linux's files, or the multiprocessor clock from
 * NVML. 0 where unknown, with the reason in `why` (at most `size` bytes; else ""). Thread-safe. */
int tsl_device_clock_now(const tsl_device *device, char *why, size_t size);
/* Returns the present temperature in degrees Celsius: of Linux's hottest thermal zone, or from NVML. 0 where
 * unknown, with the reason in `why`. Thread-safe. */
int tsl_device_temperature_now(const tsl_device *device, char *why, size_t size);

#endif
