/* Lanes: what one run on a device with kernels needs for itself, so that many threads can run one plan. A
 * plan keeps the lanes that are not in use. */
#ifndef TSL_PLAN_LANE_H
#define TSL_PLAN_LANE_H

#include "plan/transfer.h"

#include <pthread.h>

typedef struct tsl_lane {
  struct tsl_lane *next;
  tsl_device *device;
  tsl_stream *stream;
  tsl_event *begin, *end;           /* made when a run is timed */
  tsl_buffer *staged[TSL_OPERANDS]; /* made when an operand is copied; anew when one needs more */
  tsl_buffer *scratch;              /* made at the first run of a strategy that needs it */
  void *block;                      /* for gathering, made when needed */
  size_t block_bytes;
} tsl_lane;

typedef struct tsl_lanes {
  tsl_device *device;
  tsl_transfer transfers[TSL_OPERANDS];
  pthread_mutex_t lock;
  tsl_lane *idle; /* under lock */
} tsl_lanes;

tesela_status tsl_lanes_create(tsl_device *device, tsl_lanes **lanes);
/* Destroys the lanes that are not in use. */
void tsl_lanes_trim(tsl_lanes *lanes);
/* All lanes were given back. */
void tsl_lanes_destroy(tsl_lanes *lanes);

tesela_status tsl_lane_take(tsl_lanes *lanes, tsl_lane **lane);
/* `reusable` is false after a failure: the lane is destroyed, which waits for its stream. */
void tsl_lane_give(tsl_lanes *lanes, tsl_lane *lane, bool reusable);

/* The lane's own, made at the first call. */
tesela_status tsl_lane_events(tsl_lane *lane);
tesela_status tsl_lane_staged(tsl_lane *lane, int operand, size_t bytes);
tesela_status tsl_lane_scratch(tsl_lane *lane, size_t bytes);
tesela_status tsl_lane_block(tsl_lane *lane, size_t bytes);

#endif
