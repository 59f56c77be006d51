/* Staging: pinned slots of equal size for asynchronous copies, with a stream for each direction and events.
 * Pinned memory costs 0.4 s per gigabyte, so a device keeps released stagings until it closes. */
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
  tsl_event *used[TSL_STAGING_SLOTS]; /* recorded after a slot's last copy */
  bool is_used[TSL_STAGING_SLOTS];    /* the slot's event was recorded and not waited for */
  int next_slot;
  tsl_event *arrived;                  /* for the caller: the end of copies on `in` */
  tsl_event *marks[TSL_STAGING_MARKS]; /* events of tsl_staging_mark() */
} tsl_staging;

/* Returns true if the device has asynchronous copies: no processor, no shared memory. */
bool tsl_staging_is_offered(const tsl_device *device);

typedef struct tsl_staging_sizes {
  size_t slot;   /* bytes of a slot: the maximum chunk */
  int64_t block; /* approximate elements of a block of C */
  bool is_given; /* TESELA_STAGING sets `block` */
  double least;  /* minimum bytes of a run's copies for staging */
} tsl_staging_sizes;

/* Gets the device's sizes, or the sizes in TESELA_STAGING; false: no staging. */
bool tsl_staging_sizes_of(const tsl_device *device, tsl_staging_sizes *sizes);

/* Returns the bytes per second through pinned memory in one direction, by constants and not by measurements;
 * 0: unknown. */
double tsl_staging_link_rate(const tsl_device *device);
/* Returns the seconds of copies in both directions at once: links are not fully duplex. */
double tsl_staging_both_directions(double in_seconds, double out_seconds);

/* Gets a staging; release it with tsl_staging_give(). TESELA_OUT_OF_MEMORY at a limit of pinned memory. */
tesela_status tsl_staging_take(tsl_device *device, size_t slot_bytes, tsl_staging **staging);
/* Waits for pending copies and releases the staging; destroys it unless `reusable` (after a failure). */
void tsl_staging_give(tsl_staging *staging, bool reusable);
/* Destroys a device's released stagings, before it closes. */
void tsl_staging_forget(tsl_device *device);

/* Gets the next slot, after its previous copy. After the next copy is enqueued, call tsl_staging_use(). */
tesela_status tsl_staging_slot(tsl_staging *staging, int *slot);
/* Returns the host address of a slot. */
void *tsl_staging_memory(const tsl_staging *staging, int slot);
/* Records that the slot's copy is enqueued on `stream`. */
tesela_status tsl_staging_use(tsl_staging *staging, int slot, tsl_stream *stream);
/* Waits until the copy of a slot is done. */
tesela_status tsl_staging_wait(tsl_staging *staging, int slot);
/* Gets event `index` for the caller, made at first use. */
tesela_status tsl_staging_mark(tsl_staging *staging, int index, tsl_event **mark);

#endif
