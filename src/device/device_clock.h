/* The clock that a device runs at this moment: what a measurement stands beside. */
#ifndef TSL_DEVICE_DEVICE_CLOCK_H
#define TSL_DEVICE_DEVICE_CLOCK_H

#include "device/device.h"

/* MHz now: of processors by Linux's files (the fastest core), of NVIDIA's GPUs by NVML (the multiprocessors'
 * clock). 0 where nothing tells, with the reason in `why` (at most `size` bytes; else ""). May be called by
 * any thread. */
int tsl_device_clock_now(const tsl_device *device, char *why, size_t size);

#endif
