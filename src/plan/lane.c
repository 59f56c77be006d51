#include "plan/lane.h"

#include "base/memory.h"
#include "base/status.h"

tesela_status tsl_lanes_create(tsl_device *device, tsl_lanes **lanes) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **lanes, "a plan's lanes", &block));
  *lanes = block;
  (*lanes)->device = device;
  pthread_mutex_init(&(*lanes)->lock, NULL);
  return TESELA_OK;
}

static void destroy(tsl_lane *lane) {
  const tsl_device_ops *ops = lane->device->ops;
  if (lane->stream)
    ops->stream_destroy(lane->stream);
  if (lane->begin)
    ops->event_destroy(lane->begin);
  if (lane->end)
    ops->event_destroy(lane->end);
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (lane->staged[i])
      ops->buffer_destroy(lane->staged[i]);
  if (lane->scratch)
    ops->buffer_destroy(lane->scratch);
  tsl_free(lane->block);
  tsl_free(lane);
}

void tsl_lanes_trim(tsl_lanes *lanes) {
  pthread_mutex_lock(&lanes->lock);
  tsl_lane *idle = lanes->idle;
  lanes->idle = NULL;
  pthread_mutex_unlock(&lanes->lock);
  while (idle) {
    tsl_lane *lane = idle;
    idle = lane->next;
    destroy(lane);
  }
}

void tsl_lanes_destroy(tsl_lanes *lanes) {
  if (!lanes)
    return;
  tsl_lanes_trim(lanes);
  pthread_mutex_destroy(&lanes->lock);
  tsl_free(lanes);
}

tesela_status tsl_lane_take(tsl_lanes *lanes, tsl_lane **lane) {
  pthread_mutex_lock(&lanes->lock);
  *lane = lanes->idle;
  if (*lane)
    lanes->idle = (*lane)->next;
  pthread_mutex_unlock(&lanes->lock);
  if (*lane)
    return TESELA_OK;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **lane, "a lane of a plan", &block));
  tsl_lane *made = block;
  made->device = lanes->device;
  const tesela_status status = lanes->device->ops->stream_create(lanes->device, &made->stream);
  if (status != TESELA_OK) {
    destroy(made);
    return status;
  }
  *lane = made;
  return TESELA_OK;
}

void tsl_lane_give(tsl_lanes *lanes, tsl_lane *lane, bool reusable) {
  if (!reusable) {
    destroy(lane);
    return;
  }
  pthread_mutex_lock(&lanes->lock);
  lane->next = lanes->idle;
  lanes->idle = lane;
  pthread_mutex_unlock(&lanes->lock);
}

tesela_status tsl_lane_events(tsl_lane *lane) {
  if (!lane->begin)
    TSL_TRY(lane->device->ops->event_create(lane->device, &lane->begin));
  if (!lane->end)
    TSL_TRY(lane->device->ops->event_create(lane->device, &lane->end));
  return TESELA_OK;
}

tesela_status tsl_lane_staged(tsl_lane *lane, int operand, size_t bytes) {
  if (lane->staged[operand] && lane->staged[operand]->bytes >= bytes)
    return TESELA_OK;
  if (lane->staged[operand])
    lane->device->ops->buffer_destroy(lane->staged[operand]);
  lane->staged[operand] = NULL;
  return lane->device->ops->buffer_create(lane->device, bytes, &lane->staged[operand]);
}

tesela_status tsl_lane_scratch(tsl_lane *lane, size_t bytes) {
  if (lane->scratch || bytes == 0)
    return TESELA_OK;
  return lane->device->ops->buffer_create(lane->device, bytes, &lane->scratch);
}

tesela_status tsl_lane_block(tsl_lane *lane, size_t bytes) {
  if (bytes <= lane->block_bytes)
    return TESELA_OK;
  tsl_free(lane->block);
  lane->block = NULL;
  lane->block_bytes = 0;
  TSL_TRY(tsl_alloc(bytes, "gathering an operand", &lane->block));
  lane->block_bytes = bytes;
  return TESELA_OK;
}
