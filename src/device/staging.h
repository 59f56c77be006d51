/* Staging of a device: pinned memory in slots of equal size for asynchronous copies, a stream for
 * each direction, and events. Pinned memory costs 0.4 s per gigabyte, so a device keeps released
 * stagings for all plans until it closes. */
#ifndef TSL_DEVICE_STAGING_H
#define TSL_DEVICE_STAGING_H

#include "device/device.h"

/* Numbers of slots, and of events for the caller. */
enum { TSL_STAGING_SLOTS = 6, TSL_STAGING_MARKS = 64 };

typedef struct tsl_staging {
  struct tsl_staging *next;
  tsl_device *device;
  tsl_pinned *memory;
  size_t slot_bytes;
  tsl_stream *in, *out;
  tsl_event *used[TSL_STAGING_SLOTS]; /* recorded after the last copy of a slot */
  bool is_used[TSL_STAGING_SLOTS];    /* the event was recorded and has not been waited for */
  int turn;                           /* next slot in rotation */
  tsl_event *arrived;
  tsl_event *marks[TSL_STAGING_MARKS]; /* made by tsl_staging_mark() */
} tsl_staging;

/* Returns true if the device supports asynchronous copies: it is not the processor, shares no
 * memory, and has the operations. */
bool tsl_staging_is_offered(const tsl_device *device);

typedef struct tsl_staging_sizes {
  size_t slot;   /* bytes of a slot, the maximum chunk */
  int64_t block; /* approximate elements of a block of C */
  double least;  /* minimum bytes of all copies of a run for staging */
} tsl_staging_sizes;

/* Gets the sizes for a device, or of TESELA_STAGING; false: no staging. */
bool tsl_staging_sizes_of(const tsl_device *device, tsl_staging_sizes *sizes);

/* Gets a staging with slots of `slot_bytes`, to be released with tsl_staging_give(). Fails with
 * TESELA_OUT_OF_MEMORY where the system limits pinned memory. */
tesela_status tsl_staging_take(tsl_device *device, size_t slot_bytes, tsl_staging **staging);
/* Waits for pending copies and releases the staging. `reusable` is false after a failure: the
 * staging is destroyed. */
void tsl_staging_give(tsl_staging *staging, bool reusable);
/* Destroys the released stagings of a device, before it closes. */
void tsl_staging_forget(tsl_device *device);

/* Gets the next slot, after its previous copy is done. The caller calls tsl_staging_use() after it
 * enqueues the next copy of the slot. */
tesela_status tsl_staging_slot(tsl_staging *staging, int *slot);
/* Returns the host address of a slot. */
void *tsl_staging_memory(const tsl_staging *staging, int slot);
/* Records the copy of a slot on its stream. */
tesela_status tsl_staging_use(tsl_staging *staging, int slot, tsl_stream *stream);
/* Waits until the copy of a slot is done. */
tesela_status tsl_staging_wait(tsl_staging *staging, int slot);
/* Gets event `index` of the marks. */
tesela_status tsl_staging_mark(tsl_staging *staging, int index, tsl_event **mark);

#endif
