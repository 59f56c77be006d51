/* Run slots: what one run on a device with kernels needs for itself, so that many threads can run one plan. A
 * plan keeps the slots that are not in use. */
#ifndef TSL_PLAN_RUN_SLOT_H
#define TSL_PLAN_RUN_SLOT_H

#include "strategy/transfer.h"

#include <pthread.h>

typedef struct tsl_run_slot {
  struct tsl_run_slot *next;
  tsl_device *device;
  tsl_stream *stream;
  tsl_event *begin, *end;        /* made when a run is timed */
  tsl_buffer *staged[TSL_GIVEN]; /* made when an operand is copied; anew when one needs more */
  tsl_buffer *scratch;           /* made at the first run of a strategy that needs it */
  void *block;                   /* for gathering, made when needed */
  size_t block_bytes;
  tsl_pinned *pinned; /* for what comes back while others wait, made when needed */
} tsl_run_slot;

typedef struct tsl_run_slots {
  tsl_device *device;
  tsl_transfer transfers[TSL_GIVEN];
  pthread_mutex_t lock;
  tsl_run_slot *idle; /* under lock */
} tsl_run_slots;

tesela_status tsl_run_slots_create(tsl_device *device, tsl_run_slots **slots);
/* Destroys the slots that are not in use. */
void tsl_run_slots_trim(tsl_run_slots *slots);
/* All slots were given back. */
void tsl_run_slots_destroy(tsl_run_slots *slots);

tesela_status tsl_run_slot_take(tsl_run_slots *slots, tsl_run_slot **slot);
/* `reusable` is false after a failure: the slot is destroyed, which waits for its stream. */
void tsl_run_slot_give(tsl_run_slots *slots, tsl_run_slot *slot, bool reusable);

/* The slot's own, made at the first call. */
tesela_status tsl_run_slot_events(tsl_run_slot *slot);
tesela_status tsl_run_slot_staged(tsl_run_slot *slot, int operand, size_t bytes);
tesela_status tsl_run_slot_scratch(tsl_run_slot *slot, size_t bytes);
tesela_status tsl_run_slot_block(tsl_run_slot *slot, size_t bytes);
/* Of devices that have pinned memory. */
tesela_status tsl_run_slot_pinned(tsl_run_slot *slot, size_t bytes);

#endif
