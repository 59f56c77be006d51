#include "comm/rank_memory.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns false for "cpu", lists, and "auto". */
static bool names_one_device(const char *device) {
  return device && *device && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0 &&
         !strpbrk(device, ",*");
}

static bool is_host_memory(const tesela_buffer *buffer) {
  return !buffer || strcmp(tesela_buffer_memory(buffer).device, "cpu") == 0;
}

/* Returns true if "cuda" or "cuda:0" means device `name`. */
static bool device_matches(const char *word, const char *name) {
  const size_t length = strlen(word);
  return strncmp(word, name, length) == 0 && (name[length] == 0 || name[length] == ':');
}

tesela_status tsl_rank_device_find(const tesela_buffer *const *buffers, const char *const *names, int count,
                                   const char *device, tsl_rank_device *out) {
  int first = -1;
  out->device[0] = 0;
  for (int i = 0; i < count; i++) {
    if (is_host_memory(buffers[i]))
      continue;
    const char *buffer_device = tesela_buffer_memory(buffers[i]).device;
    if (first >= 0 && strcmp(buffer_device, out->device) != 0)
      return tsl_fail(TESELA_BAD_CALL, "%s.buffer is on %s and %s.buffer on %s: a rank has one device",
                      names[first], out->device, names[i], buffer_device);
    first = first < 0 ? i : first;
    snprintf(out->device, sizeof out->device, "%s", buffer_device);
  }
  if (first >= 0 && device && strcmp(device, "auto") != 0 && !device_matches(device, out->device))
    return tsl_fail(TESELA_BAD_CALL, "device is %.32s, but %s.buffer is on %s", device, names[first],
                    out->device);
  if (first < 0 && names_one_device(device))
    snprintf(out->device, sizeof out->device, "%s", device);
  return TESELA_OK;
}

typedef struct rank_memory_transfer {
  const tsl_host_copy *mirror;
  size_t size;
  bool writes;
  int64_t low, high; /* range of elements, relative to element (0, 0); low > high: empty */
  tesela_status status;
} rank_memory_transfer;

/* `count` runs, `pitch` elements apart; each has `length` elements, `step` elements apart. */
typedef struct runs {
  int64_t at, count, pitch, length, step;
} runs;

/* Returns the elements of a block, which has lines along rows, by ascending addresses. */
static runs ascending_runs_of(const tsl_common_block *block) {
  const int64_t row = llabs(block->a_line), col = llabs(block->a_step), rows = block->lines,
                cols = block->length;
  const int64_t at = block->a_at + (block->a_line < 0 ? (rows - 1) * block->a_line : 0) +
                     (block->a_step < 0 ? (cols - 1) * block->a_step : 0);
  return col <= row ? (runs){at, rows, row, cols, col} : (runs){at, cols, col, rows, row};
}

/* Extends the range low to high by a block. */
static void extend_range(void *user, const tsl_common_block *block) {
  rank_memory_transfer *m = user;
  const runs r = ascending_runs_of(block);
  const int64_t last = r.at + (r.count - 1) * r.pitch + (r.length - 1) * r.step;
  m->low = r.at < m->low ? r.at : m->low;
  m->high = last > m->high ? last : m->high;
}

/* Copies rows, `pitch` elements apart, between buffer and host copy; `index`: from element (0, 0). */
static tesela_status rank_memory_move_rows(const rank_memory_transfer *m, int64_t index, int64_t rows,
                                           int64_t pitch, int64_t length) {
  const size_t offset = (size_t)(m->mirror->at + index) * m->size, pitch_bytes = (size_t)pitch * m->size,
               bytes = (size_t)length * m->size;
  char *host = (char *)m->mirror->data + index * (int64_t)m->size;
  return tesela_buffer_copy_rows(m->mirror->buffer, offset, pitch_bytes, m->writes ? host : NULL,
                                 m->writes ? NULL : host, pitch_bytes, (size_t)rows, bytes);
}

/* Copies a block between buffer and host copy, in as few runs as possible. */
static void rank_memory_move_block(void *user, const tsl_common_block *block) {
  rank_memory_transfer *m = user;
  const runs r = ascending_runs_of(block);
  const bool is_whole = r.step == 1 && (r.pitch >= r.length || r.count == 1);
  if (m->status == TESELA_OK && is_whole)
    m->status = rank_memory_move_rows(m, r.at, r.count, r.pitch, r.length);
  for (int64_t i = 0; i < r.count && m->status == TESELA_OK && !is_whole; i++)
    m->status = r.step == 1 ? rank_memory_move_rows(m, r.at + i * r.pitch, 1, r.length, r.length)
                            : rank_memory_move_rows(m, r.at + i * r.pitch, r.length, r.step, 1);
}

static tesela_status rank_memory_walk(rank_memory_transfer *m, const tsl_rank_layout *layout, int rank,
                                      tsl_block_function function) {
  for (int64_t i = 0; i < tsl_layout_patch_count(layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(layout, rank, i);
    tsl_patch_walk(&held, &held, TSL_ROWS, function, m);
  }
  return m->status;
}

tesela_status tsl_host_copy_create(const tesela_matrix *matrix, const char *name, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, tsl_host_copy *out) {
  *out = (tsl_host_copy){.data = tsl_writable(matrix->data)};
  if (!matrix->buffer || tsl_layout_count_owned(layout, rank) == 0)
    return TESELA_OK;
  rank_memory_transfer m = {.mirror = out, .size = type->size, .low = INT64_MAX, .high = INT64_MIN};
  TSL_TRY(rank_memory_walk(&m, layout, rank, extend_range));
  const int64_t elements = (int64_t)(tesela_buffer_memory(matrix->buffer).bytes / type->size);
  if (m.low < -matrix->offset || m.high >= elements - matrix->offset)
    return tsl_fail(
        TESELA_BAD_CALL, "%s reaches from element %lld to element %lld of a buffer of %lld elements", name,
        (long long)(matrix->offset + m.low), (long long)(matrix->offset + m.high), (long long)elements);
  out->buffer = matrix->buffer;
  out->at = matrix->offset;
  if (is_host_memory(matrix->buffer)) {
    out->data = (char *)tesela_buffer_memory(matrix->buffer).native + matrix->offset * (int64_t)type->size;
    out->buffer = NULL;
    return TESELA_OK;
  }
  return TESELA_OK;
}

tesela_status tsl_host_copy_update(tsl_host_copy *mirror, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, bool reads) {
  rank_memory_transfer m = {.mirror = mirror, .size = type->size, .low = INT64_MAX, .high = INT64_MIN};
  if (!mirror->buffer || mirror->memory)
    return TESELA_OK;
  TSL_TRY(rank_memory_walk(&m, layout, rank, extend_range));
  TSL_TRY(tsl_alloc((size_t)(m.high - m.low + 1) * type->size, "a copy of an operand in a buffer",
                    &mirror->memory));
  mirror->data = (char *)mirror->memory - m.low * (int64_t)type->size;
  return reads ? rank_memory_walk(&m, layout, rank, rank_memory_move_block) : TESELA_OK;
}

tesela_status tsl_host_copy_store(const tsl_host_copy *mirror, const tsl_type_info *type,
                                  const tsl_rank_layout *layout, int rank) {
  rank_memory_transfer m = {.mirror = mirror, .size = type->size, .writes = true};
  return mirror->memory ? rank_memory_walk(&m, layout, rank, rank_memory_move_block) : TESELA_OK;
}

void tsl_host_copy_free(tsl_host_copy *mirror) {
  tsl_free(mirror->memory);
  *mirror = (tsl_host_copy){0};
}
