/* Memory of a device that one run takes after the other. Taking gigabytes from a driver and giving them back
 * costs milliseconds, and the more where other devices have access to them; so a device keeps what runs gave
 * back, up to a part of what it has, until it closes or lacks memory. Any thread may call these at any time.
 */
#ifndef TSL_DEVICE_MEMORY_POOL_H
#define TSL_DEVICE_MEMORY_POOL_H

#include "device/device.h"

/* One of at least `bytes` bytes, and at most twice as many. Fails as buffer_create() does, where giving up
 * all that is kept does not help. */
tesela_status tsl_pool_alloc(tsl_device *device, size_t bytes, tsl_buffer **buffer);
/* Gives back what was taken; no work that uses it is pending. NULL is allowed. */
void tsl_kept_give(tsl_buffer *buffer);
/* Most bytes that a device keeps whose memory is the host's: 0, as that costs nothing to take. A test may
 * change it. */
extern uint64_t tsl_kept_of_host;
/* Destroys all that is kept, and tells whether there was any: before the device closes, and where it lacks
 * memory. */
bool tsl_kept_forget(tsl_device *device);

#endif
