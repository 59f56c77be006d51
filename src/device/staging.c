#include "device/staging.h"

#include "core/env.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/device_private.h"

#include <string.h>

bool tsl_staging_is_offered(const tsl_device *device) {
  return device->ops->pinned_create && !(device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY));
}

/* Chunks of 8 MiB reach an H200 link's full rate. */
enum { DEFAULT_SLOT_BYTES = 8 << 20, DEFAULT_BYTES_MIN = 1 << 20, BLOCK_ELEMENTS_PER_UNIT = 2 * 128 * 128 };

/* Limits of a slot: whole cache lines keep elements aligned. */
enum { SLOT_BYTES_MIN = TSL_CACHE_LINE, SLOT_BYTES_MAX = 1 << 30 };

/* Sets *out to the key's number from 1 to `max`, if given; logs and ignores another value. */
static void staging_read_size(const tsl_record *record, const char *key, int64_t max, int64_t *out) {
  const char *value = tsl_record_get(record, key);
  int64_t number;
  if (!value)
    return;
  if (tsl_parse_i64(value, &number) && number > 0 && number <= max)
    *out = number;
  else
    tsl_log(TSL_LOG_PLAN, "TESELA_STAGING: %s=%s is not a size from 1 to %lld", key, value, (long long)max);
}

bool tsl_staging_sizes_of(const tsl_device *device, tsl_staging_sizes *sizes) {
  const char *text = tsl_env_get(TSL_ENV_STAGING);
  int64_t slot = DEFAULT_SLOT_BYTES, block = 0, least = DEFAULT_BYTES_MIN;
  tsl_record record;
  if (!tsl_staging_is_offered(device) || strcmp(text, "0") == 0)
    return false;
  if (*text && tsl_record_parse(text, &record) == TESELA_OK) {
    staging_read_size(&record, "slot", SLOT_BYTES_MAX, &slot);
    staging_read_size(&record, "block", INT64_MAX, &block);
    staging_read_size(&record, "least", INT64_MAX, &least);
    tsl_record_free(&record);
  }
  slot = (slot + SLOT_BYTES_MIN - 1) / SLOT_BYTES_MIN * SLOT_BYTES_MIN;
  *sizes = (tsl_staging_sizes){.slot = (size_t)slot,
                               .block = block > 0 ? block
                                                  : (int64_t)BLOCK_ELEMENTS_PER_UNIT * device->compute_units,
                               .is_given = block > 0,
                               .least = (double)least};
  return true;
}

/* Fits two H200s: 45 GB/s through pinned memory, and a quarter of the shorter direction is added to the
 * longer. */
double tsl_staging_link_rate(const tsl_device *device) {
  return 1.8 * device->link_bandwidth;
}

double tsl_staging_both_directions(double in_seconds, double out_seconds) {
  const bool is_in = in_seconds > out_seconds;
  return (is_in ? in_seconds : out_seconds) + (is_in ? out_seconds : in_seconds) / 4;
}

static void staging_destroy(tsl_staging *staging) {
  const tsl_device_ops *ops = staging->device->ops;
  if (staging->in)
    ops->stream_destroy(staging->in);
  if (staging->out)
    ops->stream_destroy(staging->out);
  for (int i = 0; i < TSL_STAGING_SLOTS; i++)
    if (staging->used[i])
      ops->event_destroy(staging->used[i]);
  for (int i = 0; i < TSL_STAGING_MARKS; i++)
    if (staging->marks[i])
      ops->event_destroy(staging->marks[i]);
  if (staging->arrived)
    ops->event_destroy(staging->arrived);
  if (staging->memory)
    ops->pinned_destroy(staging->memory);
  tsl_free(staging);
}

static tesela_status staging_create_members(tsl_staging *staging) {
  const tsl_device_ops *ops = staging->device->ops;
  TSL_TRY(ops->pinned_create(staging->device, TSL_STAGING_SLOTS * staging->slot_bytes, &staging->memory));
  TSL_TRY(ops->stream_create(staging->device, &staging->in));
  TSL_TRY(ops->stream_create(staging->device, &staging->out));
  TSL_TRY(ops->event_create(staging->device, &staging->arrived));
  for (int i = 0; i < TSL_STAGING_SLOTS; i++)
    TSL_TRY(ops->event_create(staging->device, &staging->used[i]));
  return TESELA_OK;
}

static tesela_status staging_create(tsl_device *device, size_t slot_bytes, tsl_staging **staging) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **staging, "pinned memory's description", &block));
  tsl_staging *made = block;
  made->device = device;
  made->slot_bytes = slot_bytes;
  const tesela_status status = staging_create_members(made);
  if (status != TESELA_OK) {
    staging_destroy(made);
    return status;
  }
  *staging = made;
  return TESELA_OK;
}

tesela_status tsl_staging_take(tsl_device *device, size_t slot_bytes, tsl_staging **staging) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  pthread_mutex_lock(&slot->staging_lock);
  tsl_staging **at = &slot->staging;
  while (*at && (*at)->slot_bytes != slot_bytes)
    at = &(*at)->next;
  *staging = *at;
  if (*staging)
    *at = (*staging)->next;
  pthread_mutex_unlock(&slot->staging_lock);
  return *staging ? TESELA_OK : staging_create(device, slot_bytes, staging);
}

void tsl_staging_give(tsl_staging *staging, bool reusable) {
  const tsl_device_ops *ops = staging->device->ops;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const bool is_done = ops->finish(staging->in) == TESELA_OK;
  const bool is_over = ops->finish(staging->out) == TESELA_OK;
  tsl_status_restore(&saved);
  for (int i = 0; i < TSL_STAGING_SLOTS; i++)
    staging->is_used[i] = false;
  if (!reusable || !is_done || !is_over) {
    staging_destroy(staging);
    return;
  }
  tsl_device_slot *slot = tsl_device_slot_of(staging->device);
  pthread_mutex_lock(&slot->staging_lock);
  staging->next = slot->staging;
  slot->staging = staging;
  pthread_mutex_unlock(&slot->staging_lock);
}

void tsl_staging_forget(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  while (slot->staging) {
    tsl_staging *next = slot->staging->next;
    staging_destroy(slot->staging);
    slot->staging = next;
  }
}

tesela_status tsl_staging_wait(tsl_staging *staging, int slot) {
  if (!staging->is_used[slot])
    return TESELA_OK;
  TSL_TRY(staging->device->ops->event_wait(staging->used[slot]));
  staging->is_used[slot] = false;
  return TESELA_OK;
}

tesela_status tsl_staging_slot(tsl_staging *staging, int *slot) {
  *slot = staging->next_slot;
  staging->next_slot = (staging->next_slot + 1) % TSL_STAGING_SLOTS;
  return tsl_staging_wait(staging, *slot);
}

void *tsl_staging_memory(const tsl_staging *staging, int slot) {
  return (unsigned char *)staging->memory->host + (size_t)slot * staging->slot_bytes;
}

tesela_status tsl_staging_use(tsl_staging *staging, int slot, tsl_stream *stream) {
  TSL_TRY(staging->device->ops->event_record(stream, staging->used[slot]));
  staging->is_used[slot] = true;
  return TESELA_OK;
}

tesela_status tsl_staging_mark(tsl_staging *staging, int index, tsl_event **mark) {
  if (!staging->marks[index])
    TSL_TRY(staging->device->ops->event_create(staging->device, &staging->marks[index]));
  *mark = staging->marks[index];
  return TESELA_OK;
}
