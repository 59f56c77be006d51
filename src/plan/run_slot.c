#include "plan/run_slot.h"

#include "core/memory.h"
#include "core/status.h"

tesela_status tsl_run_slots_create(tsl_device *device, tsl_run_slots **slots) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **slots, "a plan's run slots", &block));
  *slots = block;
  (*slots)->device = device;
  pthread_mutex_init(&(*slots)->lock, NULL);
  return TESELA_OK;
}

static void run_slot_destroy(tsl_run_slot *slot) {
  const tsl_device_ops *ops = slot->device->ops;
  if (slot->stream)
    ops->stream_destroy(slot->stream);
  if (slot->begin)
    ops->event_destroy(slot->begin);
  if (slot->end)
    ops->event_destroy(slot->end);
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (slot->staged[i])
      ops->buffer_destroy(slot->staged[i]);
  if (slot->scratch)
    ops->buffer_destroy(slot->scratch);
  if (slot->pinned)
    ops->pinned_destroy(slot->pinned);
  tsl_free(slot->block);
  tsl_free(slot);
}

void tsl_run_slots_destroy(tsl_run_slots *slots) {
  if (!slots)
    return;
  for (tsl_run_slot *slot = slots->idle, *next; slot; slot = next) {
    next = slot->next;
    run_slot_destroy(slot);
  }
  pthread_mutex_destroy(&slots->lock);
  tsl_free(slots);
}

tesela_status tsl_run_slot_take(tsl_run_slots *slots, tsl_run_slot **slot) {
  pthread_mutex_lock(&slots->lock);
  *slot = slots->idle;
  if (*slot)
    slots->idle = (*slot)->next;
  pthread_mutex_unlock(&slots->lock);
  if (*slot)
    return TESELA_OK;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **slot, "a run slot of a plan", &block));
  tsl_run_slot *made = block;
  made->device = slots->device;
  const tesela_status status = slots->device->ops->stream_create(slots->device, &made->stream);
  if (status != TESELA_OK) {
    run_slot_destroy(made);
    return status;
  }
  *slot = made;
  return TESELA_OK;
}

void tsl_run_slot_give(tsl_run_slots *slots, tsl_run_slot *slot, bool reusable) {
  if (!reusable) {
    run_slot_destroy(slot);
    return;
  }
  pthread_mutex_lock(&slots->lock);
  slot->next = slots->idle;
  slots->idle = slot;
  pthread_mutex_unlock(&slots->lock);
}

tesela_status tsl_run_slot_events(tsl_run_slot *slot) {
  if (!slot->begin)
    TSL_TRY(slot->device->ops->event_create(slot->device, &slot->begin));
  if (!slot->end)
    TSL_TRY(slot->device->ops->event_create(slot->device, &slot->end));
  return TESELA_OK;
}

tesela_status tsl_run_slot_staged(tsl_run_slot *slot, int operand, size_t bytes) {
  if (slot->staged[operand] && slot->staged[operand]->bytes >= bytes)
    return TESELA_OK;
  if (slot->staged[operand])
    slot->device->ops->buffer_destroy(slot->staged[operand]);
  slot->staged[operand] = NULL;
  return slot->device->ops->buffer_create(slot->device, bytes, &slot->staged[operand]);
}

tesela_status tsl_run_slot_scratch(tsl_run_slot *slot, size_t bytes) {
  if (bytes == 0 || (slot->scratch && slot->scratch->bytes >= bytes))
    return TESELA_OK;
  if (slot->scratch)
    slot->device->ops->buffer_destroy(slot->scratch);
  slot->scratch = NULL;
  return slot->device->ops->buffer_create(slot->device, bytes, &slot->scratch);
}

tesela_status tsl_run_slot_block(tsl_run_slot *slot, size_t bytes) {
  if (bytes <= slot->block_bytes)
    return TESELA_OK;
  tsl_free(slot->block);
  slot->block = NULL;
  slot->block_bytes = 0;
  TSL_TRY(tsl_alloc(bytes, "gathering an operand", &slot->block));
  slot->block_bytes = bytes;
  return TESELA_OK;
}

tesela_status tsl_run_slot_pinned(tsl_run_slot *slot, size_t bytes) {
  if (slot->pinned && slot->pinned->bytes >= bytes)
    return TESELA_OK;
  if (slot->pinned)
    slot->device->ops->pinned_destroy(slot->pinned);
  slot->pinned = NULL;
  return slot->device->ops->pinned_create(slot->device, bytes, &slot->pinned);
}
