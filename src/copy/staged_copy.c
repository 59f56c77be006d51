#include "copy/staged_copy.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"

#include <string.h>

enum { LEAST_SHARE = 64 << 10 };

static bool packed_by_rows(const tsl_transfer *transfer) {
  return transfer->packed.col_stride == 1;
}

static int64_t element_bytes(const tsl_transfer_path *path) {
  return (int64_t)tsl_type(path->shape->type)->size;
}

static int64_t staged_copy_line_length(const tsl_transfer *transfer) {
  return packed_by_rows(transfer) ? transfer->packed.cols : transfer->packed.rows;
}
/* Returns the stride of lines in the caller's memory, in elements. */
static int64_t line_stride(const tsl_transfer_path *path) {
  return packed_by_rows(path->transfer) ? path->shape->row_stride : path->shape->col_stride;
}
/* Returns the stride inside a line in the caller's memory, in elements. */
static int64_t element_stride(const tsl_transfer_path *path) {
  return packed_by_rows(path->transfer) ? path->shape->col_stride : path->shape->row_stride;
}

tsl_piece_walk tsl_staged_copy_begin(const tsl_transfer_path *path, const tsl_copy_chunk *part,
                                     size_t max_bytes) {
  const int64_t fit = (int64_t)(max_bytes / (size_t)element_bytes(path));
  const tsl_piece whole = packed_by_rows(path->transfer)
                              ? (tsl_piece){part->row, part->rows, part->col, part->cols}
                              : (tsl_piece){part->col, part->cols, part->row, part->rows};
  tsl_piece_walk pieces = {.part = whole, .next = whole};
  if (whole.length > 0 && fit >= whole.length) {
    pieces.next.lines = tsl_min(whole.lines, fit / whole.length);
  } else {
    pieces.next.lines = whole.length > 0 && whole.lines > 0 ? 1 : 0;
    pieces.next.length = fit > 0 ? tsl_min(fit, whole.length) : tsl_min(1, whole.length);
  }
  return pieces;
}

bool tsl_staged_copy_next(tsl_piece_walk *pieces, tsl_piece *piece) {
  const tsl_piece *part = &pieces->part;
  tsl_piece *next = &pieces->next;
  const int64_t lines_end = part->line + part->lines, end = part->first + part->length;
  if (next->line >= lines_end || next->lines == 0 || next->length == 0)
    return false;
  *piece = *next;
  piece->lines = tsl_min(next->lines, lines_end - next->line);
  piece->length = tsl_min(next->length, end - next->first);
  next->first += piece->length;
  if (next->first >= end) {
    next->first = part->first;
    next->line += piece->lines;
  }
  return true;
}

typedef struct chunk_copy {
  const tsl_transfer_path *path;
  tsl_piece piece;
  unsigned char *slot; /* pinned memory of the chunk, dense */
  bool in;             /* from the caller's memory to the slot; false: from the slot */
  int64_t share;       /* elements of the chunk for each task */
} chunk_copy;

/* Reduces a range of elements of a line to the stored triangle. */
static void clip(const tsl_transfer_path *path, int64_t line, int64_t *first_element, int64_t *length) {
  int64_t from, count;
  tsl_transfer_stored(path->shape, packed_by_rows(path->transfer), line, &from, &count);
  const int64_t end = tsl_min(*first_element + *length, from + count);
  *first_element = *first_element > from ? *first_element : from;
  *length = end > *first_element ? end - *first_element : 0;
}

/* Copies elements of one line between caller and slot; `line` and `first` count from the chunk's start. */
static void move_line(const chunk_copy *job, int64_t line, int64_t first, int64_t length) {
  const tsl_transfer_path *path = job->path;
  if (path->transfer->gathered && path->shape->triangle != TESELA_WHOLE) {
    int64_t at = job->piece.first + first;
    clip(path, job->piece.line + line, &at, &length);
    first = at - job->piece.first;
  }
  const int64_t size = element_bytes(path), stride = element_stride(path);
  const tesela_type type = path->shape->type;
  unsigned char *host =
      path->host +
      ((job->piece.line + line) * line_stride(path) + (job->piece.first + first) * stride) * size;
  unsigned char *slot = job->slot + (line * job->piece.length + first) * size;
  if (!path->transfer->gathered && job->in)
    memcpy(slot, host, (size_t)(length * size));
  else if (!path->transfer->gathered)
    memcpy(host, slot, (size_t)(length * size));
  else if (job->in)
    tsl_type_convert(type, host, stride, type, slot, 1, (size_t)length);
  else
    tsl_type_convert(type, slot, 1, type, host, stride, (size_t)length);
}

/* Copies the elements of one task, `share` elements from index * share on in the order of the slot. */
static void move_share(void *argument, int64_t index, int worker) {
  const chunk_copy *job = argument;
  const int64_t all = job->piece.lines * job->piece.length;
  const int64_t end = tsl_min(all, (index + 1) * job->share);
  (void)worker;
  for (int64_t at = index * job->share; at < end;) {
    const int64_t first = at % job->piece.length;
    const int64_t length = tsl_min(job->piece.length - first, end - at);
    move_line(job, at / job->piece.length, first, length);
    at += length;
  }
}

/* Merges lines that are contiguous in the caller's memory into one line. */
static tsl_piece staged_copy_joined(const tsl_transfer_path *path, const tsl_piece *piece) {
  const int64_t length = staged_copy_line_length(path->transfer);
  if (path->transfer->gathered || piece->lines == 1 || piece->length != length || line_stride(path) != length)
    return *piece;
  return (tsl_piece){piece->line, 1, 0, piece->lines * length};
}

static void staged_copy_move(const tsl_stager *stager, const tsl_transfer_path *path, const tsl_piece *piece,
                             int slot, bool to_slot) {
  chunk_copy job = {path, staged_copy_joined(path, piece), tsl_staging_memory(stager->staging, slot), to_slot,
                    0};
  const int64_t all = piece->lines * piece->length, line = TSL_CACHE_LINE;
  const int64_t least = (LEAST_SHARE + element_bytes(path) - 1) / element_bytes(path);
  const int threads = tsl_team_threads(stager->team);
  const int64_t share = (all + threads - 1) / threads;
  job.share = share < least ? least : (share + line - 1) / line * line;
  tsl_team_run(stager->team, (all + job.share - 1) / job.share, move_share, &job);
}

/* Returns the device's copy between slot and buffer for a chunk; the slot is dense. */
static tsl_copy staged_copy_copy_of(const tsl_stager *stager, const tsl_transfer_path *path,
                                    const tsl_piece *piece, int slot) {
  const size_t size = (size_t)element_bytes(path);
  const size_t line = (size_t)staged_copy_line_length(path->transfer) * size;
  return (tsl_copy){.buffer = path->buffer,
                    .offset = (size_t)piece->line * line + (size_t)piece->first * size,
                    .device_pitch = line,
                    .host = tsl_staging_memory(stager->staging, slot),
                    .host_pitch = (size_t)piece->length * size,
                    .rows = (size_t)piece->lines,
                    .row_bytes = (size_t)piece->length * size};
}

/* Outgoing chunks in flight during copies to the device. Slots rotate, and one incoming chunk is between two
 * outgoing chunks. So tsl_outgoing_finish(), with all slots but one in flight, reuses no slot too early. */
enum { BESIDE = 2 };

tesela_status tsl_outgoing_begin(tsl_outgoing *out, const tsl_stager *stager, const tsl_transfer_path *path,
                                 const tsl_pending_readback *part) {
  const tsl_piece_walk pieces = tsl_staged_copy_begin(path, &part->part, stager->staging->slot_bytes);
  *out = (tsl_outgoing){.stager = stager, .path = *path, .sent = pieces, .landed = pieces, .is_any = true};
  return part->ready ? stager->staging->device->ops->stream_wait(stager->staging->out, part->ready)
                     : TESELA_OK;
}

/* Advances an outgoing copy by one chunk: moves the oldest to the caller's memory if `in_flight_max` are in
 * flight or all are sent; sends the next. */
static tesela_status outgoing_advance(tsl_outgoing *out, int in_flight_max) {
  if (!out->is_any && out->under_way == 0)
    return TESELA_OK;
  tsl_staging *staging = out->stager->staging;
  tsl_piece piece;
  if (out->under_way > 0 && (out->under_way == in_flight_max || !out->is_any)) {
    (void)tsl_staged_copy_next(&out->landed, &piece);
    TSL_TRY(tsl_staging_wait(staging, out->slots[out->first]));
    staged_copy_move(out->stager, &out->path, &piece, out->slots[out->first], false);
    out->any = true;
    out->first = (out->first + 1) % TSL_STAGING_SLOTS;
    out->under_way--;
  }
  out->is_any = out->is_any && tsl_staged_copy_next(&out->sent, &piece);
  if (!out->is_any)
    return TESELA_OK;
  int *slot = &out->slots[(out->first + out->under_way) % TSL_STAGING_SLOTS];
  TSL_TRY(tsl_staging_slot(staging, slot));
  const tsl_copy copy = staged_copy_copy_of(out->stager, &out->path, &piece, *slot);
  TSL_TRY(staging->device->ops->read_later(staging->out, &copy));
  out->under_way++;
  return tsl_staging_use(staging, *slot, staging->out);
}

tesela_status tsl_outgoing_finish(tsl_outgoing *out) {
  while (out->is_any || out->under_way > 0)
    TSL_TRY(outgoing_advance(out, TSL_STAGING_SLOTS - 1));
  return TESELA_OK;
}

tesela_status tsl_part_in(const tsl_stager *stager, const tsl_transfer_path *path,
                          const tsl_copy_chunk *part) {
  tsl_staging *staging = stager->staging;
  tsl_piece_walk pieces = tsl_staged_copy_begin(path, part, staging->slot_bytes);
  tsl_piece piece;
  while (tsl_staged_copy_next(&pieces, &piece)) {
    int slot;
    TSL_TRY(tsl_staging_slot(staging, &slot));
    staged_copy_move(stager, path, &piece, slot, true);
    const tsl_copy copy = staged_copy_copy_of(stager, path, &piece, slot);
    TSL_TRY(staging->device->ops->write_later(staging->in, &copy));
    TSL_TRY(tsl_staging_use(staging, slot, staging->in));
    if (stager->beside)
      TSL_TRY(outgoing_advance(stager->beside, BESIDE));
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
typedef struct staged_copy_walk {
  int part; /* -1: before the first */
  tsl_piece_walk pieces;
} staged_copy_walk;

/* Gets the next chunk of all parts; false past the last. *is_first: the chunk begins a part. */
static bool next_piece(const readback_job *job, staged_copy_walk *walk, tsl_piece *piece, bool *is_first) {
  *is_first = false;
  while (walk->part < 0 || !tsl_staged_copy_next(&walk->pieces, piece)) {
    if (++walk->part >= job->count)
      return false;
    walk->pieces =
        tsl_staged_copy_begin(job->path, &job->parts[walk->part].part, job->stager->staging->slot_bytes);
    *is_first = true;
  }
  return true;
}

/* Enqueues the next chunk into a slot; `is_any` is false where none is left. */
static tesela_status send_piece(const readback_job *job, staged_copy_walk *walk, int *slot, bool *is_any) {
  tsl_staging *staging = job->stager->staging;
  const tsl_device_ops *ops = staging->device->ops;
  tsl_piece piece;
  bool is_first;
  *is_any = next_piece(job, walk, &piece, &is_first);
  if (!*is_any)
    return TESELA_OK;
  tsl_event *ready = job->parts[walk->part].ready;
  if (is_first && ready)
    TSL_TRY(ops->stream_wait(staging->out, ready));
  TSL_TRY(tsl_staging_slot(staging, slot));
  const tsl_copy copy = staged_copy_copy_of(job->stager, job->path, &piece, *slot);
  TSL_TRY(ops->read_later(staging->out, &copy));
  return tsl_staging_use(staging, *slot, staging->out);
}

/* Waits for the next chunk, in `slot`, and copies it to the caller's memory. Sets last_ready if timed. */
static tesela_status land_piece(const readback_job *job, staged_copy_walk *walk, int slot, bool is_timed,
                                tsl_copy_result *landed) {
  tsl_staging *staging = job->stager->staging;
  tsl_piece piece;
  bool is_first;
  (void)next_piece(job, walk, &piece, &is_first);
  tsl_event *ready = job->parts[walk->part].ready;
  if (is_timed && is_first && walk->part == job->count - 1) {
    if (ready)
      TSL_TRY(staging->device->ops->event_wait(ready));
    landed->last_ready = tsl_clock();
  }
  TSL_TRY(tsl_staging_wait(staging, slot));
  staged_copy_move(job->stager, job->path, &piece, slot, false);
  landed->any = true;
  return TESELA_OK;
}

/* Keeps all slots but one in flight while the threads empty that one. */
tesela_status tsl_parts_out(const tsl_stager *stager, const tsl_transfer_path *path,
                            const tsl_pending_readback *parts, int count, bool is_timed,
                            tsl_copy_result *landed) {
  const readback_job job = {stager, path, parts, count};
  staged_copy_walk sent = {.part = -1}, at = {.part = -1};
  int slots[TSL_STAGING_SLOTS], first = 0, under_way = 0;
  bool is_any = true;
  *landed = (tsl_copy_result){0};
  for (;;) {
    while (is_any && under_way < TSL_STAGING_SLOTS - 1) {
      TSL_TRY(send_piece(&job, &sent, &slots[(first + under_way) % TSL_STAGING_SLOTS], &is_any));
      under_way += is_any;
    }
    if (under_way == 0)
      return TESELA_OK;
    TSL_TRY(land_piece(&job, &at, slots[first], is_timed, landed));
    first = (first + 1) % TSL_STAGING_SLOTS;
    under_way--;
  }
}

enum { PAGE = 4096, PROVIDED = 4 << 20 };

typedef struct page_range {
  uintptr_t start, end; /* address of the first byte, and past the last */
} page_range;

/* Maps one range of PROVIDED bytes: each large page is touched by one thread only. */
static void staged_copy_provide(void *argument, int64_t index, int worker) {
  const page_range *job = argument;
  const uintptr_t first = job->start / PROVIDED * PROVIDED + (uintptr_t)index * PROVIDED;
  const uintptr_t from = first < job->start ? job->start : first;
  const uintptr_t to = first + PROVIDED < job->end ? first + PROVIDED : job->end;
  (void)worker;
  if (from < to)
    tsl_memory_provide((void *)from, to - from);
}

/* Skips operands with gaps of a page or more. New pages cost as much time as the copy itself. */
void tsl_transfer_path_provide(const tsl_stager *stager, const tsl_transfer_path *path) {
  const int64_t size = element_bytes(path);
  if (path->transfer->gathered ||
      (line_stride(path) - staged_copy_line_length(path->transfer)) * size >= PAGE)
    return;
  const uintptr_t start = (uintptr_t)path->host;
  page_range job = {start, start + (size_t)(tsl_shape_extent(path->shape) * size)};
  tsl_team_run(stager->team, (int64_t)(job.end / PROVIDED - start / PROVIDED + 1), staged_copy_provide, &job);
}
