/* Copies between buffers of any devices: directly if one reaches the other's memory, else by the host. */
#ifndef TSL_DEVICE_CROSS_COPY_H
#define TSL_DEVICE_CROSS_COPY_H

#include "device/device.h"

/* Copier of one thread between `device` and others; not thread-safe. Zero it, then set `device`. */
typedef struct tsl_device_copier {
  tsl_device *device;
  struct {
    tsl_device *device;
    tsl_stream *stream; /* NULL where `device` reaches the other device directly */
  } others[TSL_MEMBERS_MAX];
  int count;
  void *block; /* host memory for indirect copies; NULL until needed */
} tsl_device_copier;

/* Prepares copies to or from `other`. *is_asynchronous: false if the calling thread copies. */
tesela_status tsl_device_copier_prepare(tsl_device_copier *copier, tsl_device *other, bool *is_asynchronous);
/* Copies rows in order of a stream of the copier's device, which owns one side; no wait for other devices. */
tesela_status tsl_device_copy(tsl_device_copier *copier, tsl_stream *stream, const tsl_copy_rect *rows);
/* Waits for pending copies on the other devices, not for those on the stream of tsl_device_copy(). */
tesela_status tsl_device_copier_finish(tsl_device_copier *copier);
/* Frees the copier's resources. No copy may be pending. */
void tsl_device_copier_end(tsl_device_copier *copier);

#endif
