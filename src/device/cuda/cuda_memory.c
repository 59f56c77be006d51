#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"
#include "device/memory_pool.h"

#include <stdio.h>

static tsl_cuda_buffer *cuda_buffer_of(tsl_buffer *buffer) {
  return (tsl_cuda_buffer *)buffer;
}

/* Fails with the requested and the free size, and leaves the context. */
static tesela_status cuda_memory_out_of_memory(tsl_device *device, size_t bytes, int code) {
  char asked[32], left[32], more[96];
  size_t free_bytes = 0, all_bytes = 0;
  tsl_format_bytes(bytes, asked, sizeof asked);
  if (tsl_cuda.memory_info(&free_bytes, &all_bytes) == TSL_CU_SUCCESS)
    snprintf(more, sizeof more, ", asked for %s, %s free", asked,
             tsl_format_bytes(free_bytes, left, sizeof left));
  else
    snprintf(more, sizeof more, ", asked for %s", asked);
  tsl_cuda_leave_quietly();
  return tsl_cuda_fail(device, "cuMemAlloc", code, more);
}

tesela_status tsl_cuda_buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  tesela_status status;
  void *block;
  *buffer = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_cuda_buffer), "a buffer's description", &block));
  tsl_cuda_buffer *made = block;
  made->base = (tsl_buffer){.device = device, .bytes = bytes};
  TSL_GO(tsl_cuda_enter(device));
  /* The driver refuses zero bytes, but kernels need an address. */
  int code = tsl_cuda.memory_take(&made->address, bytes ? bytes : 1);
  if (code == TSL_CU_OUT_OF_MEMORY && tsl_pooled_buffers_destroy(device))
    code = tsl_cuda.memory_take(&made->address, bytes ? bytes : 1);
  TSL_GO(code == TSL_CU_OUT_OF_MEMORY ? cuda_memory_out_of_memory(device, bytes, code)
                                      : tsl_cuda_leave(device, "cuMemAlloc", code));
  *buffer = &made->base;
  return TESELA_OK;
out:
  tsl_free(made);
  return status;
}

void tsl_cuda_buffer_destroy(tsl_buffer *buffer) {
  if (!buffer)
    return;
  if (!cuda_buffer_of(buffer)->adopted && tsl_cuda_enter_quietly(buffer->device)) {
    tsl_cuda.memory_free(cuda_buffer_of(buffer)->address);
    tsl_cuda_leave_quietly();
  }
  tsl_free(buffer);
}

/* Checks a range: the driver does not know a buffer's limits. */
static tesela_status check_buffer_range(const tsl_buffer *buffer, size_t offset, size_t bytes,
                                        const char *what) {
  if (offset <= buffer->bytes && bytes <= buffer->bytes - offset)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "%s: %s of %zu bytes at offset %zu exceeds a buffer of %zu bytes",
                  buffer->device->name, what, bytes, offset, buffer->bytes);
}

static tesela_status check_copy(const tsl_copy *copy, const char *what) {
  size_t span;
  if (copy->rows > 1 && (copy->device_pitch < copy->row_bytes || copy->host_pitch < copy->row_bytes))
    return tsl_fail(TESELA_BAD_CALL, "%s: %s of rows of %zu bytes with a smaller pitch",
                    copy->buffer->device->name, what, copy->row_bytes);
  if (!tsl_size_mul(copy->rows - 1, copy->device_pitch, &span) || !tsl_size_add(span, copy->row_bytes, &span))
    span = SIZE_MAX;
  return check_buffer_range(copy->buffer, copy->offset, span, what);
}

static int cuda_memory_copy_flat(tsl_stream *stream, bool to_device, tsl_cu_address device, void *host,
                                 size_t bytes) {
  return to_device ? tsl_cuda.copy_in(device, host, bytes, stream->handle)
                   : tsl_cuda.copy_out(host, device, bytes, stream->handle);
}

/* Copies contiguous rows in one step, others by pitch or row by row. Returns a result code and the call. */
static int cuda_memory_copy_rows(tsl_stream *stream, const tsl_copy *copy, bool to_device,
                                 const char **call) {
  const tsl_cuda_device *device = stream->device->impl;
  const tsl_cu_address address = cuda_buffer_of(copy->buffer)->address + copy->offset;
  *call = to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
  if (copy->rows == 1 || (copy->device_pitch == copy->row_bytes && copy->host_pitch == copy->row_bytes))
    return cuda_memory_copy_flat(stream, to_device, address, copy->host, copy->rows * copy->row_bytes);
  if (copy->device_pitch > device->pitch_max || copy->host_pitch > device->pitch_max) {
    int code = TSL_CU_SUCCESS;
    for (size_t row = 0; row < copy->rows && code == TSL_CU_SUCCESS; row++)
      code = cuda_memory_copy_flat(stream, to_device, address + row * copy->device_pitch,
                                   (char *)copy->host + row * copy->host_pitch, copy->row_bytes);
    return code;
  }
  tsl_cu_copy_2d block = {.row_bytes = copy->row_bytes, .rows = copy->rows};
  if (to_device) {
    block.from_memory = TSL_CU_MEMORY_HOST;
    block.from_host = copy->host;
    block.from_pitch = copy->host_pitch;
    block.to_memory = TSL_CU_MEMORY_DEVICE;
    block.to_device = address;
    block.to_pitch = copy->device_pitch;
  } else {
    block.from_memory = TSL_CU_MEMORY_DEVICE;
    block.from_device = address;
    block.from_pitch = copy->device_pitch;
    block.to_memory = TSL_CU_MEMORY_HOST;
    block.to_host = copy->host;
    block.to_pitch = copy->host_pitch;
  }
  *call = "cuMemcpy2DAsync";
  return tsl_cuda.copy_2d(&block, stream->handle);
}

/* Copies, or enqueues a copy, which is asynchronous for pinned memory. Waits even after a failed row: an
 * asynchronous call may still access host memory. */
static tesela_status cuda_memory_transfer(tsl_stream *stream, const tsl_copy *copy, bool to_device,
                                          bool waits) {
  const char *call;
  if (copy->rows == 0 || copy->row_bytes == 0)
    return TESELA_OK;
  TSL_TRY(check_copy(copy, to_device ? "a copy in" : "a copy out"));
  TSL_TRY(tsl_cuda_enter(stream->device));
  int code = cuda_memory_copy_rows(stream, copy, to_device, &call);
  const int waited = waits ? tsl_cuda.stream_finish(stream->handle) : TSL_CU_SUCCESS;
  if (waits && code == TSL_CU_SUCCESS) {
    call = to_device ? "cuStreamSynchronize after a copy in" : "cuStreamSynchronize after a copy out";
    code = waited;
  }
  return tsl_cuda_leave(stream->device, call, code);
}

tesela_status tsl_cuda_write(tsl_stream *stream, const tsl_copy *copy) {
  return cuda_memory_transfer(stream, copy, true, true);
}

tesela_status tsl_cuda_read(tsl_stream *stream, const tsl_copy *copy) {
  return cuda_memory_transfer(stream, copy, false, true);
}

tesela_status tsl_cuda_write_later(tsl_stream *stream, const tsl_copy *copy) {
  return cuda_memory_transfer(stream, copy, true, false);
}

tesela_status tsl_cuda_read_later(tsl_stream *stream, const tsl_copy *copy) {
  return cuda_memory_transfer(stream, copy, false, false);
}

tesela_status tsl_cuda_pinned_create(tsl_device *device, size_t bytes, tsl_pinned **pinned) {
  tesela_status status;
  void *block;
  *pinned = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_pinned), "pinned memory's description", &block));
  tsl_pinned *made = block;
  *made = (tsl_pinned){.device = device, .bytes = bytes};
  TSL_GO(tsl_cuda_enter(device));
  TSL_GO(tsl_cuda_leave(device, "cuMemHostAlloc", tsl_cuda.pinned_take(&made->host, bytes ? bytes : 1, 0)));
  *pinned = made;
  return TESELA_OK;
out:
  tsl_free(made);
  return status;
}

void tsl_cuda_pinned_destroy(tsl_pinned *pinned) {
  if (!pinned)
    return;
  if (tsl_cuda_enter_quietly(pinned->device)) {
    tsl_cuda.pinned_free(pinned->host);
    tsl_cuda_leave_quietly();
  }
  tsl_free(pinned);
}

tesela_status tsl_cuda_copy(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                            size_t to_offset, size_t bytes) {
  if (bytes == 0)
    return TESELA_OK;
  TSL_TRY(check_buffer_range(from, from_offset, bytes, "a copy"));
  TSL_TRY(check_buffer_range(buffer, to_offset, bytes, "a copy"));
  TSL_TRY(tsl_cuda_enter(stream->device));
  const int code = tsl_cuda.copy(cuda_buffer_of(buffer)->address + to_offset,
                                 cuda_buffer_of(from)->address + from_offset, bytes, stream->handle);
  return tsl_cuda_leave(stream->device, "cuMemcpyDtoDAsync", code);
}

tesela_status tsl_cuda_fill(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                            size_t bytes) {
  if (bytes == 0)
    return TESELA_OK;
  TSL_TRY(check_buffer_range(buffer, offset, bytes, "a fill"));
  TSL_TRY(tsl_cuda_enter(stream->device));
  const int code = tsl_cuda.fill(cuda_buffer_of(buffer)->address + offset, byte, bytes, stream->handle);
  return tsl_cuda_leave(stream->device, "cuMemsetD8Async", code);
}

/* Images are descriptions that kernels get by value: no object of the driver outlives a launch or a graph. */
tesela_status tsl_cuda_image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  void *block;
  (void)stream;
  *image = NULL;
  TSL_TRY(tsl_image_check(layout));
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_image), "an image", &block));
  *image = block;
  **image = (tsl_image){.address = ((const tsl_cuda_buffer *)layout->buffer)->address + layout->offset,
                        .pitch = layout->pitch,
                        .width = (int32_t)layout->width,
                        .height = (int32_t)layout->height};
  return TESELA_OK;
}

void tsl_cuda_image_destroy(tsl_image *image) {
  tsl_free(image);
}
