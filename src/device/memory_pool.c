#include "device/memory_pool.h"

#include "core/status.h"
#include "device/device_private.h"

uint64_t tsl_kept_of_host = 0;

/* Returns the maximum pooled bytes: a quarter of the memory, at most a plan's limit; less on other drivers
 * than CUDA, which frees the pool when memory runs out (device/cuda/cuda_memory.c). */
static uint64_t memory_pool_most_of(const tsl_device *device) {
  static const uint64_t little = (uint64_t)512 << 20;
  const uint64_t quarter = device->memory_bytes / 4,
                 part = device->memory_limit < quarter ? device->memory_limit : quarter;
  if (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY))
    return tsl_kept_of_host;
  return device->capabilities & TSL_CAN_CUDA || part < little ? part : little;
}

static void remove_at(tsl_kept *kept, int index) {
  kept->bytes -= kept->buffers[index]->bytes;
  kept->count--;
  for (int i = index; i < kept->count; i++)
    kept->buffers[i] = kept->buffers[i + 1];
}

/* Takes the smallest suitable buffer out of the pool; NULL: none. */
static tsl_buffer *memory_pool_find(tsl_device *device, size_t bytes) {
  tsl_kept *kept = &tsl_device_slot_of(device)->kept;
  tsl_buffer *found = NULL;
  int at = -1;
  pthread_mutex_lock(&kept->lock);
  for (int i = 0; i < kept->count; i++) {
    const size_t has = kept->buffers[i]->bytes;
    if (has >= bytes && has / 2 <= bytes && (at < 0 || has < kept->buffers[at]->bytes))
      at = i;
  }
  if (at >= 0) {
    found = kept->buffers[at];
    remove_at(kept, at);
  }
  pthread_mutex_unlock(&kept->lock);
  return found;
}

/* Returns true if `bytes` and the pool together exceed a plan's limit, which may protect other programs. */
static bool exceeds_plan_limit(tsl_device *device, size_t bytes) {
  tsl_kept *kept = &tsl_device_slot_of(device)->kept;
  const uint64_t limit = device->memory_limit;
  pthread_mutex_lock(&kept->lock);
  const bool much = limit > 0 && kept->bytes > (bytes < limit ? limit - bytes : 0);
  pthread_mutex_unlock(&kept->lock);
  return much;
}

tesela_status tsl_pool_alloc(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  *buffer = memory_pool_find(device, bytes);
  if (*buffer)
    return TESELA_OK;
  if (exceeds_plan_limit(device, bytes))
    (void)tsl_kept_forget(device);
  const tesela_status status = device->ops->buffer_create(device, bytes, buffer);
  return status == TESELA_OUT_OF_MEMORY && tsl_kept_forget(device)
             ? device->ops->buffer_create(device, bytes, buffer)
             : status;
}

/* Takes the oldest buffer out of a pool above its limits; NULL: none. The lock is held. */
static tsl_buffer *take_surplus(tsl_kept *kept, uint64_t most) {
  tsl_buffer *last = kept->count > 0 ? kept->buffers[kept->count - 1] : NULL;
  if (!last || (kept->bytes <= most && kept->count < TSL_KEPT_MOST))
    return NULL;
  remove_at(kept, kept->count - 1);
  return last;
}

void tsl_kept_give(tsl_buffer *buffer) {
  if (!buffer)
    return;
  tsl_device *device = buffer->device;
  tsl_kept *kept = &tsl_device_slot_of(device)->kept;
  const uint64_t most = memory_pool_most_of(device);
  if (buffer->bytes > most || buffer->bytes == 0) {
    device->ops->buffer_destroy(buffer);
    return;
  }
  tsl_buffer *gone[TSL_KEPT_MOST + 1];
  int count = 0;
  pthread_mutex_lock(&kept->lock);
  for (tsl_buffer *one; (one = take_surplus(kept, most - buffer->bytes)); count++)
    gone[count] = one;
  for (int i = kept->count; i > 0; i--)
    kept->buffers[i] = kept->buffers[i - 1];
  kept->buffers[0] = buffer;
  kept->count++;
  kept->bytes += buffer->bytes;
  pthread_mutex_unlock(&kept->lock);
  for (int i = 0; i < count; i++)
    device->ops->buffer_destroy(gone[i]);
}

bool tsl_kept_forget(tsl_device *device) {
  tsl_kept *kept = &tsl_device_slot_of(device)->kept;
  tsl_buffer *gone[TSL_KEPT_MOST];
  pthread_mutex_lock(&kept->lock);
  const int count = kept->count;
  for (int i = 0; i < count; i++)
    gone[i] = kept->buffers[i];
  kept->count = 0;
  kept->bytes = 0;
  pthread_mutex_unlock(&kept->lock);
  for (int i = 0; i < count; i++)
    device->ops->buffer_destroy(gone[i]);
  return count > 0;
}
