#include "device/memory_pool.h"

#include "core/status.h"
#include "device/device_private.h"

uint64_t tsl_pooled_bytes_of_host = 0;

/* Returns the maximum pooled bytes: a quarter of the memory, at most a plan's limit; less on other drivers
 * than CUDA, which frees the pool when memory runs out (device/cuda/cuda_memory.c). */
static uint64_t pooled_bytes_max(const tsl_device *device) {
  static const uint64_t little = (uint64_t)512 << 20;
  const uint64_t quarter = device->memory_bytes / 4,
                 part = device->memory_limit < quarter ? device->memory_limit : quarter;
  if (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY))
    return tsl_pooled_bytes_of_host;
  return device->capabilities & TSL_CAN_CUDA || part < little ? part : little;
}

static void remove_at(tsl_buffer_pool *pool, int index) {
  pool->total_bytes -= pool->buffers[index]->bytes;
  pool->count--;
  for (int i = index; i < pool->count; i++)
    pool->buffers[i] = pool->buffers[i + 1];
}

/* Takes the smallest buffer of `bytes` to 2 * `bytes` out of the pool; NULL: none. */
static tsl_buffer *take_smallest_fit(tsl_device *device, size_t bytes) {
  tsl_buffer_pool *pool = &tsl_device_slot_of(device)->pool;
  tsl_buffer *found = NULL;
  int at = -1;
  pthread_mutex_lock(&pool->lock);
  for (int i = 0; i < pool->count; i++) {
    const size_t has = pool->buffers[i]->bytes;
    if (has >= bytes && has / 2 <= bytes && (at < 0 || has < pool->buffers[at]->bytes))
      at = i;
  }
  if (at >= 0) {
    found = pool->buffers[at];
    remove_at(pool, at);
  }
  pthread_mutex_unlock(&pool->lock);
  return found;
}

/* Returns true if `bytes` and the pool together exceed a plan's limit, which may protect other programs. */
static bool exceeds_plan_limit(tsl_device *device, size_t bytes) {
  tsl_buffer_pool *pool = &tsl_device_slot_of(device)->pool;
  const uint64_t limit = device->memory_limit;
  pthread_mutex_lock(&pool->lock);
  const bool much = limit > 0 && pool->total_bytes > (bytes < limit ? limit - bytes : 0);
  pthread_mutex_unlock(&pool->lock);
  return much;
}

tesela_status tsl_pooled_buffer_get(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  *buffer = take_smallest_fit(device, bytes);
  if (*buffer)
    return TESELA_OK;
  if (exceeds_plan_limit(device, bytes))
    (void)tsl_pooled_buffers_destroy(device);
  const tesela_status status = device->ops->buffer_create(device, bytes, buffer);
  return status == TESELA_OUT_OF_MEMORY && tsl_pooled_buffers_destroy(device)
             ? device->ops->buffer_create(device, bytes, buffer)
             : status;
}

/* Takes the oldest buffer out of a pool above its limits; NULL: none. The lock is held. */
static tsl_buffer *take_surplus(tsl_buffer_pool *pool, uint64_t bytes_max) {
  tsl_buffer *last = pool->count > 0 ? pool->buffers[pool->count - 1] : NULL;
  if (!last || (pool->total_bytes <= bytes_max && pool->count < TSL_POOLED_BUFFERS_MAX))
    return NULL;
  remove_at(pool, pool->count - 1);
  return last;
}

void tsl_pooled_buffer_give(tsl_buffer *buffer) {
  if (!buffer)
    return;
  tsl_device *device = buffer->device;
  tsl_buffer_pool *pool = &tsl_device_slot_of(device)->pool;
  const uint64_t bytes_max = pooled_bytes_max(device);
  if (buffer->bytes > bytes_max || buffer->bytes == 0) {
    device->ops->buffer_destroy(buffer);
    return;
  }
  tsl_buffer *gone[TSL_POOLED_BUFFERS_MAX + 1];
  int count = 0;
  pthread_mutex_lock(&pool->lock);
  for (tsl_buffer *surplus; (surplus = take_surplus(pool, bytes_max - buffer->bytes)); count++)
    gone[count] = surplus;
  for (int i = pool->count; i > 0; i--)
    pool->buffers[i] = pool->buffers[i - 1];
  pool->buffers[0] = buffer;
  pool->count++;
  pool->total_bytes += buffer->bytes;
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < count; i++)
    device->ops->buffer_destroy(gone[i]);
}

bool tsl_pooled_buffers_destroy(tsl_device *device) {
  tsl_buffer_pool *pool = &tsl_device_slot_of(device)->pool;
  tsl_buffer *gone[TSL_POOLED_BUFFERS_MAX];
  pthread_mutex_lock(&pool->lock);
  const int count = pool->count;
  for (int i = 0; i < count; i++)
    gone[i] = pool->buffers[i];
  pool->count = 0;
  pool->total_bytes = 0;
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < count; i++)
    device->ops->buffer_destroy(gone[i]);
  return count > 0;
}
