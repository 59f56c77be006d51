#include "tune/roofs/kernel_bench.h"

#include "core/memory.h"
#include "core/status.h"
#include "device/jit_cache.h"
#include "device/source.h"

#include <string.h>

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

tesela_status tsl_kernel_bench_allocate_results(tsl_kernel_bench *b, uint64_t groups, size_t each) {
  const size_t wanted = (size_t)groups * (size_t)b->shape.items * each;
  b->results_bytes = wanted < TSL_KERNEL_BENCH_SAMPLE ? TSL_KERNEL_BENCH_SAMPLE : wanted;
  TSL_TRY(tsl_alloc(b->results_bytes, "results of a roof", &b->block));
  return b->ops->buffer_create(b->device, b->results_bytes, &b->results);
}

void tsl_kernel_bench_free(tsl_kernel_bench *b) {
  tsl_buffer **const all[] = {&b->from, &b->to, &b->results};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (*all[i])
      b->ops->buffer_destroy(*all[i]);
    *all[i] = NULL;
  }
  tsl_free(b->block);
  b->block = NULL;
}
