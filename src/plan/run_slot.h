/* Run slot: stream and memory of one run on a device with kernels. A plan keeps idle slots, so that many
 * threads can run it. Members are created on demand. */
#ifndef TSL_PLAN_RUN_SLOT_H
#define TSL_PLAN_RUN_SLOT_H

#include "copy/transfer.h"

#include <pthread.h>

typedef struct tsl_run_slot {
  struct tsl_run_slot *next;
  tsl_device *device;
  tsl_stream *stream;
  tsl_event *begin, *end;               /* events of timed runs */
  tsl_buffer *staged[TSL_ALL_OPERANDS]; /* device copies; replaced when too small */
  tsl_buffer *scratch;
  void *block; /* host memory for gathering */
  size_t block_bytes;
  tsl_pinned *pinned; /* pinned memory for results */
} tsl_run_slot;

typedef struct tsl_run_slots {
  tsl_device *device;
  tsl_transfer transfers[TSL_ALL_OPERANDS]; /* copies of each operand between host and device */
  pthread_mutex_t lock;
  tsl_run_slot *idle; /* protected by lock */
} tsl_run_slots;

tesela_status tsl_run_slots_create(tsl_device *device, tsl_run_slots **slots);
/* Destroys all slots, which must be idle, and the list. NULL is allowed. */
void tsl_run_slots_destroy(tsl_run_slots *slots);

/* Takes an idle slot or creates one, for tsl_run_slot_give(). */
tesela_status tsl_run_slot_take(tsl_run_slots *slots, tsl_run_slot **slot);
/* Gives a slot back. `reusable` is false after a failure: destroys it after a wait for its stream. */
void tsl_run_slot_give(tsl_run_slots *slots, tsl_run_slot *slot, bool reusable);

/* Creates the slot's events, if not yet done. */
tesela_status tsl_run_slot_events(tsl_run_slot *slot);
/* Makes the slot's device copy of an operand at least `bytes` large. */
tesela_status tsl_run_slot_staged(tsl_run_slot *slot, int operand, size_t bytes);
/* Makes the slot's scratch memory at least `bytes` large; 0: none is needed. */
tesela_status tsl_run_slot_scratch(tsl_run_slot *slot, size_t bytes);
/* Makes the slot's host block at least `bytes` large. */
tesela_status tsl_run_slot_block(tsl_run_slot *slot, size_t bytes);
/* Makes the pinned memory at least `bytes` large. The device must support it. */
tesela_status tsl_run_slot_pinned(tsl_run_slot *slot, size_t bytes);

#endif
