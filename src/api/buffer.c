#include "api/api.h"
#include "api/device_p2p.h"

#include "core/floats.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/memory_pool.h"

#include <string.h>

static tesela_status find_fastest_device(tsl_devices *devices, tsl_device **device) {
  tsl_device *next;
  *device = NULL;
  for (int i = 0; (next = tsl_devices_at(devices, i)); i++)
    if (!*device || next->peak_f32 > (*device)->peak_f32)
      *device = next;
  return *device ? TESELA_OK : tsl_fail(TESELA_NO_DEVICE, "there is no device");
}

tesela_status tsl_api_chosen_device(tesela_context *context, const char *name, tsl_device **device) {
  tsl_devices *devices;
  const char *chosen = name ? name : context->device;
  TSL_TRY(tsl_api_devices(context, &devices));
  TSL_TRY(strcmp(chosen, "auto") == 0 ? find_fastest_device(devices, device)
                                      : tsl_devices_find(devices, chosen, device));
  return tsl_device_open(*device);
}

static tesela_status allocate_buffer(tesela_buffer **buffer) {
  struct {
    tesela_buffer buffer;
    tsl_transport transport;
  } * new_buffer;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof *new_buffer, "a buffer", &block));
  new_buffer = block;
  pthread_mutex_init(&new_buffer->transport.lock, NULL);
  new_buffer->buffer.transport = &new_buffer->transport;
  *buffer = &new_buffer->buffer;
  return TESELA_OK;
}

static void destroy_transport(tesela_buffer *buffer) {
  if (buffer->transport->stream)
    buffer->memory->device->ops->stream_destroy(buffer->transport->stream);
  buffer->transport->stream = NULL;
}

/* Sets *buffer to new_buffer, or frees new_buffer after a failure. Returns status. */
static tesela_status return_buffer(tesela_status status, tesela_buffer *new_buffer, tesela_buffer **buffer) {
  if (status == TESELA_OK)
    *buffer = new_buffer;
  else
    tesela_buffer_destroy(new_buffer);
  return status;
}

tesela_status tesela_buffer_create(tesela_context *context, const char *device, size_t bytes,
                                   tesela_buffer **buffer) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_device *chosen;
  tesela_buffer *new_buffer;
  if (!context || !buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "buffer");
  *buffer = NULL;
  TSL_TRY(tsl_api_chosen_device(context, device, &chosen));
  TSL_TRY(allocate_buffer(&new_buffer));
  return return_buffer(chosen->ops->buffer_create(chosen, bytes, &new_buffer->memory), new_buffer, buffer);
}

tesela_status tsl_api_buffer_take(tesela_context *context, const char *device, size_t bytes,
                                  tesela_buffer **buffer) {
  tsl_device *chosen;
  tesela_buffer *new_buffer;
  *buffer = NULL;
  TSL_TRY(tsl_api_chosen_device(context, device, &chosen));
  TSL_TRY(allocate_buffer(&new_buffer));
  return return_buffer(tsl_pooled_buffer_get(chosen, bytes, &new_buffer->memory), new_buffer, buffer);
}

void tsl_api_buffer_give(tesela_buffer *buffer, bool is_kept) {
  if (!buffer)
    return;
  tsl_buffer *pooled = is_kept ? buffer->memory : NULL;
  destroy_transport(buffer);
  if (pooled)
    buffer->memory = NULL;
  tesela_buffer_destroy(buffer);
  tsl_pooled_buffer_give(pooled);
}

/* Returns NULL if no device owns the address. */
static tsl_device *find_owner(tsl_devices *devices, const void *address) {
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const tsl_device_kind *device_kind = tsl_device_kind_at(kind);
    tsl_device *device;
    for (int i = 0; device_kind->owns && (device = tsl_devices_of_kind(devices, kind, i)); i++)
      if (device_kind->owns(device, address))
        return device;
  }
  return NULL;
}

static tesela_status wrap_on_device(tsl_device *device, void *native, size_t bytes, tsl_buffer **memory) {
  if (device->ops->buffer_adopt)
    return device->ops->buffer_adopt(device, native, bytes, memory);
  if (!tsl_device_is_host(device))
    return tsl_fail(TESELA_UNSUPPORTED, "%s cannot wrap existing memory", device->name);
  if (bytes == 0 || !native)
    return tsl_fail(TESELA_BAD_CALL, "%s: wrapping host memory needs an address and a size: %s", device->name,
                    native ? "bytes is 0" : "native is NULL");
  return device->ops->buffer_wrap(device, native, bytes, memory);
}

static tesela_status wrap_memory(tesela_context *context, const char *device, void *native, size_t bytes,
                                 tsl_buffer **memory) {
  tsl_devices *devices;
  tsl_device *chosen = NULL;
  TSL_TRY(tsl_api_devices(context, &devices));
  if (!device)
    chosen = find_owner(devices, native);
  if (!chosen)
    TSL_TRY(tsl_devices_find(devices, device ? device : "cpu", &chosen));
  TSL_TRY(tsl_device_open(chosen));
  return wrap_on_device(chosen, native, bytes, memory);
}

tesela_status tesela_buffer_wrap(tesela_context *context, const char *device, void *native, size_t bytes,
                                 tesela_buffer **buffer) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tesela_buffer *new_buffer;
  if (!context || !buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "buffer");
  *buffer = NULL;
  if (device && strcmp(device, "auto") == 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "device is auto: name the device of the memory, or pass NULL to detect it");
  TSL_TRY(allocate_buffer(&new_buffer));
  return return_buffer(wrap_memory(context, device, native, bytes, &new_buffer->memory), new_buffer, buffer);
}

tesela_memory tesela_buffer_memory(const tesela_buffer *buffer) {
  if (!buffer)
    return (tesela_memory){.device = ""};
  tsl_buffer *memory = buffer->memory;
  const tsl_device_ops *ops = memory->device->ops;
  return (tesela_memory){.native = ops->native_buffer ? ops->native_buffer(memory) : memory->host,
                         .device = memory->device->name,
                         .bytes = memory->bytes};
}

static tesela_status buffer_check_rows(const tesela_buffer *buffer, const tsl_copy *copy) {
  if (!buffer)
    return tsl_fail(TESELA_BAD_CALL, "buffer is NULL");
  const size_t all = buffer->memory->bytes, left = copy->offset <= all ? all - copy->offset : 0;
  if (copy->offset > all || (copy->rows > 0 && copy->row_bytes > left))
    return tsl_fail(TESELA_BAD_CALL, "%zu bytes at offset %zu exceed a buffer of %zu bytes", copy->row_bytes,
                    copy->offset, all);
  if (copy->rows == 0 || copy->row_bytes == 0)
    return TESELA_OK;
  if (!copy->host)
    return tsl_fail(TESELA_BAD_CALL, "host is NULL");
  if (copy->rows == 1)
    return TESELA_OK;
  const bool in_buffer = copy->device_pitch < copy->row_bytes;
  if (in_buffer || copy->host_pitch < copy->row_bytes)
    return tsl_fail(TESELA_BAD_CALL, "rows of %zu bytes begin %zu bytes apart in %s, and would overlap",
                    copy->row_bytes, in_buffer ? copy->device_pitch : copy->host_pitch,
                    in_buffer ? "the buffer" : "host memory");
  if (copy->rows - 1 > (left - copy->row_bytes) / copy->device_pitch)
    return tsl_fail(TESELA_BAD_CALL,
                    "%zu rows of %zu bytes, %zu apart, at offset %zu exceed a buffer of %zu bytes",
                    copy->rows, copy->row_bytes, copy->device_pitch, copy->offset, all);
  return TESELA_OK;
}

/* Returns the buffer's own stream, which the first copy creates. The caller holds the lock. */
static tesela_status get_transport_stream(const tesela_buffer *buffer, tsl_stream **stream) {
  tsl_device *device = buffer->memory->device;
  if (!buffer->transport->stream)
    TSL_TRY(device->ops->stream_create(device, &buffer->transport->stream));
  *stream = buffer->transport->stream;
  return TESELA_OK;
}

tesela_status tesela_buffer_copy_rows(const tesela_buffer *buffer, size_t offset, size_t pitch,
                                      const void *source, void *target, size_t host_pitch, size_t rows,
                                      size_t row_bytes) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_copy copy = {.offset = offset,
                   .device_pitch = pitch,
                   .host = source ? tsl_writable(source) : target,
                   .host_pitch = host_pitch,
                   .rows = rows,
                   .row_bytes = row_bytes};
  tsl_stream *stream;
  if (source && target)
    return tsl_fail(TESELA_BAD_CALL, "source and target are both given: a copy has one direction");
  TSL_TRY(buffer_check_rows(buffer, &copy));
  const tsl_device_ops *ops = buffer->memory->device->ops;
  copy.buffer = buffer->memory;
  pthread_mutex_lock(&buffer->transport->lock);
  tesela_status status = get_transport_stream(buffer, &stream);
  if (status == TESELA_OK)
    status = source ? ops->write(stream, &copy) : ops->read(stream, &copy);
  if (status == TESELA_OK && source) /* so that work on other streams sees the bytes */
    status = ops->finish(stream);
  pthread_mutex_unlock(&buffer->transport->lock);
  return status;
}

void tesela_buffer_destroy(tesela_buffer *buffer) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!buffer)
    return;
  destroy_transport(buffer);
  pthread_mutex_destroy(&buffer->transport->lock);
  if (buffer->memory)
    buffer->memory->device->ops->buffer_destroy(buffer->memory);
  tsl_free(buffer);
}
