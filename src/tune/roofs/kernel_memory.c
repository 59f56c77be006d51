#include "core/status.h"
#include "tune/roofs/kernel_bench.h"

#include <string.h>

enum { GRID_SIZES = 3 };

static tesela_status enqueue_device_copy(tsl_kernel_bench *b) {
  return b->ops->copy(b->stream, b->from, 0, b->to, 0, b->bytes);
}

static tesela_status time_device_copy(void *argument, double *seconds) {
  return tsl_kernel_bench_time(argument, enqueue_device_copy, seconds);
}

static tesela_status sum_results(tsl_kernel_bench *b, int64_t *sum) {
  size_t count;
  *sum = 0;
  TSL_TRY(tsl_kernel_bench_results(b, sizeof *sum, &count));
  for (size_t i = 0; i < count; i++)
    *sum += ((const int64_t *)b->block)[i];
  return TESELA_OK;
}

static uint64_t groups_of_grid(const tsl_kernel_bench *b, int grid) {
  const uint64_t chunks = (uint64_t)b->memory.chunks;
  const uint64_t groups = (uint64_t)(b->shape.groups_per_unit << grid) * (uint64_t)b->device->compute_units;
  return b->shape.chunk_bytes > 0 || groups > chunks ? chunks : groups;
}

static int count_timed_grid_sizes(const tsl_kernel_bench *b) {
  return b->shape.chunk_bytes > 0 ? 1 : GRID_SIZES;
}

/* Sets steps, chunks, and a mask, so that a lane's sums are exact in the launch grid with the fewest groups.
 */
static void choose_chunks(tsl_kernel_bench *b) {
  const size_t step = (size_t)(b->shape.items * b->shape.flight * b->lanes) * sizeof(float);
  const size_t chunk = b->shape.chunk_bytes > 0 ? b->shape.chunk_bytes / step * step : step;
  b->memory.steps = (int64_t)(chunk / step);
  b->memory.chunks = (int64_t)(b->bytes / chunk);
  b->bytes = (size_t)b->memory.chunks * chunk;
  const int64_t lanes = (int64_t)groups_of_grid(b, 0) * b->shape.items * b->lanes;
  b->memory.mask =
      tsl_roofs_mask((int64_t)(b->bytes / sizeof(float)) / lanes + b->memory.steps * b->shape.flight);
}

static tesela_status verify_sample(tsl_kernel_bench *b, size_t offset) {
  TSL_TRY(tsl_device_read(b->stream, b->to, offset, b->block, TSL_KERNEL_BENCH_SAMPLE));
  for (size_t i = 0; i < TSL_KERNEL_BENCH_SAMPLE / sizeof(float); i++)
    if (((const float *)b->block)[i] != (float)tsl_roofs_number(offset / sizeof(float) + i, b->memory.mask))
      return tsl_fail(TESELA_WRONG_RESULT, "%s: memory was copied wrong at byte %zu", b->device->name,
                      offset + i * sizeof(float));
  return TESELA_OK;
}

static tesela_status verify_copy(tsl_kernel_bench *b, tsl_module *module) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->to), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  int64_t different;
  TSL_TRY(tsl_kernel_bench_choose(b, module, "tsl_roofs_compare", groups_of_grid(b, 0), arguments, 3));
  TSL_TRY(tsl_kernel_bench_launch(b));
  TSL_TRY(sum_results(b, &different));
  if (different != 0)
    return tsl_fail(TESELA_WRONG_RESULT, "%s: %lld of %zu numbers in memory were copied wrong",
                    b->device->name, (long long)different, b->bytes / sizeof(float));
  TSL_TRY(verify_sample(b, 0));
  TSL_TRY(verify_sample(b, b->bytes / 3 / TSL_KERNEL_BENCH_SAMPLE * TSL_KERNEL_BENCH_SAMPLE));
  TSL_TRY(verify_sample(b, b->bytes - TSL_KERNEL_BENCH_SAMPLE));
  return b->ops->fill(b->stream, b->to, 0, 0xff, b->bytes); /* for the next way of copying */
}

static tesela_status kernel_memory_fill(tsl_kernel_bench *b, tsl_module *module) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  int64_t sum;
  TSL_TRY(tsl_kernel_bench_choose(b, module, "tsl_roofs_fill", groups_of_grid(b, 0), arguments, 3));
  TSL_TRY(b->ops->fill(b->stream, b->to, 0, 0xff, b->bytes));
  TSL_TRY(tsl_kernel_bench_launch(b));
  TSL_TRY(sum_results(b, &sum));
  b->sum = (double)sum;
  return TESELA_OK;
}

static tesela_status measure_copier(tsl_kernel_bench *b, tsl_module *module, const char *kernel,
                                    uint64_t groups, double seconds, tsl_roof *roof) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->to), TSL_ARG_VALUE(b->memory)};
  TSL_TRY(tsl_kernel_bench_choose(b, module, kernel, groups, arguments, 3));
  TSL_TRY(tsl_roofs_repeat(tsl_kernel_bench_run, b, 2 * (double)b->bytes, seconds, roof));
  return verify_copy(b, module);
}

static tesela_status kernel_memory_measure_copy(tsl_kernel_bench *b, tsl_module *module, double seconds,
                                                tsl_roof *roof) {
  const bool in_chunks = b->shape.chunk_bytes > 0;
  const double each = seconds / (count_timed_grid_sizes(b) + !in_chunks + 1);
  for (int grid = 0; grid < count_timed_grid_sizes(b); grid++)
    TSL_TRY(measure_copier(b, module, "tsl_roofs_copy", groups_of_grid(b, grid), each, roof));
  if (!in_chunks)
    TSL_TRY(measure_copier(b, module, "tsl_roofs_copy_once",
                           (uint64_t)(b->memory.chunks * b->memory.steps * b->shape.flight), each, roof));
  TSL_TRY(tsl_roofs_repeat(time_device_copy, b, 2 * (double)b->bytes, each, roof));
  return verify_copy(b, module);
}

static tesela_status measure_read(tsl_kernel_bench *b, tsl_module *module, double seconds, tsl_roof *roof) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  for (int grid = 0; grid < count_timed_grid_sizes(b); grid++) {
    size_t count;
    double sum = 0;
    TSL_TRY(tsl_kernel_bench_choose(b, module, "tsl_roofs_read", groups_of_grid(b, grid), arguments, 3));
    TSL_TRY(tsl_roofs_repeat(tsl_kernel_bench_run, b, (double)b->bytes, seconds / count_timed_grid_sizes(b),
                             roof));
    TSL_TRY(tsl_kernel_bench_results(b, (size_t)b->lanes * sizeof(float), &count));
    for (size_t i = 0; i < count * (size_t)b->lanes; i++)
      sum += (double)((const float *)b->block)[i];
    if (sum != b->sum)
      return tsl_fail(TESELA_WRONG_RESULT, "%s: the numbers in memory sum up to %.17g, not %.17g",
                      b->device->name, sum, b->sum);
  }
  return TESELA_OK;
}

/* Reads half of the last cache again and again: the array's first chunks. */
static tesela_status measure_cache(tsl_kernel_bench *b, tsl_module *module, double seconds, tsl_roof *roof) {
  const tsl_roofs_arguments whole = b->memory;
  const size_t bytes = b->bytes, chunk = b->bytes / (size_t)b->memory.chunks;
  b->memory.chunks = (int64_t)(b->device->cache_bytes / 2 / chunk);
  tesela_status status = TESELA_OK;
  if (b->memory.chunks >= b->device->compute_units && b->memory.chunks < whole.chunks) {
    b->bytes = (size_t)b->memory.chunks * chunk;
    TSL_GO(kernel_memory_fill(b, module));
    status = measure_read(b, module, seconds, roof);
  }
out:
  b->memory = whole;
  b->bytes = bytes;
  return status;
}

static tesela_status measure_local(tsl_kernel_bench *b, tsl_module *module, double seconds, tsl_roof *roof) {
  enum { STEPS = 1 << 14 }; /* below 2^24, so that sums of ones are exact */
  const int64_t steps = STEPS;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->results), TSL_ARG_VALUE(steps)};
  const size_t vector = (size_t)b->lanes * sizeof(float);
  size_t count;
  TSL_TRY(
      tsl_kernel_bench_choose(b, module, "tsl_roofs_local", groups_of_grid(b, GRID_SIZES - 1), arguments, 2));
  const double work = (double)b->grid.groups[0] * b->shape.items * (double)vector * STEPS;
  TSL_TRY(tsl_roofs_repeat(tsl_kernel_bench_run, b, work, seconds, roof));
  TSL_TRY(tsl_kernel_bench_results(b, vector, &count));
  for (size_t i = 0; i < count * (size_t)b->lanes; i++)
    if (((const float *)b->block)[i] != STEPS)
      return tsl_fail(TESELA_WRONG_RESULT, "%s: %d numbers in local memory sum up to %.9g", b->device->name,
                      STEPS, (double)((const float *)b->block)[i]);
  return TESELA_OK;
}

tesela_status tsl_kernel_bench_memory(tsl_kernel_bench *b, double seconds, tsl_roofs *roofs) {
  tsl_module *module;
  tesela_status status;
  b->lanes = b->shape.lanes_f32;
  b->bytes = roofs->bytes;
  choose_chunks(b);
  roofs->bytes = b->bytes;
  const size_t each =
      (size_t)b->lanes * sizeof(float) > sizeof(int64_t) ? (size_t)b->lanes * sizeof(float) : sizeof(int64_t);
  TSL_GO(
      tsl_kernel_bench_build(b, "tune/roofs/roofs_memory.cl", "roofs/memory", TESELA_F32, b->lanes, &module));
  TSL_GO(b->ops->buffer_create(b->device, b->bytes, &b->from));
  TSL_GO(b->ops->buffer_create(b->device, b->bytes, &b->to));
  TSL_GO(tsl_kernel_bench_allocate_results(b, groups_of_grid(b, count_timed_grid_sizes(b) - 1), each));
  TSL_GO(kernel_memory_fill(b, module));
  TSL_GO(kernel_memory_measure_copy(b, module, 0.35 * seconds, &roofs->roof[TSL_ROOF_COPY]));
  TSL_GO(measure_read(b, module, 0.2 * seconds, &roofs->roof[TSL_ROOF_READ]));
  if (b->shape.chunk_bytes == 0) { /* not a processor, whose caches the cpu measures */
    TSL_GO(measure_cache(b, module, 0.05 * seconds, &roofs->roof[TSL_ROOF_LEVEL3]));
    TSL_GO(measure_local(b, module, 0.05 * seconds, &roofs->roof[TSL_ROOF_LOCAL]));
  }
out:
  if (b->stream && status != TESELA_OK)
    (void)b->ops->finish(b->stream);
  tsl_kernel_bench_free(b);
  return status;
}
