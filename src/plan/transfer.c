#include "plan/transfer.h"

#include "base/memory.h"
#include "base/status.h"

/* Shorter rows are cheaper to gather on the host than to copy one by one. */
enum { SHORTEST_ROW = 64 };

/* Lines of `length` elements next to each other, `count` of them, `stride` elements apart. */
typedef struct lines {
  int64_t count, length, stride;
} lines;

static bool one_after_another(int64_t size, int64_t stride) {
  return size == 1 || stride == 1;
}

bool tsl_transfer_plan(const tsl_shape *shape, tsl_transfer *out) {
  const size_t size = tsl_type(shape->type)->size;
  const int64_t rows = shape->rows, cols = shape->cols;
  size_t elements;
  *out = (tsl_transfer){.packed = *shape};
  if (!tsl_size_mul((size_t)rows, (size_t)cols, &elements) || !tsl_size_mul(elements, size, &out->bytes) ||
      out->bytes > INT64_MAX)
    return false;
  const bool by_rows = one_after_another(cols, shape->col_stride),
             by_cols = one_after_another(rows, shape->row_stride);
  const bool row_major = by_rows ? !by_cols || cols >= rows : !by_cols && shape->col_stride != 0;
  const lines line =
      row_major ? (lines){rows, cols, shape->row_stride} : (lines){cols, rows, shape->col_stride};
  out->packed.row_stride = row_major ? cols : 1;
  out->packed.col_stride = row_major ? 1 : rows;
  const size_t row_bytes = (size_t)line.length * size;
  const bool apart = line.count <= 1 || line.stride >= line.length;
  const bool touching = line.count <= 1 || line.stride == line.length;
  out->gathered = !(by_rows || by_cols) || !apart || (!touching && row_bytes < SHORTEST_ROW);
  out->rows = touching ? 1 : (size_t)line.count;
  out->row_bytes = touching ? out->bytes : row_bytes;
  out->host_pitch = touching ? out->bytes : (size_t)line.stride * size;
  return true;
}

/* Element for element between two layouts of the same rows and columns, along packed lines. */
static void rearrange(const tsl_shape *from, const unsigned char *source, const tsl_shape *to,
                      unsigned char *target, bool row_major) {
  const int64_t size = (int64_t)tsl_type(from->type)->size;
  const int64_t count = row_major ? from->rows : from->cols;
  const size_t length = (size_t)(row_major ? from->cols : from->rows);
  for (int64_t i = 0; i < count; i++) {
    const int64_t source_at = i * (row_major ? from->row_stride : from->col_stride) * size;
    const int64_t target_at = i * (row_major ? to->row_stride : to->col_stride) * size;
    tsl_type_convert(from->type, source + source_at, row_major ? from->col_stride : from->row_stride,
                     to->type, target + target_at, row_major ? to->col_stride : to->row_stride, length);
  }
}

static bool can_map(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_SHARED_MEMORY) != 0;
}

bool tsl_transfer_needs_block(const tsl_transfer *transfer, const tsl_device *device) {
  return transfer->gathered && !can_map(device);
}

/* The copy's lines are its rows unless a column's elements follow each other. */
static bool packed_by_rows(const tsl_transfer *transfer) {
  return transfer->packed.col_stride == 1;
}

static tsl_copy copy_of_rows(const tsl_transfer *transfer, tsl_buffer *buffer, void *host) {
  return (tsl_copy){.buffer = buffer,
                    .device_pitch = transfer->row_bytes,
                    .host = host,
                    .host_pitch = transfer->host_pitch,
                    .rows = transfer->rows,
                    .row_bytes = transfer->row_bytes};
}

tesela_status tsl_transfer_in(const tsl_shape *shape, const tsl_transfer *transfer, const void *host,
                              tsl_buffer *buffer, tsl_stream *stream, void *block) {
  const tsl_device_ops *ops = buffer->device->ops;
  if (transfer->gathered && can_map(buffer->device)) {
    void *seen;
    TSL_TRY(ops->buffer_map(stream, buffer, 1, &seen));
    rearrange(shape, host, &transfer->packed, seen, packed_by_rows(transfer));
    return ops->buffer_unmap(stream, buffer, seen);
  }
  if (transfer->gathered) {
    rearrange(shape, host, &transfer->packed, block, packed_by_rows(transfer));
    return tsl_device_write(stream, buffer, 0, block, transfer->bytes);
  }
  /* The field is shared with read(); write() only reads there. */
  const union {
    const void *read_only;
    void *any;
  } from = {.read_only = host};
  const tsl_copy copy = copy_of_rows(transfer, buffer, from.any);
  return ops->write(stream, &copy);
}

tesela_status tsl_transfer_out(const tsl_shape *shape, const tsl_transfer *transfer, void *host,
                               tsl_buffer *buffer, tsl_stream *stream, void *block) {
  const tsl_device_ops *ops = buffer->device->ops;
  if (transfer->gathered && can_map(buffer->device)) {
    void *seen;
    TSL_TRY(ops->buffer_map(stream, buffer, 0, &seen));
    rearrange(&transfer->packed, seen, shape, host, packed_by_rows(transfer));
    return ops->buffer_unmap(stream, buffer, seen);
  }
  if (transfer->gathered) {
    const tesela_status status = tsl_device_read(stream, buffer, 0, block, transfer->bytes);
    if (status == TESELA_OK)
      rearrange(&transfer->packed, block, shape, host, packed_by_rows(transfer));
    return status;
  }
  const tsl_copy copy = copy_of_rows(transfer, buffer, host);
  return ops->read(stream, &copy);
}
