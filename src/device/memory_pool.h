/* Pool of device memory that successive runs reuse. Allocating gigabytes costs milliseconds, more
 * with peer access. A device keeps released memory, up to a part of its memory, until it closes or
 * runs out of memory. Thread-safe. */
#ifndef TSL_DEVICE_MEMORY_POOL_H
#define TSL_DEVICE_MEMORY_POOL_H

#include "device/device.h"

/* Gets a buffer of at least `bytes` and at most twice as many bytes; release it with
 * tsl_kept_give(). Fails like buffer_create(), after all pooled memory was freed. */
tesela_status tsl_pool_alloc(tsl_device *device, size_t bytes, tsl_buffer **buffer);
/* Returns a buffer to the pool. No work that uses it may be pending. NULL is allowed. */
void tsl_kept_give(tsl_buffer *buffer);
/* Maximum pooled bytes of a device whose memory is the host's: 0, because allocation costs nothing
 * there. Tests may change it. */
extern uint64_t tsl_kept_of_host;
/* Destroys all pooled memory; returns true if there was any. Called before the device closes, and
 * when memory runs out. */
bool tsl_kept_forget(tsl_device *device);

#endif
