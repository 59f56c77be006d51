#include "device/cross_copy.h"

#include "core/memory.h"
#include "core/status.h"

/* Bytes of host memory for indirect copies: the link's full rate, and within processor caches. */
enum { BLOCK_BYTES = 4 << 20 };

static bool reaches_directly(tsl_device *device, tsl_device *other) {
  return device->ops->copy_rows && device->ops->reaches(device, other);
}

static tesela_status find_or_create_stream_on(tsl_device_copier *copier, tsl_device *other,
                                              tsl_stream **stream) {
  int i = 0;
  while (i < copier->count && copier->others[i].device != other)
    i++;
  if (i == TSL_MEMBERS_MAX)
    return tsl_fail(TESELA_INTERNAL, "%s: copies with more than %d devices", copier->device->name,
                    TSL_MEMBERS_MAX);
  if (i == copier->count) {
    TSL_TRY(other->ops->stream_create(other, &copier->others[i].stream));
    copier->others[i].device = other;
    copier->count++;
  }
  *stream = copier->others[i].stream;
  return TESELA_OK;
}

tesela_status tsl_device_copier_prepare(tsl_device_copier *copier, tsl_device *other, bool *is_asynchronous) {
  tsl_stream *stream;
  *is_asynchronous = reaches_directly(copier->device, other);
  if (*is_asynchronous)
    return TESELA_OK;
  if (!copier->block)
    TSL_TRY(tsl_alloc(BLOCK_BYTES, "copies between devices", &copier->block));
  return other == copier->device ? TESELA_OK : find_or_create_stream_on(copier, other, &stream);
}

typedef struct indirect_copy {
  const tsl_copy_rect *rows;
  tsl_stream *from, *to;
  void *block;
} indirect_copy;

/* Returns rows of the source or the target; the caller sets the host side and row_bytes. */
static tsl_copy device_rows_of_one_side(const tsl_copy_rect *rows, bool is_source, size_t row, size_t count) {
  return (tsl_copy){.buffer = is_source ? rows->from : rows->to,
                    .offset = is_source ? rows->from_offset + row * rows->from_pitch
                                        : rows->to_offset + row * rows->to_pitch,
                    .device_pitch = is_source ? rows->from_pitch : rows->to_pitch,
                    .rows = count};
}

/* Copies bytes [first, first + bytes) of `count` rows from row `row` on through the host block. */
static tesela_status copy_through_block(const indirect_copy *job, size_t row, size_t count, size_t first,
                                        size_t bytes) {
  tsl_copy out = device_rows_of_one_side(job->rows, true, row, count),
           in = device_rows_of_one_side(job->rows, false, row, count);
  out.offset += first;
  in.offset += first;
  out.row_bytes = in.row_bytes = out.host_pitch = in.host_pitch = bytes;
  out.host = in.host = job->block;
  TSL_TRY(out.buffer->device->ops->read(job->from, &out));
  return in.buffer->device->ops->write(job->to, &in);
}

/* Copies in one step: one buffer is in host memory. */
static tesela_status copy_in_one_step(const indirect_copy *job, bool from_host) {
  const tsl_copy_rect *rows = job->rows;
  tsl_copy seen = device_rows_of_one_side(rows, from_host, 0, rows->rows),
           other = device_rows_of_one_side(rows, !from_host, 0, rows->rows);
  other.host = (unsigned char *)seen.buffer->host + seen.offset;
  other.host_pitch = seen.device_pitch;
  other.row_bytes = rows->row_bytes;
  return from_host ? other.buffer->device->ops->write(job->to, &other)
                   : other.buffer->device->ops->read(job->from, &other);
}

static tesela_status copy_by_blocks(const indirect_copy *job) {
  const tsl_copy_rect *rows = job->rows;
  const size_t most = rows->row_bytes < BLOCK_BYTES ? BLOCK_BYTES / rows->row_bytes : 1,
               length = rows->row_bytes < BLOCK_BYTES ? rows->row_bytes : BLOCK_BYTES;
  for (size_t row = 0; row < rows->rows; row += most)
    for (size_t first = 0; first < rows->row_bytes; first += length)
      TSL_TRY(copy_through_block(job, row, rows->rows - row < most ? rows->rows - row : most, first,
                                 rows->row_bytes - first < length ? rows->row_bytes - first : length));
  return TESELA_OK;
}

tesela_status tsl_device_copy(tsl_device_copier *copier, tsl_stream *stream, const tsl_copy_rect *rows) {
  tsl_device *other = rows->from->device == copier->device ? rows->to->device : rows->from->device;
  indirect_copy job = {.rows = rows, .from = stream, .to = stream};
  bool is_asynchronous;
  if (rows->rows == 0 || rows->row_bytes == 0)
    return TESELA_OK;
  TSL_TRY(tsl_device_copier_prepare(copier, other, &is_asynchronous));
  if (is_asynchronous)
    return copier->device->ops->copy_rows(stream, rows);
  job.block = copier->block;
  if (other != copier->device)
    TSL_TRY(find_or_create_stream_on(copier, other, rows->from->device == other ? &job.from : &job.to));
  if (rows->from->host || rows->to->host)
    return copy_in_one_step(&job, rows->from->host != NULL);
  return copy_by_blocks(&job);
}

tesela_status tsl_device_copier_finish(tsl_device_copier *copier) {
  tesela_status status = TESELA_OK;
  for (int i = 0; i < copier->count && status == TESELA_OK; i++)
    status = copier->others[i].device->ops->finish(copier->others[i].stream);
  return status;
}

void tsl_device_copier_end(tsl_device_copier *copier) {
  for (int i = 0; i < copier->count; i++)
    copier->others[i].device->ops->stream_destroy(copier->others[i].stream);
  tsl_free(copier->block);
  *copier = (tsl_device_copier){.device = copier->device};
}
