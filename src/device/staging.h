/* What a run that copies beside computing needs of a device: pinned memory in slots of one size, which copies
 * in and out take in turn, a stream for each way, and events. Taking pinned memory costs 0.4 s a gigabyte, so
 * a device keeps what runs gave back, for the runs of all plans, until it closes. */
#ifndef TSL_DEVICE_STAGING_H
#define TSL_DEVICE_STAGING_H

#include "device/device.h"

/* Slots, and events for marks of the caller's. */
enum { TSL_STAGING_SLOTS = 6, TSL_STAGING_MARKS = 64 };

typedef struct tsl_staging {
  struct tsl_staging *next;
  tsl_device *device;
  tsl_pinned *memory;
  size_t slot_bytes;
  tsl_stream *in, *out;
  tsl_event *used[TSL_STAGING_SLOTS]; /* behind the last copy from or to a slot */
  bool is_used[TSL_STAGING_SLOTS];    /* it was recorded, and nobody has waited for it */
  int turn;                           /* the slot that is taken next */
  tsl_event *arrived;
  tsl_event *marks[TSL_STAGING_MARKS]; /* made by tsl_staging_mark() */
} tsl_staging;

/* Whether the device copies beside computing: it is not the processor, shares no memory, and has the
 * operations. */
bool tsl_staging_is_offered(const tsl_device *device);

/* How operands are staged, in bytes and elements. */
typedef struct tsl_staging_sizes {
  size_t slot;   /* bytes of a slot, which is the largest piece */
  int64_t block; /* elements of C's blocks, about */
  double least;  /* bytes of all copies of a run from which on they are staged */
} tsl_staging_sizes;

/* Of a device, or TESELA_STAGING's; false where nothing is to be staged there. */
bool tsl_staging_sizes_of(const tsl_device *device, tsl_staging_sizes *sizes);

/* One with slots of `slot_bytes`. TESELA_OUT_OF_MEMORY where the system gives no pinned memory. */
tesela_status tsl_staging_take(tsl_device *device, size_t slot_bytes, tsl_staging **staging);
/* Waits for what is pending. `reusable` is false after a failure: it is destroyed. */
void tsl_staging_give(tsl_staging *staging, bool reusable);
/* Destroys what a device keeps; before it closes. */
void tsl_staging_forget(tsl_device *device);

/* The next slot, once the copy that had it before is done; and its memory. tsl_staging_use() is due behind
 * the copy that takes it now, on the stream of that copy. */
tesela_status tsl_staging_slot(tsl_staging *staging, int *slot);
void *tsl_staging_memory(const tsl_staging *staging, int slot);
tesela_status tsl_staging_use(tsl_staging *staging, int slot, tsl_stream *stream);
/* Waits until the copy of a slot is done. */
tesela_status tsl_staging_wait(tsl_staging *staging, int slot);
/* Event number `index` of the marks. */
tesela_status tsl_staging_mark(tsl_staging *staging, int index, tsl_event **mark);

#endif
