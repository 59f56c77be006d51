/* Copies between buffers of any two devices: by the one of them whose operation reaches the other, else
 * through host memory, by the caller's thread. */
#ifndef TSL_DEVICE_CROSS_COPY_H
#define TSL_DEVICE_CROSS_COPY_H

#include "device/device.h"

/* What one thread copies with between buffers of one device and those of any. Zero it and say the device; one
 * thread at a time uses it. */
typedef struct tsl_device_copier {
  tsl_device *device;
  struct {
    tsl_device *device;
    tsl_stream *stream; /* NULL where it is reached */
  } others[TSL_MEMBERS_MAX];
  int count;
  void *block; /* of host memory on the way; NULL: none was needed yet */
} tsl_device_copier;

/* Whether copies to or from a device are enqueued and no more; else they are done when tsl_device_copy()
 * returns, and take this thread's time. Opens what is needed for that. */
tesela_status tsl_device_copier_meet(tsl_device_copier *carrier, tsl_device *other, bool *by_itself);
/* Copies rows, one side of which is the carrier's device's, in order of a stream of that device; the other
 * side is read or written whatever happens there. */
tesela_status tsl_device_copy(tsl_device_copier *carrier, tsl_stream *stream, const tsl_copy_rect *rows);
/* Waits for what is pending at the other devices; what it copied in a stream is that stream's. */
tesela_status tsl_device_copier_finish(tsl_device_copier *carrier);
/* Nothing that it copied is pending. */
void tsl_device_copier_end(tsl_device_copier *carrier);

#endif
