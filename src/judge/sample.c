#include "judge/sample.h"

#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"
#include "host/int_math.h"

#include <string.h>

void tsl_sample_draw(int64_t *out, int64_t count, int64_t total, uint64_t seed) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t start = tsl_partition_begin(total, count, i),
                  size = tsl_partition_begin(total, count, i + 1) - start;
    out[i] = start + (int64_t)(tsl_random_u64(seed, (uint64_t)i) % (uint64_t)size);
  }
  if (count > 1) {
    out[0] = 0;
    out[count - 1] = total - 1;
  }
}

static int64_t index_of_list(const tsl_indices *indices, int64_t i) {
  return indices->list ? indices->list[i] : i;
}

/* Elements of a line per task, so that lines that are columns share pages. */
enum { AT_ONCE = 64 };

static void copy_elements_of_line(const tsl_sample_lines *from, const unsigned char *line,
                                  const tsl_indices *elements, int64_t first, int64_t count,
                                  unsigned char *dst) {
  const int64_t step = from->stride * (int64_t)from->size;
  if (!elements->list) {
    tsl_type_convert(from->type, line + first * step, from->stride, from->type, dst, 1, (size_t)count);
    return;
  }
  for (int64_t i = 0; i < count; i++)
    memcpy(dst + (size_t)i * from->size, line + elements->list[first + i] * step, from->size);
}

typedef struct sample_copy_job {
  const tsl_sample_lines *from;
  const tsl_indices *lines, *elements;
  unsigned char *to;
} sample_copy_job;

static void copy_elements_task(void *argument, int64_t index, int worker) {
  const sample_copy_job *job = argument;
  const tsl_sample_lines *from = job->from;
  const int64_t size = (int64_t)from->size, first = index * AT_ONCE;
  const unsigned char *base = (const unsigned char *)from->host + from->offset * size;
  (void)worker;
  for (int64_t i = 0; i < job->lines->count; i++)
    copy_elements_of_line(from, base + index_of_list(job->lines, i) * from->line_stride * size, job->elements,
                          first, tsl_min(AT_ONCE, job->elements->count - first),
                          job->to + (i * job->elements->count + first) * size);
}

static void copy_from_host(const tsl_sample_lines *from, const tsl_indices *lines,
                           const tsl_indices *elements, unsigned char *dst) {
  sample_copy_job job = {from, lines, elements, dst};
  tsl_team_run(from->team, tsl_ceil_div(elements->count, AT_ONCE), copy_elements_task, &job);
}

/* Reads a whole line into dense memory; backwards where its stride is negative. */
static tesela_status read_line_from_device(const tsl_sample_lines *from, int64_t line, unsigned char *dst) {
  const int64_t distance = tsl_abs(from->stride), length = distance == 0 ? 1 : from->length;
  const int64_t first =
      from->offset + line * from->line_stride + (from->stride < 0 ? from->stride * (length - 1) : 0);
  const bool is_contiguous = distance == 1 || length == 1;
  const tsl_copy copy = {.buffer = from->buffer,
                         .offset = (size_t)first * from->size,
                         .device_pitch =
                             is_contiguous ? (size_t)length * from->size : (size_t)distance * from->size,
                         .host = dst,
                         .host_pitch = is_contiguous ? (size_t)length * from->size : from->size,
                         .rows = is_contiguous ? 1 : (size_t)length,
                         .row_bytes = is_contiguous ? (size_t)length * from->size : from->size};
  return from->buffer->device->ops->read(from->stream, &copy);
}

static void gather_listed_elements(const tsl_sample_lines *from, const unsigned char *line,
                                   const tsl_indices *elements, unsigned char *dst) {
  const int64_t last = from->length - 1;
  for (int64_t i = 0; i < elements->count; i++) {
    const int64_t at = index_of_list(elements, i), position = from->stride == 0  ? 0
                                                              : from->stride < 0 ? last - at
                                                                                 : at;
    memcpy(dst + (size_t)i * from->size, line + (size_t)position * from->size, from->size);
  }
}

static tesela_status read_and_gather_lines(const tsl_sample_lines *from, const tsl_indices *lines,
                                           const tsl_indices *elements, unsigned char *line,
                                           unsigned char *dst) {
  for (int64_t i = 0; i < lines->count; i++) {
    TSL_TRY(read_line_from_device(from, index_of_list(lines, i), line));
    gather_listed_elements(from, line, elements, dst + (size_t)(i * elements->count) * from->size);
  }
  return TESELA_OK;
}

static tesela_status copy_from_device(const tsl_sample_lines *from, const tsl_indices *lines,
                                      const tsl_indices *elements, unsigned char *dst) {
  void *line;
  TSL_TRY(tsl_alloc((size_t)from->length * from->size, "a line of a matrix", &line));
  const tesela_status status = read_and_gather_lines(from, lines, elements, line, dst);
  tsl_free(line);
  return status;
}

tesela_status tsl_sample_copy(const tsl_sample_lines *from, const tsl_indices *lines,
                              const tsl_indices *elements, void *dst) {
  if (from->buffer)
    return copy_from_device(from, lines, elements, dst);
  copy_from_host(from, lines, elements, dst);
  return TESELA_OK;
}
