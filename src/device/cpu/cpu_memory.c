/* Copies refuse ranges outside of a buffer: here they would corrupt the process silently. */
#include "device/cpu/cpu.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* Size from which a request is compared with free memory, because Linux overcommits. */
#define LARGE_BYTES ((size_t)64 << 20)

typedef struct cpu_buffer {
  tsl_buffer base;
  bool is_allocated_here;
} cpu_buffer;

static tesela_status cpu_memory_create_record(tsl_device *device, void *host, bool is_allocated_here,
                                              size_t bytes, tsl_buffer **buffer) {
  cpu_buffer *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for a buffer's record", device->name);
  *self = (cpu_buffer){.base = {.device = device, .bytes = bytes, .host = host},
                       .is_allocated_here = is_allocated_here};
  *buffer = &self->base;
  return TESELA_OK;
}

/* Returns TESELA_OUT_OF_MEMORY if at least LARGE bytes are requested and fewer are available. */
static tesela_status check_available(const tsl_device *device, size_t bytes) {
  const uint64_t left = bytes >= LARGE_BYTES ? tsl_memory_available() : UINT64_MAX;
  char asked[32], there[32];
  if (bytes <= left)
    return TESELA_OK;
  return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: requested %s of memory, %s is free", device->name,
                  tsl_format_bytes(bytes, asked, sizeof asked), tsl_format_bytes(left, there, sizeof there));
}

tesela_status tsl_cpu_buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  void *host;
  *buffer = NULL;
  TSL_TRY(check_available(device, bytes));
  tesela_status status = tsl_alloc(bytes, "a buffer", &host);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "%s", device->name);
  status = cpu_memory_create_record(device, host, true, bytes, buffer);
  if (status != TESELA_OK)
    tsl_free(host);
  return status;
}

tesela_status tsl_cpu_buffer_wrap(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer) {
  *buffer = NULL;
  return cpu_memory_create_record(device, host, false, bytes, buffer);
}

void tsl_cpu_buffer_destroy(tsl_buffer *buffer) {
  if (((cpu_buffer *)buffer)->is_allocated_here)
    tsl_free(buffer->host);
  free(buffer);
}

tesela_status tsl_cpu_buffer_map(tsl_stream *stream, tsl_buffer *buffer, int write, void **host) {
  (void)stream;
  (void)write;
  *host = buffer->host;
  return TESELA_OK;
}

tesela_status tsl_cpu_buffer_unmap(tsl_stream *stream, tsl_buffer *buffer, void *host) {
  (void)stream;
  if (host != buffer->host)
    return tsl_fail(TESELA_BAD_CALL, "%s: unmap was given an address that map did not return",
                    buffer->device->name);
  return TESELA_OK;
}

static tesela_status cpu_memory_check_range(const tsl_buffer *buffer, size_t offset, size_t bytes) {
  if (offset <= buffer->bytes && bytes <= buffer->bytes - offset)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "%s: %zu bytes from byte %zu on are outside a buffer of %zu bytes",
                  buffer->device->name, bytes, offset, buffer->bytes);
}

static tesela_status cpu_memory_check_rows(const tsl_copy *copy) {
  size_t span;
  if (copy->rows > 1 && (copy->device_pitch < copy->row_bytes || copy->host_pitch < copy->row_bytes))
    return tsl_fail(TESELA_BAD_CALL, "%s: rows of %zu bytes do not fit pitches of %zu and %zu bytes",
                    copy->buffer->device->name, copy->row_bytes, copy->device_pitch, copy->host_pitch);
  if (!tsl_size_mul(copy->rows - 1, copy->device_pitch, &span) || !tsl_size_add(span, copy->row_bytes, &span))
    return tsl_fail(TESELA_BAD_CALL, "%s: %zu rows with a pitch of %zu bytes exceed the address space",
                    copy->buffer->device->name, copy->rows, copy->device_pitch);
  return cpu_memory_check_range(copy->buffer, copy->offset, span);
}

static void cpu_memory_copy_rows(char *dst, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                                 size_t row_bytes) {
  if (to_pitch == row_bytes && from_pitch == row_bytes) {
    memcpy(dst, from, rows * row_bytes);
    return;
  }
  for (size_t row = 0; row < rows; row++)
    memcpy(dst + row * to_pitch, from + row * from_pitch, row_bytes);
}

tesela_status tsl_cpu_write(tsl_stream *stream, const tsl_copy *copy) {
  (void)stream;
  if (copy->rows == 0 || copy->row_bytes == 0)
    return TESELA_OK;
  TSL_TRY(cpu_memory_check_rows(copy));
  cpu_memory_copy_rows((char *)copy->buffer->host + copy->offset, copy->device_pitch, copy->host,
                       copy->host_pitch, copy->rows, copy->row_bytes);
  return TESELA_OK;
}

tesela_status tsl_cpu_read(tsl_stream *stream, const tsl_copy *copy) {
  (void)stream;
  if (copy->rows == 0 || copy->row_bytes == 0)
    return TESELA_OK;
  TSL_TRY(cpu_memory_check_rows(copy));
  cpu_memory_copy_rows(copy->host, copy->host_pitch, (const char *)copy->buffer->host + copy->offset,
                       copy->device_pitch, copy->rows, copy->row_bytes);
  return TESELA_OK;
}

tesela_status tsl_cpu_copy(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                           size_t to_offset, size_t bytes) {
  (void)stream;
  TSL_TRY(cpu_memory_check_range(from, from_offset, bytes));
  TSL_TRY(cpu_memory_check_range(buffer, to_offset, bytes));
  if (bytes > 0)
    memcpy((char *)buffer->host + to_offset, (const char *)from->host + from_offset, bytes);
  return TESELA_OK;
}

bool tsl_cpu_reaches(tsl_device *device, tsl_device *other) {
  return device == other;
}

tesela_status tsl_cpu_copy_rows(tsl_stream *stream, const tsl_copy_rect *rows) {
  (void)stream;
  if (rows->rows == 0 || rows->row_bytes == 0)
    return TESELA_OK;
  const tsl_copy from = {.buffer = rows->from,
                         .offset = rows->from_offset,
                         .device_pitch = rows->from_pitch,
                         .host_pitch = rows->from_pitch,
                         .rows = rows->rows,
                         .row_bytes = rows->row_bytes},
                 to = {.buffer = rows->to,
                       .offset = rows->to_offset,
                       .device_pitch = rows->to_pitch,
                       .host_pitch = rows->to_pitch,
                       .rows = rows->rows,
                       .row_bytes = rows->row_bytes};
  TSL_TRY(cpu_memory_check_rows(&from));
  TSL_TRY(cpu_memory_check_rows(&to));
  cpu_memory_copy_rows((char *)rows->to->host + rows->to_offset, rows->to_pitch,
                       (const char *)rows->from->host + rows->from_offset, rows->from_pitch, rows->rows,
                       rows->row_bytes);
  return TESELA_OK;
}

tesela_status tsl_cpu_fill(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                           size_t bytes) {
  (void)stream;
  TSL_TRY(cpu_memory_check_range(buffer, offset, bytes));
  if (bytes > 0)
    memset((char *)buffer->host + offset, byte, bytes);
  return TESELA_OK;
}
