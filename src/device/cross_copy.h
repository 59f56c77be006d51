/* Copies between buffers of any two devices: directly, if one device reaches the other's memory,
 * else through host memory in the calling thread. */
#ifndef TSL_DEVICE_CROSS_COPY_H
#define TSL_DEVICE_CROSS_COPY_H

#include "device/device.h"

/* Copier of one thread between buffers of `device` and of any other devices. Zero it and set
 * `device`; not thread-safe. */
typedef struct tsl_device_copier {
  tsl_device *device;
  struct {
    tsl_device *device;
    tsl_stream *stream; /* NULL where `device` reaches the other device directly */
  } others[TSL_MEMBERS_MAX];
  int count;
  void *block; /* host memory for indirect copies; NULL until needed */
} tsl_device_copier;

/* Prepares copies to or from `other`. Sets `by_itself` to true if copies are asynchronous; false:
 * tsl_device_copy() copies in the calling thread. */
tesela_status tsl_device_copier_meet(tsl_device_copier *copier, tsl_device *other, bool *by_itself);
/* Copies rows in order of a stream of the copier's device, which must own one side. The other side
 * is not synchronized with work on its device. */
tesela_status tsl_device_copy(tsl_device_copier *copier, tsl_stream *stream, const tsl_copy_rect *rows);
/* Waits for pending copies on the other devices. Copies on the stream of tsl_device_copy() may be pending. */
tesela_status tsl_device_copier_finish(tsl_device_copier *copier);
/* Frees the copier's resources. No copy may be pending. */
void tsl_device_copier_end(tsl_device_copier *copier);

#endif
