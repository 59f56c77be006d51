#include "copy/transfer.h"

#include "core/memory.h"
#include "core/status.h"

/* Minimum bytes of a row for a pitched copy; shorter rows are faster to gather on the host. */
enum { PITCHED_ROW_BYTES_MIN = 64 };

typedef struct contiguous_lines {
  int64_t count, length, stride; /* lines; contiguous elements of a line; elements from line to line */
} contiguous_lines;

static bool is_contiguous(int64_t length, int64_t stride) {
  return length == 1 || stride == 1;
}

bool tsl_transfer_plan(const tsl_shape *shape, tsl_transfer *out) {
  const size_t size = tsl_type(shape->type)->size;
  const int64_t rows = shape->rows, cols = shape->cols;
  size_t elements;
  *out = (tsl_transfer){.packed = *shape};
  if (!tsl_size_mul((size_t)rows, (size_t)cols, &elements) || !tsl_size_mul(elements, size, &out->bytes) ||
      out->bytes > INT64_MAX)
    return false;
  const bool by_rows = is_contiguous(cols, shape->col_stride),
             by_cols = is_contiguous(rows, shape->row_stride);
  const bool row_major = by_rows ? !by_cols || cols >= rows : !by_cols && shape->col_stride != 0;
  const contiguous_lines line = row_major ? (contiguous_lines){rows, cols, shape->row_stride}
                                          : (contiguous_lines){cols, rows, shape->col_stride};
  out->packed.row_stride = row_major ? cols : 1;
  out->packed.col_stride = row_major ? 1 : rows;
  const size_t row_bytes = (size_t)line.length * size;
  const bool lines_are_separate = line.count <= 1 || line.stride >= line.length;
  const bool lines_are_contiguous = line.count <= 1 || line.stride == line.length;
  out->gathered = !(by_rows || by_cols) || !lines_are_separate ||
                  (!lines_are_contiguous && row_bytes < PITCHED_ROW_BYTES_MIN);
  out->rows = lines_are_contiguous ? 1 : (size_t)line.count;
  out->row_bytes = lines_are_contiguous ? out->bytes : row_bytes;
  out->host_pitch = lines_are_contiguous ? out->bytes : (size_t)line.stride * size;
  return true;
}

void tsl_transfer_stored_range(const tsl_shape *shape, bool row_major, int64_t index, int64_t *first,
                               int64_t *count) {
  const int64_t length = row_major ? shape->cols : shape->rows, at = index < length ? index : length;
  const bool is_before = (shape->triangle == TESELA_LOWER) == row_major;
  *first = shape->triangle == TESELA_WHOLE || is_before ? 0 : at;
  *count = shape->triangle == TESELA_WHOLE ? length
           : !is_before                    ? length - at
           : at < length                   ? at + 1
                                           : length;
}

/* Copies element by element between layouts of equal rows and columns; of a triangle only stored elements. */
static void copy_elements(const tsl_shape *from, const unsigned char *source, const tsl_shape *shape,
                          unsigned char *target, bool row_major) {
  const int64_t size = (int64_t)tsl_type(from->type)->size;
  const int64_t count = row_major ? from->rows : from->cols;
  const int64_t source_step = row_major ? from->col_stride : from->row_stride,
                target_step = row_major ? shape->col_stride : shape->row_stride;
  for (int64_t i = 0; i < count; i++) {
    int64_t first, length;
    tsl_transfer_stored_range(from, row_major, i, &first, &length);
    const int64_t source_at = i * (row_major ? from->row_stride : from->col_stride) + first * source_step;
    const int64_t target_at = i * (row_major ? shape->row_stride : shape->col_stride) + first * target_step;
    tsl_type_convert(from->type, source + source_at * size, source_step, shape->type,
                     target + target_at * size, target_step, (size_t)length);
  }
}

static bool can_map_buffers(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_SHARED_MEMORY) != 0;
}

void tsl_transfer_preserve_other_triangle(tsl_transfer *transfer) {
  transfer->gathered = transfer->gathered || transfer->packed.triangle != TESELA_WHOLE;
}

bool tsl_transfer_needs_block(const tsl_transfer *transfer, const tsl_device *device) {
  return transfer->gathered && !can_map_buffers(device);
}

static bool packs_rows(const tsl_transfer *transfer) {
  return transfer->packed.col_stride == 1;
}

/* Returns the pitched copies of a series: 1 for contiguous operands at a pitch, else one for each. */
static int64_t count_pitched_copies(const tsl_transfer *transfer, tsl_operand_series series, size_t size) {
  const bool one_run = !transfer->gathered && transfer->rows == 1;
  return one_run && series.step > 0 && (size_t)series.step * size >= transfer->bytes ? 1 : series.count;
}

/* Returns pitched copy `index` of a series: one operand, or all if one copy is enough. */
static tsl_copy get_pitched_copy(const tsl_transfer *transfer, tsl_operand_series series, int64_t index,
                                 tsl_buffer *buffer, void *host) {
  const size_t size = tsl_type(transfer->packed.type)->size;
  tsl_copy made = {.buffer = buffer,
                   .offset = (size_t)index * transfer->bytes,
                   .device_pitch = transfer->row_bytes,
                   .host = (unsigned char *)host + index * series.step * (int64_t)size,
                   .host_pitch = transfer->host_pitch,
                   .rows = transfer->rows,
                   .row_bytes = transfer->row_bytes};
  if (series.count > 1 && count_pitched_copies(transfer, series, size) == 1) {
    made.rows = (size_t)series.count;
    made.host_pitch = (size_t)series.step * size;
  }
  return made;
}

typedef struct gather_job {
  const tsl_shape *shape;
  const tsl_transfer *transfer;
  tsl_buffer *buffer;
  size_t offset; /* bytes from the start of the buffer to the packed copy */
  tsl_stream *stream;
  void *block; /* host memory for one packed copy; NULL where the buffer can be mapped */
} gather_job;

/* Packs an operand into the buffer: in the mapped buffer, else in the block and by a device copy. */
static tesela_status gather_into_buffer(const gather_job *job, const unsigned char *host) {
  const tsl_device_ops *ops = job->buffer->device->ops;
  const tsl_transfer *transfer = job->transfer;
  const bool by_rows = packs_rows(transfer);
  if (!can_map_buffers(job->buffer->device)) {
    copy_elements(job->shape, host, &transfer->packed, job->block, by_rows);
    return tsl_device_write(job->stream, job->buffer, job->offset, job->block, transfer->bytes);
  }
  void *mapped;
  TSL_TRY(ops->buffer_map(job->stream, job->buffer, 1, &mapped));
  copy_elements(job->shape, host, &transfer->packed, (unsigned char *)mapped + job->offset, by_rows);
  return ops->buffer_unmap(job->stream, job->buffer, mapped);
}

/* Unpacks the buffer into the caller's memory; returns when the memory is complete. */
static tesela_status scatter_from_buffer(const gather_job *job, unsigned char *host) {
  const tsl_device_ops *ops = job->buffer->device->ops;
  const tsl_transfer *transfer = job->transfer;
  const bool by_rows = packs_rows(transfer);
  if (!can_map_buffers(job->buffer->device)) {
    TSL_TRY(tsl_device_read(job->stream, job->buffer, job->offset, job->block, transfer->bytes));
    copy_elements(&transfer->packed, job->block, job->shape, host, by_rows);
    return TESELA_OK;
  }
  void *mapped;
  TSL_TRY(ops->buffer_map(job->stream, job->buffer, 0, &mapped));
  copy_elements(&transfer->packed, (unsigned char *)mapped + job->offset, job->shape, host, by_rows);
  return ops->buffer_unmap(job->stream, job->buffer, mapped);
}

/* Copies the operands of a series to their buffer, or from it; a copy to it only reads host memory. */
static tesela_status transfer_series(const tsl_shape *shape, const tsl_transfer *transfer,
                                     tsl_operand_series series, bool is_in, void *host, tsl_buffer *buffer,
                                     tsl_stream *stream, void *block) {
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  const int64_t copies = count_pitched_copies(transfer, series, (size_t)size);
  const tsl_device_ops *ops = buffer->device->ops;
  for (int64_t i = 0; i < copies; i++) {
    if (transfer->gathered) {
      const gather_job job = {shape, transfer, buffer, (size_t)i * transfer->bytes, stream, block};
      unsigned char *const start = (unsigned char *)host + i * series.step * size;
      TSL_TRY(is_in ? gather_into_buffer(&job, start) : scatter_from_buffer(&job, start));
      continue;
    }
    const tsl_copy copy = get_pitched_copy(transfer, series, i, buffer, host);
    TSL_TRY((is_in ? ops->write : ops->read)(stream, &copy));
  }
  return TESELA_OK;
}

tesela_status tsl_transfer_in(const tsl_shape *shape, const tsl_transfer *transfer, tsl_operand_series series,
                              const void *host, tsl_buffer *buffer, tsl_stream *stream, void *block) {
  return transfer_series(shape, transfer, series, true, tsl_writable(host), buffer, stream, block);
}

tesela_status tsl_transfer_out(const tsl_shape *shape, const tsl_transfer *transfer,
                               tsl_operand_series series, void *host, tsl_buffer *buffer, tsl_stream *stream,
                               void *block) {
  return transfer_series(shape, transfer, series, false, host, buffer, stream, block);
}
