#include "api/api.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Where buffers go that name no device: the one with the highest peak. */
static tesela_status choose_device(tesela_context *context, const char *name, tsl_device **device) {
  tsl_devices *devices;
  TSL_TRY(tsl_api_devices(context, &devices));
  if (strcmp(name, "auto") != 0)
    return tsl_devices_find(devices, name, device);
  tsl_device *next;
  *device = NULL;
  for (int i = 0; (next = tsl_devices_at(devices, i)); i++)
    if (!*device || next->peak_f32 > (*device)->peak_f32)
      *device = next;
  if (*device)
    return TESELA_OK;
  tsl_fail(TESELA_NO_DEVICE, "there is no device");
  return TESELA_NO_DEVICE;
}

static tesela_status make_transport(tsl_device *device, tsl_transport **transport) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **transport, "a buffer", &block));
  tsl_transport *made = block;
  const tesela_status status = device->ops->stream_create(device, &made->stream);
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  pthread_mutex_init(&made->lock, NULL);
  *transport = made;
  return TESELA_OK;
}

tesela_status tesela_buffer_create(tesela_context *context, const char *device, size_t bytes,
                                   tesela_buffer **buffer) {
  TSL_NOT_CANCELLED;
  tsl_device *chosen;
  void *block;
  if (!context || !buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "buffer");
  *buffer = NULL;
  TSL_TRY(choose_device(context, device ? device : context->device, &chosen));
  TSL_TRY(tsl_device_open(chosen));
  TSL_TRY(tsl_alloc_zeroed(sizeof **buffer, "a buffer", &block));
  tesela_buffer *made = block;
  tesela_status status = chosen->ops->buffer_create(chosen, bytes, &made->memory);
  if (status == TESELA_OK)
    status = make_transport(chosen, &made->transport);
  if (status != TESELA_OK) {
    tesela_buffer_destroy(made);
    return status;
  }
  *buffer = made;
  return TESELA_OK;
}

static tesela_status check_range(const tesela_buffer *buffer, size_t offset, const void *host, size_t bytes) {
  if (!buffer)
    return tsl_fail(TESELA_BAD_CALL, "buffer is NULL");
  if (offset > buffer->memory->bytes || bytes > buffer->memory->bytes - offset)
    return tsl_fail(TESELA_BAD_CALL, "%zu bytes at offset %zu pass the end of a buffer of %zu bytes", bytes,
                    offset, buffer->memory->bytes);
  if (!host && bytes > 0)
    return tsl_fail(TESELA_BAD_CALL, "host is NULL");
  return TESELA_OK;
}

/* The stream is waited for, so that work on other streams sees the bytes. */
tesela_status tesela_buffer_write(tesela_buffer *buffer, size_t offset, const void *host, size_t bytes) {
  TSL_NOT_CANCELLED;
  TSL_TRY(check_range(buffer, offset, host, bytes));
  pthread_mutex_lock(&buffer->transport->lock);
  tesela_status status = tsl_device_write(buffer->transport->stream, buffer->memory, offset, host, bytes);
  if (status == TESELA_OK)
    status = buffer->memory->device->ops->finish(buffer->transport->stream);
  pthread_mutex_unlock(&buffer->transport->lock);
  return status;
}

tesela_status tesela_buffer_read(const tesela_buffer *buffer, size_t offset, void *host, size_t bytes) {
  TSL_NOT_CANCELLED;
  TSL_TRY(check_range(buffer, offset, host, bytes));
  pthread_mutex_lock(&buffer->transport->lock);
  const tesela_status status =
      tsl_device_read(buffer->transport->stream, buffer->memory, offset, host, bytes);
  pthread_mutex_unlock(&buffer->transport->lock);
  return status;
}

void tesela_buffer_destroy(tesela_buffer *buffer) {
  TSL_NOT_CANCELLED;
  if (!buffer)
    return;
  if (buffer->transport) {
    buffer->memory->device->ops->stream_destroy(buffer->transport->stream);
    pthread_mutex_destroy(&buffer->transport->lock);
    tsl_free(buffer->transport);
  }
  if (buffer->memory)
    buffer->memory->device->ops->buffer_destroy(buffer->memory);
  tsl_free(buffer);
}
