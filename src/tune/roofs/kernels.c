/* Roofs of devices with kernels: memory.cl and fma.cl, timed by the device's events. */
#include "base/memory.h"
#include "base/source.h"
#include "base/status.h"
#include "device/jit_cache.h"
#include "tune/roofs/kernel_bench.h"

#include <string.h>

static const tsl_kernel_shape gpu = {
    .items = 256, .lanes_f32 = 4, .flight = 4, .chains = 8, .round = 16, .launches = 4, .groups_per_unit = 4};
static const tsl_kernel_shape processor = {.items = 1,
                                           .lanes_f32 = 0,
                                           .flight = 8,
                                           .chains = 12,
                                           .round = 16,
                                           .launches = 1,
                                           .chunk_bytes = 1 << 20,
                                           .groups_per_unit = 4};

tesela_status tsl_kernel_bench_build(tsl_kernel_bench *b, const char *path, const char *name,
                                     tesela_type type, int lanes, tsl_module **module) {
  const char *const folders[] = {"kernel", b->ops->dialect_folder, NULL};
  tsl_text text = {0};
  tesela_status status;
  tsl_launch_defines(type, NULL, NULL, NULL, &text);
  tsl_text_add(&text,
               "#define TSL_PARAM_ITEMS %d\n#define TSL_PARAM_LANES %d\n#define TSL_PARAM_FLIGHT %d\n"
               "#define TSL_PARAM_CHAINS %d\n#define TSL_PARAM_ROUND %d\n",
               b->shape.items, lanes, b->shape.flight, b->shape.chains, b->shape.round);
  TSL_GO(tsl_source_flatten(path, folders, &text));
  TSL_GO(tsl_text_status(&text));
  status = tsl_jit_module(b->device, &(tsl_build){.name = name, .text = tsl_text_get(&text), .options = ""},
                          module, NULL);
out:
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_kernel_bench_choose(tsl_kernel_bench *b, tsl_module *module, const char *kernel,
                                      uint64_t groups, const tsl_argument *arguments, int count) {
  const uint64_t most = b->device->group_count_max[0];
  b->grid = (tsl_grid){{groups < most ? groups : most, 1, 1}, {b->shape.items, 1, 1}};
  memcpy(b->arguments, arguments, (size_t)count * sizeof *arguments);
  b->argument_count = count;
  return b->ops->kernel_get(module, kernel, &b->kernel);
}

tesela_status tsl_kernel_bench_launch(tsl_kernel_bench *b) {
  return b->ops->launch(b->stream, b->kernel, &b->grid, b->arguments, b->argument_count);
}

tesela_status tsl_kernel_bench_run(void *argument, double *seconds) {
  return tsl_kernel_bench_time(argument, tsl_kernel_bench_launch, seconds);
}

tesela_status tsl_kernel_bench_results(tsl_kernel_bench *b, size_t each, size_t *count) {
  *count = (size_t)(b->grid.groups[0] * (uint64_t)b->grid.items[0]);
  return tsl_device_read(b->stream, b->results, 0, b->block, *count * each);
}

tesela_status tsl_kernel_bench_time(tsl_kernel_bench *b, tesela_status (*enqueue)(tsl_kernel_bench *b),
                                    double *seconds) {
  TSL_TRY(b->ops->event_record(b->stream, b->begin));
  for (int i = 0; i < b->shape.launches; i++)
    TSL_TRY(enqueue(b));
  TSL_TRY(b->ops->event_record(b->stream, b->end));
  TSL_TRY(b->ops->finish(b->stream));
  TSL_TRY(b->ops->event_seconds(b->begin, b->end, seconds));
  *seconds /= b->shape.launches;
  return TESELA_OK;
}

tesela_status tsl_kernel_bench_take(tsl_kernel_bench *b, uint64_t groups, size_t each) {
  const size_t wanted = (size_t)groups * (size_t)b->shape.items * each;
  b->results_bytes = wanted < TSL_KERNEL_BENCH_SAMPLE ? TSL_KERNEL_BENCH_SAMPLE : wanted;
  TSL_TRY(tsl_alloc(b->results_bytes, "results of a roof", &b->block));
  return b->ops->buffer_create(b->device, b->results_bytes, &b->results);
}

void tsl_kernel_bench_give(tsl_kernel_bench *b) {
  tsl_buffer **const all[] = {&b->from, &b->to, &b->results};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (*all[i])
      b->ops->buffer_destroy(*all[i]);
    *all[i] = NULL;
  }
  tsl_free(b->block);
  b->block = NULL;
}

static tsl_kernel_shape shape_for(const tsl_device *device) {
  tsl_kernel_shape chosen = device->is_cpu ? processor : gpu;
  if (device->is_cpu)
    chosen.lanes_f32 = device->vector_f32 >= 16 ? 16 : device->vector_f32 >= 8 ? 8 : 4;
  while (chosen.items > device->group_items_max)
    chosen.items /= 2;
  return chosen;
}

tesela_status tsl_roofs_on_kernels(tsl_device *device, double seconds, tsl_roofs *roofs) {
  tsl_kernel_bench b = {.device = device, .ops = device->ops, .shape = shape_for(device)};
  tesela_status status;
  TSL_GO(b.ops->stream_create(device, &b.stream));
  TSL_GO(b.ops->event_create(device, &b.begin));
  TSL_GO(b.ops->event_create(device, &b.end));
  if (roofs->bytes > 0)
    TSL_GO(tsl_kernel_bench_memory(&b, seconds, roofs));
  TSL_GO(tsl_kernel_bench_fma(&b, TESELA_F32, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F32]));
  if (device->capabilities & TSL_CAN_F64)
    TSL_GO(tsl_kernel_bench_fma(&b, TESELA_F64, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F64]));
out:
  if (b.begin)
    b.ops->event_destroy(b.begin);
  if (b.end)
    b.ops->event_destroy(b.end);
  if (b.stream)
    b.ops->stream_destroy(b.stream);
  return status;
}
