/* Roofs of devices with kernels: memory.cl and fma.cl, timed by the device's events. */
#include "base/memory.h"
#include "base/source.h"
#include "base/status.h"
#include "device/jit_cache.h"
#include "strategy/launch.h"
#include "tune/roofs/bench.h"

#include <math.h>
#include <string.h>

/* Kernels and grids for the two families of devices. A processor's group is one item, which uses the vectors of its
 * registers and walks through memory; each takes one chunk, so that units that are held up take fewer. A GPU's items
 * stand side by side, each with vectors of sixteen bytes. Its groups stay, `groups_per_unit` a unit, or twice, or four
 * times as many; for copying, items with one vector each are tried as well. The best counts. NOTES.md has what a GPU
 * does with other shapes. */
typedef struct shape {
  int items, lanes_f32, flight, chains, round;
  int launches;       /* of one sample: what events and a launch cost is shared by so many */
  size_t chunk_bytes; /* 0: one step */
  int groups_per_unit;
} shape;

static const shape gpu = {
    .items = 256, .lanes_f32 = 4, .flight = 4, .chains = 8, .round = 16, .launches = 4, .groups_per_unit = 4};
static const shape processor = {.items = 1,
                                .lanes_f32 = 0,
                                .flight = 8,
                                .chains = 12,
                                .round = 16,
                                .launches = 1,
                                .chunk_bytes = 1 << 20,
                                .groups_per_unit = 4};
enum { GRIDS = 3 };
/* Seconds of one launch of multiply-adds. */
static const double fma_seconds = 8e-3;
/* What is read back as it is, to see that the device's own comparison can be believed. */
enum { SAMPLE = 1 << 16 };

/* memory.cl has the same struct. */
typedef struct tsl_roofs_arguments {
  int64_t chunks, steps, mask;
} tsl_roofs_arguments;

typedef struct bench {
  tsl_device *device;
  const tsl_device_ops *ops;
  shape shape;
  tsl_stream *stream;
  tsl_event *begin, *end;
  tsl_buffer *from, *to, *results;
  void *block; /* of the host, for results */
  size_t results_bytes;
  tsl_kernel *kernel;
  tsl_grid grid;
  tsl_argument arguments[4];
  int argument_count;
  /* memory */
  size_t bytes;
  tsl_roofs_arguments memory;
  double sum; /* of all numbers */
  /* multiply-adds */
  tesela_type type;
  int lanes;
  const tsl_roofs_chain *chain;
  int64_t rounds;
} bench;

/* --- building and running --- */

/* A file of this folder, with the shape's parameters. The module is the cache's. */
static tesela_status build(bench *b, const char *path, const char *name, tesela_type type, int lanes,
                           tsl_module **module) {
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

/* Chooses what run_kernel() launches. */
static tesela_status choose(bench *b, tsl_module *module, const char *kernel, uint64_t groups,
                            const tsl_argument *arguments, int count) {
  const uint64_t most = b->device->group_count_max[0];
  b->grid = (tsl_grid){{groups < most ? groups : most, 1, 1}, {b->shape.items, 1, 1}};
  memcpy(b->arguments, arguments, (size_t)count * sizeof *arguments);
  b->argument_count = count;
  return b->ops->kernel_get(module, kernel, &b->kernel);
}

static tesela_status launch(bench *b) {
  return b->ops->launch(b->stream, b->kernel, &b->grid, b->arguments, b->argument_count);
}

static tesela_status own_copy(bench *b) {
  return b->ops->copy(b->stream, b->from, 0, b->to, 0, b->bytes);
}

static tesela_status run(bench *b, tesela_status (*enqueue)(bench *b), double *seconds) {
  TSL_TRY(b->ops->event_record(b->stream, b->begin));
  for (int i = 0; i < b->shape.launches; i++)
    TSL_TRY(enqueue(b));
  TSL_TRY(b->ops->event_record(b->stream, b->end));
  TSL_TRY(b->ops->finish(b->stream));
  TSL_TRY(b->ops->event_seconds(b->begin, b->end, seconds));
  *seconds /= b->shape.launches;
  return TESELA_OK;
}

static tesela_status run_kernel(void *argument, double *seconds) {
  return run(argument, launch, seconds);
}

static tesela_status run_own_copy(void *argument, double *seconds) {
  return run(argument, own_copy, seconds);
}

/* What `each` bytes of every item of the last grid are, on the host. */
static tesela_status read_results(bench *b, size_t each, size_t *count) {
  *count = (size_t)(b->grid.groups[0] * (uint64_t)b->grid.items[0]);
  return tsl_device_read(b->stream, b->results, 0, b->block, *count * each);
}

static tesela_status sum_results(bench *b, int64_t *sum) {
  size_t count;
  *sum = 0;
  TSL_TRY(read_results(b, sizeof *sum, &count));
  for (size_t i = 0; i < count; i++)
    *sum += ((const int64_t *)b->block)[i];
  return TESELA_OK;
}

/* --- memory --- */

static uint64_t groups_of_grid(const bench *b, int grid) {
  const uint64_t chunks = (uint64_t)b->memory.chunks;
  const uint64_t groups = (uint64_t)(b->shape.groups_per_unit << grid) * (uint64_t)b->device->compute_units;
  return b->shape.chunk_bytes > 0 || groups > chunks ? chunks : groups;
}

static int grids(const bench *b) {
  return b->shape.chunk_bytes > 0 ? 1 : GRIDS;
}

/* Steps, chunks, and a mask with which each lane's sum is exact: of the smallest grid, where a lane sums up most. */
static void cut_memory(bench *b) {
  const size_t step = (size_t)(b->shape.items * b->shape.flight * b->lanes) * sizeof(float);
  const size_t chunk = b->shape.chunk_bytes > 0 ? b->shape.chunk_bytes / step * step : step;
  b->memory.steps = (int64_t)(chunk / step);
  b->memory.chunks = (int64_t)(b->bytes / chunk);
  b->bytes = (size_t)b->memory.chunks * chunk;
  const int64_t lanes = (int64_t)groups_of_grid(b, 0) * b->shape.items * b->lanes;
  b->memory.mask =
      tsl_roofs_mask((int64_t)(b->bytes / sizeof(float)) / lanes + b->memory.steps * b->shape.flight);
}

/* A piece of the copy, as it is. */
static tesela_status look_at_sample(bench *b, size_t offset) {
  TSL_TRY(tsl_device_read(b->stream, b->to, offset, b->block, SAMPLE));
  for (size_t i = 0; i < SAMPLE / sizeof(float); i++)
    if (((const float *)b->block)[i] != (float)tsl_roofs_number(offset / sizeof(float) + i, b->memory.mask))
      return tsl_fail(TESELA_WRONG_RESULT, "%s: memory was copied wrong at byte %zu", b->device->name,
                      offset + i * sizeof(float));
  return TESELA_OK;
}

static tesela_status look_at_copy(bench *b, tsl_module *module) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->to), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  int64_t different;
  TSL_TRY(choose(b, module, "tsl_roofs_compare", groups_of_grid(b, 0), arguments, 3));
  TSL_TRY(launch(b));
  TSL_TRY(sum_results(b, &different));
  if (different != 0)
    return tsl_fail(TESELA_WRONG_RESULT, "%s: %lld of %zu numbers in memory were copied wrong",
                    b->device->name, (long long)different, b->bytes / sizeof(float));
  TSL_TRY(look_at_sample(b, 0));
  TSL_TRY(look_at_sample(b, b->bytes / 3 / SAMPLE * SAMPLE));
  TSL_TRY(look_at_sample(b, b->bytes - SAMPLE));
  return b->ops->fill(b->stream, b->to, 0, 0xff, b->bytes); /* for the next way of copying */
}

static tesela_status fill(bench *b, tsl_module *module) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  int64_t sum;
  TSL_TRY(choose(b, module, "tsl_roofs_fill", groups_of_grid(b, 0), arguments, 3));
  TSL_TRY(b->ops->fill(b->stream, b->to, 0, 0xff, b->bytes));
  TSL_TRY(launch(b));
  TSL_TRY(sum_results(b, &sum));
  b->sum = (double)sum;
  return TESELA_OK;
}

/* One way to copy, and whether it copied. */
static tesela_status measure_copier(bench *b, tsl_module *module, const char *kernel, uint64_t groups,
                                    double seconds, tsl_roof *roof) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->to), TSL_ARG_VALUE(b->memory)};
  TSL_TRY(choose(b, module, kernel, groups, arguments, 3));
  TSL_TRY(tsl_roofs_repeat(run_kernel, b, 2 * (double)b->bytes, seconds, roof));
  return look_at_copy(b, module);
}

static tesela_status measure_copy(bench *b, tsl_module *module, double seconds, tsl_roof *roof) {
  const bool in_chunks = b->shape.chunk_bytes > 0;
  const double each = seconds / (grids(b) + !in_chunks + 1);
  for (int grid = 0; grid < grids(b); grid++)
    TSL_TRY(measure_copier(b, module, "tsl_roofs_copy", groups_of_grid(b, grid), each, roof));
  if (!in_chunks)
    TSL_TRY(measure_copier(b, module, "tsl_roofs_copy_once",
                           (uint64_t)(b->memory.chunks * b->memory.steps * b->shape.flight), each, roof));
  TSL_TRY(tsl_roofs_repeat(run_own_copy, b, 2 * (double)b->bytes, each, roof));
  return look_at_copy(b, module);
}

static tesela_status measure_read(bench *b, tsl_module *module, double seconds, tsl_roof *roof) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->results),
                                    TSL_ARG_VALUE(b->memory)};
  for (int grid = 0; grid < grids(b); grid++) {
    size_t count;
    double sum = 0;
    TSL_TRY(choose(b, module, "tsl_roofs_read", groups_of_grid(b, grid), arguments, 3));
    TSL_TRY(tsl_roofs_repeat(run_kernel, b, (double)b->bytes, seconds / grids(b), roof));
    TSL_TRY(read_results(b, (size_t)b->lanes * sizeof(float), &count));
    for (size_t i = 0; i < count * (size_t)b->lanes; i++)
      sum += (double)((const float *)b->block)[i];
    if (sum != b->sum)
      return tsl_fail(TESELA_WRONG_RESULT, "%s: the numbers in memory sum up to %.17g, not %.17g",
                      b->device->name, sum, b->sum);
  }
  return TESELA_OK;
}

/* Room for the largest results of any grid. */
static tesela_status take_results(bench *b, uint64_t groups, size_t each) {
  const size_t wanted = (size_t)groups * (size_t)b->shape.items * each;
  b->results_bytes = wanted < SAMPLE ? SAMPLE : wanted;
  TSL_TRY(tsl_alloc(b->results_bytes, "results of a roof", &b->block));
  return b->ops->buffer_create(b->device, b->results_bytes, &b->results);
}

static void give_buffers(bench *b) {
  tsl_buffer **const all[] = {&b->from, &b->to, &b->results};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (*all[i])
      b->ops->buffer_destroy(*all[i]);
    *all[i] = NULL;
  }
  tsl_free(b->block);
  b->block = NULL;
}

static tesela_status measure_memory(bench *b, double seconds, tsl_roofs *roofs) {
  tsl_module *module;
  tesela_status status;
  b->lanes = b->shape.lanes_f32;
  b->bytes = roofs->bytes;
  cut_memory(b);
  roofs->bytes = b->bytes;
  const size_t each =
      (size_t)b->lanes * sizeof(float) > sizeof(int64_t) ? (size_t)b->lanes * sizeof(float) : sizeof(int64_t);
  TSL_GO(build(b, "tune/roofs/memory.cl", "roofs/memory", TESELA_F32, b->lanes, &module));
  TSL_GO(b->ops->buffer_create(b->device, b->bytes, &b->from));
  TSL_GO(b->ops->buffer_create(b->device, b->bytes, &b->to));
  TSL_GO(take_results(b, groups_of_grid(b, grids(b) - 1), each));
  TSL_GO(fill(b, module));
  TSL_GO(measure_copy(b, module, 0.35 * seconds, &roofs->roof[TSL_ROOF_COPY]));
  status = measure_read(b, module, 0.2 * seconds, &roofs->roof[TSL_ROOF_READ]);
out:
  if (b->stream && status != TESELA_OK)
    (void)b->ops->finish(b->stream);
  give_buffers(b);
  return status;
}

/* --- multiply-adds --- */

static void put(const bench *b, size_t index, double value) {
  if (b->type == TESELA_F64)
    ((double *)b->block)[index] = value;
  else
    ((float *)b->block)[index] = (float)value;
}

static double get(const bench *b, size_t index) {
  return b->type == TESELA_F64 ? ((const double *)b->block)[index] : (double)((const float *)b->block)[index];
}

/* Constants lie in b->from, starts in b->to. */
static tesela_status write_constants(bench *b, const tsl_roofs_chain *chain) {
  b->chain = chain;
  for (int lane = 0; lane < b->lanes; lane++) {
    put(b, (size_t)lane, chain->factor);
    put(b, (size_t)b->lanes + (size_t)lane, chain->summand);
  }
  return tsl_device_write(b->stream, b->from, 0, b->block, 2 * (size_t)b->lanes * tsl_type(b->type)->size);
}

static tesela_status write_starts(bench *b) {
  const int starts = b->shape.items * b->shape.chains * b->lanes;
  for (int i = 0; i < starts; i++)
    put(b, (size_t)i, tsl_roofs_start(i));
  return tsl_device_write(b->stream, b->to, 0, b->block, (size_t)starts * tsl_type(b->type)->size);
}

static tesela_status look_at_chains(bench *b) {
  size_t count;
  const int lanes = b->lanes, chains = b->shape.chains;
  TSL_TRY(read_results(b, (size_t)lanes * tsl_type(b->type)->size, &count));
  for (size_t i = 0; i < count * (size_t)lanes; i++) {
    const int item = (int)(i / (size_t)lanes) % b->shape.items, lane = (int)(i % (size_t)lanes);
    double sum = 0;
    for (int c = 0; c < chains; c++)
      sum += tsl_roofs_end(b->chain, (item * chains + c) * lanes + lane, b->rounds * b->shape.round);
    if (get(b, i) != sum)
      return tsl_fail(TESELA_WRONG_RESULT, "%s: multiply-adds in %s came to %.17g, not %.17g",
                      b->device->name, tsl_type(b->type)->name, get(b, i), sum);
  }
  return TESELA_OK;
}

static tesela_status repeat_chains(bench *b, double seconds, tsl_roof *roof) {
  double once = 0;
  b->rounds = TSL_ROOFS_ROUNDS_COUNTED;
  TSL_TRY(write_starts(b));
  TSL_TRY(write_constants(b, &tsl_roofs_counting));
  TSL_TRY(launch(b));
  TSL_TRY(look_at_chains(b));
  TSL_TRY(write_constants(b, &tsl_roofs_turning));
  while (once * b->shape.launches < fma_seconds / 2 && b->rounds < TSL_ROOFS_ROUNDS_MAX) {
    b->rounds *= 2;
    TSL_TRY(run_kernel(b, &once));
  }
  const double items = (double)b->grid.groups[0] * b->shape.items;
  const double work = 2 * items * b->lanes * b->shape.chains * b->shape.round * (double)b->rounds;
  TSL_TRY(tsl_roofs_repeat(run_kernel, b, work, seconds, roof));
  return look_at_chains(b);
}

static tesela_status measure_fma(bench *b, tesela_type type, double seconds, tsl_roof *roof) {
  const size_t size = tsl_type(type)->size;
  const uint64_t groups = 2 * (uint64_t)b->shape.groups_per_unit * (uint64_t)b->device->compute_units;
  tsl_module *module;
  tesela_status status;
  b->type = type;
  b->lanes = b->shape.lanes_f32 * (int)(sizeof(float)) / (int)size;
  const size_t vector = (size_t)b->lanes * size, starts = (size_t)(b->shape.items * b->shape.chains) * vector;
  TSL_GO(build(b, "tune/roofs/fma.cl", "roofs/fma", type, b->lanes, &module));
  TSL_GO(b->ops->buffer_create(b->device, 2 * vector, &b->from));
  TSL_GO(b->ops->buffer_create(b->device, starts, &b->to));
  TSL_GO(take_results(b, groups > (uint64_t)b->shape.chains ? groups : (uint64_t)b->shape.chains, vector));
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->to),
                                    TSL_ARG_BUFFER(b->results), TSL_ARG_VALUE(b->rounds)};
  TSL_GO(choose(b, module, "tsl_roofs_fma", groups, arguments, 4));
  status = repeat_chains(b, seconds, roof);
out:
  if (b->stream && status != TESELA_OK)
    (void)b->ops->finish(b->stream);
  give_buffers(b);
  return status;
}

/* --- */

static shape shape_for(const tsl_device *device) {
  shape chosen = device->is_cpu ? processor : gpu;
  if (device->is_cpu)
    chosen.lanes_f32 = device->vector_f32 >= 16 ? 16 : device->vector_f32 >= 8 ? 8 : 4;
  while (chosen.items > device->group_items_max)
    chosen.items /= 2;
  return chosen;
}

tesela_status tsl_roofs_on_kernels(tsl_device *device, double seconds, tsl_roofs *roofs) {
  bench b = {.device = device, .ops = device->ops, .shape = shape_for(device)};
  tesela_status status;
  TSL_GO(b.ops->stream_create(device, &b.stream));
  TSL_GO(b.ops->event_create(device, &b.begin));
  TSL_GO(b.ops->event_create(device, &b.end));
  if (roofs->bytes > 0)
    TSL_GO(measure_memory(&b, seconds, roofs));
  TSL_GO(measure_fma(&b, TESELA_F32, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F32]));
  if (device->capabilities & TSL_CAN_F64)
    TSL_GO(measure_fma(&b, TESELA_F64, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F64]));
out:
  if (b.begin)
    b.ops->event_destroy(b.begin);
  if (b.end)
    b.ops->event_destroy(b.end);
  if (b.stream)
    b.ops->stream_destroy(b.stream);
  return status;
}
