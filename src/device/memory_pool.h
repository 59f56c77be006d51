/* Pool of device memory for successive runs, because allocation of gigabytes costs milliseconds. A device
 * keeps released memory, up to a part of its memory, until it closes or memory runs out. Thread-safe. */
#ifndef TSL_DEVICE_MEMORY_POOL_H
#define TSL_DEVICE_MEMORY_POOL_H

#include "device/device.h"

/* Gets a buffer of at most 2 * `bytes`, for tsl_pooled_buffer_give(). Frees the pool before failing. */
tesela_status tsl_pooled_buffer_get(tsl_device *device, size_t bytes, tsl_buffer **buffer);
/* Returns a buffer to the pool. No work that uses it may be pending. NULL is allowed. */
void tsl_pooled_buffer_give(tsl_buffer *buffer);
/* Maximum pooled bytes of a device in host memory: 0, because allocation is cheap. Tests may change it. */
extern uint64_t tsl_pooled_bytes_of_host;
/* Destroys all pooled memory, when the device closes or memory runs out; returns true if there was any. */
bool tsl_pooled_buffers_destroy(tsl_device *device);

#endif
