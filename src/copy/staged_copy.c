#include "copy/staged_copy.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"

#include <string.h>

enum { TASK_BYTES_MIN = 64 << 10 };

static bool is_packed_by_rows(const tsl_transfer *transfer) {
  return transfer->packed.col_stride == 1;
}

static int64_t element_bytes(const tsl_transfer_path *path) {
  return (int64_t)tsl_type(path->shape->type)->size;
}

static int64_t packed_line_length(const tsl_transfer *transfer) {
  return is_packed_by_rows(transfer) ? transfer->packed.cols : transfer->packed.rows;
}
static int64_t host_line_stride(const tsl_transfer_path *path) {
  return is_packed_by_rows(path->transfer) ? path->shape->row_stride : path->shape->col_stride;
}
/* Returns the stride inside a line in the caller's memory, in elements. */
static int64_t host_element_stride(const tsl_transfer_path *path) {
  return is_packed_by_rows(path->transfer) ? path->shape->col_stride : path->shape->row_stride;
}

tsl_line_chunk_iterator tsl_staged_copy_begin(const tsl_transfer_path *path, const tsl_copy_part *part,
                                              size_t max_bytes) {
  const int64_t fit = (int64_t)(max_bytes / (size_t)element_bytes(path));
  const tsl_line_chunk whole = is_packed_by_rows(path->transfer)
                                   ? (tsl_line_chunk){part->row, part->rows, part->col, part->cols}
                                   : (tsl_line_chunk){part->col, part->cols, part->row, part->rows};
  tsl_line_chunk_iterator chunks = {.part = whole, .next = whole};
  if (whole.length > 0 && fit >= whole.length) {
    chunks.next.lines = tsl_min(whole.lines, fit / whole.length);
  } else {
    chunks.next.lines = whole.length > 0 && whole.lines > 0 ? 1 : 0;
    chunks.next.length = fit > 0 ? tsl_min(fit, whole.length) : tsl_min(1, whole.length);
  }
  return chunks;
}

bool tsl_staged_copy_next(tsl_line_chunk_iterator *chunks, tsl_line_chunk *chunk) {
  const tsl_line_chunk *part = &chunks->part;
  tsl_line_chunk *next = &chunks->next;
  const int64_t lines_end = part->line + part->lines, end = part->first + part->length;
  if (next->line >= lines_end || next->lines == 0 || next->length == 0)
    return false;
  *chunk = *next;
  chunk->lines = tsl_min(next->lines, lines_end - next->line);
  chunk->length = tsl_min(next->length, end - next->first);
  next->first += chunk->length;
  if (next->first >= end) {
    next->first = part->first;
    next->line += chunk->lines;
  }
  return true;
}

typedef struct chunk_copy {
  const tsl_transfer_path *path;
  tsl_line_chunk chunk;
  unsigned char *slot;   /* pinned memory of the chunk, dense */
  bool to_slot;          /* from the caller's memory to the slot; false: from the slot */
  int64_t task_elements; /* elements of the chunk for each task */
} chunk_copy;

/* Reduces a range of elements of a line to the stored triangle. */
static void clip_to_triangle(const tsl_transfer_path *path, int64_t line, int64_t *first_element,
                             int64_t *length) {
  int64_t from, count;
  tsl_transfer_stored_range(path->shape, is_packed_by_rows(path->transfer), line, &from, &count);
  const int64_t end = tsl_min(*first_element + *length, from + count);
  *first_element = *first_element > from ? *first_element : from;
  *length = end > *first_element ? end - *first_element : 0;
}

/* Copies elements of one line between caller and slot; `line` and `first` count from the chunk's start. */
static void copy_line(const chunk_copy *job, int64_t line, int64_t first, int64_t length) {
  const tsl_transfer_path *path = job->path;
  if (path->transfer->gathered && path->shape->triangle != TESELA_WHOLE) {
    int64_t at = job->chunk.first + first;
    clip_to_triangle(path, job->chunk.line + line, &at, &length);
    first = at - job->chunk.first;
  }
  const int64_t size = element_bytes(path), stride = host_element_stride(path);
  const tesela_type type = path->shape->type;
  unsigned char *host =
      path->host +
      ((job->chunk.line + line) * host_line_stride(path) + (job->chunk.first + first) * stride) * size;
  unsigned char *slot = job->slot + (line * job->chunk.length + first) * size;
  if (!path->transfer->gathered && job->to_slot)
    memcpy(slot, host, (size_t)(length * size));
  else if (!path->transfer->gathered)
    memcpy(host, slot, (size_t)(length * size));
  else if (job->to_slot)
    tsl_type_convert(type, host, stride, type, slot, 1, (size_t)length);
  else
    tsl_type_convert(type, slot, 1, type, host, stride, (size_t)length);
}

/* Copies the elements of task `index`: task_elements of the chunk, in the order of the slot. */
static void copy_elements_of_task(void *argument, int64_t index, int worker) {
  const chunk_copy *job = argument;
  const int64_t all = job->chunk.lines * job->chunk.length;
  const int64_t end = tsl_min(all, (index + 1) * job->task_elements);
  (void)worker;
  for (int64_t at = index * job->task_elements; at < end;) {
    const int64_t first = at % job->chunk.length;
    const int64_t length = tsl_min(job->chunk.length - first, end - at);
    copy_line(job, at / job->chunk.length, first, length);
    at += length;
  }
}

/* Returns the chunk; as one line if its lines are contiguous in the caller's memory. */
static tsl_line_chunk merge_contiguous_lines(const tsl_transfer_path *path, const tsl_line_chunk *chunk) {
  const int64_t length = packed_line_length(path->transfer);
  if (path->transfer->gathered || chunk->lines == 1 || chunk->length != length ||
      host_line_stride(path) != length)
    return *chunk;
  return (tsl_line_chunk){chunk->line, 1, 0, chunk->lines * length};
}

static void copy_between_host_and_slot(const tsl_stager *stager, const tsl_transfer_path *path,
                                       const tsl_line_chunk *chunk, int slot, bool to_slot) {
  chunk_copy job = {path, merge_contiguous_lines(path, chunk), tsl_staging_memory(stager->staging, slot),
                    to_slot, 0};
  const int64_t all = chunk->lines * chunk->length, line = TSL_CACHE_LINE;
  const int64_t task_elements_min = (TASK_BYTES_MIN + element_bytes(path) - 1) / element_bytes(path);
  const int threads = tsl_team_threads(stager->team);
  const int64_t task_elements = (all + threads - 1) / threads;
  job.task_elements =
      task_elements < task_elements_min ? task_elements_min : (task_elements + line - 1) / line * line;
  tsl_team_run(stager->team, (all + job.task_elements - 1) / job.task_elements, copy_elements_of_task, &job);
}

/* Returns the device's copy between slot and buffer for a chunk; the slot is dense. */
static tsl_copy make_slot_copy(const tsl_stager *stager, const tsl_transfer_path *path,
                               const tsl_line_chunk *chunk, int slot) {
  const size_t size = (size_t)element_bytes(path);
  const size_t line = (size_t)packed_line_length(path->transfer) * size;
  return (tsl_copy){.buffer = path->buffer,
                    .offset = (size_t)chunk->line * line + (size_t)chunk->first * size,
                    .device_pitch = line,
                    .host = tsl_staging_memory(stager->staging, slot),
                    .host_pitch = (size_t)chunk->length * size,
                    .rows = (size_t)chunk->lines,
                    .row_bytes = (size_t)chunk->length * size};
}

/* Outgoing chunks in flight during copies to the device: slots rotate, one incoming chunk between two
 * outgoing. So tsl_overlapped_readback_finish(), with all slots but one in flight, reuses none too early. */
enum { OVERLAPPED_CHUNKS = 2 };

tesela_status tsl_overlapped_readback_begin(tsl_overlapped_readback *out, const tsl_stager *stager,
                                            const tsl_transfer_path *path, const tsl_pending_readback *part) {
  const tsl_line_chunk_iterator chunks =
      tsl_staged_copy_begin(path, &part->part, stager->staging->slot_bytes);
  *out = (tsl_overlapped_readback){
      .stager = stager, .path = *path, .sent = chunks, .landed = chunks, .has_more = true};
  return part->ready ? stager->staging->device->ops->stream_wait(stager->staging->out, part->ready)
                     : TESELA_OK;
}

/* Advances a readback: lands the oldest chunk if in_flight_max are in flight, or all; sends the next. */
static tesela_status advance_readback(tsl_overlapped_readback *out, int in_flight_max) {
  if (!out->has_more && out->in_flight == 0)
    return TESELA_OK;
  tsl_staging *staging = out->stager->staging;
  tsl_line_chunk chunk;
  if (out->in_flight > 0 && (out->in_flight == in_flight_max || !out->has_more)) {
    (void)tsl_staged_copy_next(&out->landed, &chunk);
    TSL_TRY(tsl_staging_wait(staging, out->slots[out->first]));
    copy_between_host_and_slot(out->stager, &out->path, &chunk, out->slots[out->first], false);
    out->wrote_host = true;
    out->first = (out->first + 1) % TSL_STAGING_SLOTS;
    out->in_flight--;
  }
  out->has_more = out->has_more && tsl_staged_copy_next(&out->sent, &chunk);
  if (!out->has_more)
    return TESELA_OK;
  int *slot = &out->slots[(out->first + out->in_flight) % TSL_STAGING_SLOTS];
  TSL_TRY(tsl_staging_slot(staging, slot));
  const tsl_copy copy = make_slot_copy(out->stager, &out->path, &chunk, *slot);
  TSL_TRY(staging->device->ops->read_later(staging->out, &copy));
  out->in_flight++;
  return tsl_staging_use(staging, *slot, staging->out);
}

tesela_status tsl_overlapped_readback_finish(tsl_overlapped_readback *out) {
  while (out->has_more || out->in_flight > 0)
    TSL_TRY(advance_readback(out, TSL_STAGING_SLOTS - 1));
  return TESELA_OK;
}

tesela_status tsl_staged_copy_to_device(const tsl_stager *stager, const tsl_transfer_path *path,
                                        const tsl_copy_part *part) {
  tsl_staging *staging = stager->staging;
  tsl_line_chunk_iterator chunks = tsl_staged_copy_begin(path, part, staging->slot_bytes);
  tsl_line_chunk chunk;
  while (tsl_staged_copy_next(&chunks, &chunk)) {
    int slot;
    TSL_TRY(tsl_staging_slot(staging, &slot));
    copy_between_host_and_slot(stager, path, &chunk, slot, true);
    const tsl_copy copy = make_slot_copy(stager, path, &chunk, slot);
    TSL_TRY(staging->device->ops->write_later(staging->in, &copy));
    TSL_TRY(tsl_staging_use(staging, slot, staging->in));
    if (stager->readback)
      TSL_TRY(advance_readback(stager->readback, OVERLAPPED_CHUNKS));
  }
  return TESELA_OK;
}

typedef struct readback_job {
  const tsl_stager *stager;
  const tsl_transfer_path *path;
  const tsl_pending_readback *parts;
  int count;
} readback_job;

/* Iterator over the chunks of all parts: one for the device, one for the threads that follow it. */
typedef struct parts_iterator {
  int part; /* index in readback_job.parts; -1: before the first */
  tsl_line_chunk_iterator chunks;
} parts_iterator;

/* Gets the next chunk of all parts; false past the last. *is_first: the chunk begins a part. */
static bool next_chunk_of_parts(const readback_job *job, parts_iterator *iterator, tsl_line_chunk *chunk,
                                bool *is_first) {
  *is_first = false;
  while (iterator->part < 0 || !tsl_staged_copy_next(&iterator->chunks, chunk)) {
    if (++iterator->part >= job->count)
      return false;
    iterator->chunks =
        tsl_staged_copy_begin(job->path, &job->parts[iterator->part].part, job->stager->staging->slot_bytes);
    *is_first = true;
  }
  return true;
}

/* Enqueues the next chunk into a slot; `has_more` is false where none is left. */
static tesela_status enqueue_next_chunk(const readback_job *job, parts_iterator *iterator, int *slot,
                                        bool *has_more) {
  tsl_staging *staging = job->stager->staging;
  const tsl_device_ops *ops = staging->device->ops;
  tsl_line_chunk chunk;
  bool is_first;
  *has_more = next_chunk_of_parts(job, iterator, &chunk, &is_first);
  if (!*has_more)
    return TESELA_OK;
  tsl_event *ready = job->parts[iterator->part].ready;
  if (is_first && ready)
    TSL_TRY(ops->stream_wait(staging->out, ready));
  TSL_TRY(tsl_staging_slot(staging, slot));
  const tsl_copy copy = make_slot_copy(job->stager, job->path, &chunk, *slot);
  TSL_TRY(ops->read_later(staging->out, &copy));
  return tsl_staging_use(staging, *slot, staging->out);
}

/* Waits for the next chunk, in `slot`, and copies it to the caller's memory. Sets last_ready if timed. */
static tesela_status finish_next_chunk(const readback_job *job, parts_iterator *iterator, int slot,
                                       bool is_timed, tsl_copy_result *landed) {
  tsl_staging *staging = job->stager->staging;
  tsl_line_chunk chunk;
  bool is_first;
  (void)next_chunk_of_parts(job, iterator, &chunk, &is_first);
  tsl_event *ready = job->parts[iterator->part].ready;
  if (is_timed && is_first && iterator->part == job->count - 1) {
    if (ready)
      TSL_TRY(staging->device->ops->event_wait(ready));
    landed->last_ready = tsl_clock();
  }
  TSL_TRY(tsl_staging_wait(staging, slot));
  copy_between_host_and_slot(job->stager, job->path, &chunk, slot, false);
  landed->wrote_host = true;
  return TESELA_OK;
}

/* Keeps all slots but one in flight while the threads empty that one. */
tesela_status tsl_staged_copy_to_host(const tsl_stager *stager, const tsl_transfer_path *path,
                                      const tsl_pending_readback *parts, int count, bool is_timed,
                                      tsl_copy_result *landed) {
  const readback_job job = {stager, path, parts, count};
  parts_iterator sent = {.part = -1}, at = {.part = -1};
  int slots[TSL_STAGING_SLOTS], first = 0, in_flight = 0;
  bool has_more = true;
  *landed = (tsl_copy_result){0};
  for (;;) {
    while (has_more && in_flight < TSL_STAGING_SLOTS - 1) {
      TSL_TRY(enqueue_next_chunk(&job, &sent, &slots[(first + in_flight) % TSL_STAGING_SLOTS], &has_more));
      in_flight += has_more;
    }
    if (in_flight == 0)
      return TESELA_OK;
    TSL_TRY(finish_next_chunk(&job, &at, slots[first], is_timed, landed));
    first = (first + 1) % TSL_STAGING_SLOTS;
    in_flight--;
  }
}

enum { PAGE = 4096, MAPPED_BYTES = 4 << 20 };

typedef struct page_range {
  uintptr_t start, end; /* address of the first byte, and past the last */
} page_range;

/* Maps one range of MAPPED_BYTES bytes: each large page is touched by one thread only. */
static void map_page_range(void *argument, int64_t index, int worker) {
  const page_range *job = argument;
  const uintptr_t first = job->start / MAPPED_BYTES * MAPPED_BYTES + (uintptr_t)index * MAPPED_BYTES;
  const uintptr_t from = first < job->start ? job->start : first;
  const uintptr_t to = first + MAPPED_BYTES < job->end ? first + MAPPED_BYTES : job->end;
  (void)worker;
  if (from < to)
    tsl_memory_populate((void *)from, to - from);
}

/* Skips operands with gaps of a page or more. New pages cost as much time as the copy itself. */
void tsl_transfer_path_map_pages(const tsl_stager *stager, const tsl_transfer_path *path) {
  const int64_t size = element_bytes(path);
  if (path->transfer->gathered ||
      (host_line_stride(path) - packed_line_length(path->transfer)) * size >= PAGE)
    return;
  const uintptr_t start = (uintptr_t)path->host;
  page_range job = {start, start + (size_t)(tsl_shape_extent(path->shape) * size)};
  tsl_team_run(stager->team, (int64_t)(job.end / MAPPED_BYTES - start / MAPPED_BYTES + 1), map_page_range,
               &job);
}
