/* Copies between CUDA devices: over NVLink or PCIe with peer access, else through host memory. */
#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

static tsl_cuda_device *cuda_device_of(const tsl_device *device) {
  return device->impl;
}

/* Enables peer access until the context ends. Failure is harmless: copies work without it. */
static void give_access(tsl_device *device, const tsl_device *other) {
  const tsl_cu_device peer = cuda_device_of(other)->ordinal;
  const uint64_t bit = peer < 64 ? UINT64_C(1) << peer : 0;
  int can = 0;
  if (bit == 0 || atomic_fetch_or(&cuda_device_of(device)->peers, bit) & bit)
    return;
  if (tsl_cuda.peer_can(&can, cuda_device_of(device)->ordinal, peer) != TSL_CU_SUCCESS || !can ||
      !tsl_cuda_enter_quietly(device))
    return;
  (void)tsl_cuda.peer_enable(cuda_device_of(other)->context, 0);
  tsl_cuda_leave_quietly();
}

bool tsl_cuda_reaches(tsl_device *device, tsl_device *other) {
  if (other->ops != device->ops || !cuda_device_of(device)->context || !cuda_device_of(other)->context)
    return false;
  if (device != other) {
    give_access(device, other);
    give_access(other, device);
  }
  return true;
}

static tsl_cu_address peers_address_of(const tsl_buffer *buffer, size_t offset) {
  return ((const tsl_cuda_buffer *)buffer)->address + offset;
}

static tesela_status check_side_range(const tsl_buffer *buffer, size_t offset, size_t pitch,
                                      const tsl_copy_rect *rows) {
  size_t span;
  if ((rows->rows > 1 && pitch < rows->row_bytes) || !tsl_size_mul(rows->rows - 1, pitch, &span) ||
      !tsl_size_add(span, rows->row_bytes, &span) || offset > buffer->bytes || span > buffer->bytes - offset)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: %zu rows of %zu bytes with a pitch of %zu from byte %zu on exceed a buffer of %zu "
                    "bytes",
                    buffer->device->name, rows->rows, rows->row_bytes, pitch, offset, buffer->bytes);
  return TESELA_OK;
}

static int peers_copy_flat(tsl_stream *stream, const tsl_copy_rect *rows, size_t row, size_t bytes) {
  return tsl_cuda.copy_peer(peers_address_of(rows->to, rows->to_offset + row * rows->to_pitch),
                            cuda_device_of(rows->to->device)->context,
                            peers_address_of(rows->from, rows->from_offset + row * rows->from_pitch),
                            cuda_device_of(rows->from->device)->context, bytes, stream->handle);
}

/* Copies contiguous rows in one step, others by pitch or row by row. Returns a result code and the call. */
static int peers_copy(tsl_stream *stream, const tsl_copy_rect *rows, const char **call) {
  const size_t pitch_max = cuda_device_of(stream->device)->pitch_max;
  *call = "cuMemcpyPeerAsync";
  if (rows->rows == 1 || (rows->from_pitch == rows->row_bytes && rows->to_pitch == rows->row_bytes))
    return peers_copy_flat(stream, rows, 0, rows->rows * rows->row_bytes);
  if (rows->from_pitch > pitch_max || rows->to_pitch > pitch_max) {
    int code = TSL_CU_SUCCESS;
    for (size_t row = 0; row < rows->rows && code == TSL_CU_SUCCESS; row++)
      code = peers_copy_flat(stream, rows, row, rows->row_bytes);
    return code;
  }
  const tsl_cu_copy_peer block = {.from_memory = TSL_CU_MEMORY_DEVICE,
                                  .from_device = peers_address_of(rows->from, rows->from_offset),
                                  .from_context = cuda_device_of(rows->from->device)->context,
                                  .from_pitch = rows->from_pitch,
                                  .from_height = rows->rows,
                                  .to_memory = TSL_CU_MEMORY_DEVICE,
                                  .to_device = peers_address_of(rows->to, rows->to_offset),
                                  .to_context = cuda_device_of(rows->to->device)->context,
                                  .to_pitch = rows->to_pitch,
                                  .to_height = rows->rows,
                                  .row_bytes = rows->row_bytes,
                                  .rows = rows->rows,
                                  .layers = 1};
  *call = "cuMemcpy3DPeerAsync";
  return tsl_cuda.copy_peer_rows(&block, stream->handle);
}

tesela_status tsl_cuda_copy_rows(tsl_stream *stream, const tsl_copy_rect *rows) {
  const char *call;
  if (rows->rows == 0 || rows->row_bytes == 0)
    return TESELA_OK;
  TSL_TRY(check_side_range(rows->from, rows->from_offset, rows->from_pitch, rows));
  TSL_TRY(check_side_range(rows->to, rows->to_offset, rows->to_pitch, rows));
  TSL_TRY(tsl_cuda_enter(stream->device));
  const int code = peers_copy(stream, rows, &call);
  return tsl_cuda_leave(stream->device, call, code);
}
