/* gpu_finish [DEVICE [SECONDS [ROW...]]]
 *
 * Times products with an epilogue on a CUDA device (cuda:0), in turn in one process. Sides: the product
 * alone, with a fused epilogue, and with a second pass over C. Operands are in device memory; each run uses
 * other operands, more than the last cache holds. Both results are compared, f32 bit by bit, and memory after
 * C must be unchanged. SECONDS is the time for each side's samples (0.1). ROW is a number in the table below,
 * from 0 (all). */
#include "core/clock.h"
#include "core/status.h"
#include "judge/data.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#define BENCH_NAME "gpu_finish"
#include "stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 3, SAMPLES_MOST = 64, SETS_MOST = 64, PIECE = 1 << 20 };

typedef struct row {
  const char *types, *config;
  int64_t m, n, k;
  tesela_bias_axis along;
  tesela_activation activation;
  tesela_scaling scale_a, scale_b;
} row;

static const row rows[] = {
    {"bf16", NULL, 4096, 4096, 4096, TESELA_BIAS_ROW, TESELA_NO_ACTIVATION, 0, 0},
    {"bf16", NULL, 4096, 4096, 4096, TESELA_BIAS_ROW, TESELA_RELU, 0, 0},
    {"bf16", NULL, 4096, 4096, 4096, TESELA_BIAS_ROW, TESELA_GELU, 0, 0},
    {"bf16", NULL, 4096, 4096, 4096, TESELA_BIAS_ROW, TESELA_GELU_TANH, 0, 0},
    {"bf16", NULL, 2048, 2048, 2048, TESELA_BIAS_ROW, TESELA_GELU, 0, 0},
    {"bf16", NULL, 8192, 8192, 8192, TESELA_BIAS_ROW, TESELA_GELU, 0, 0},
    {"bf16", NULL, 8192, 8192, 512, TESELA_BIAS_ROW, TESELA_RELU, 0, 0},
    {"bf16", NULL, 8192, 8192, 512, TESELA_BIAS_ROW, TESELA_GELU, 0, 0},
    {"bf16", NULL, 64, 4096, 4096, TESELA_BIAS_ROW, TESELA_GELU, 0, 0},
    {"bf16:f32", NULL, 4096, 4096, 4096, TESELA_BIAS_COLUMN, TESELA_GELU, 0, 0},
    {"i8:i8:bf16", NULL, 4096, 4096, 4096, TESELA_BIAS_ROW, TESELA_NO_ACTIVATION, TESELA_SCALE_LINES,
     TESELA_SCALE_LINES},
    {"e4m3:e4m3:bf16", NULL, 4096, 4096, 4096, TESELA_NO_BIAS, TESELA_NO_ACTIVATION, TESELA_SCALE_LINES,
     TESELA_SCALE_LINES},
    {"bf16", NULL, 4095, 4095, 4095, TESELA_BIAS_ROW, TESELA_RELU, 0, 0},
};

enum { ROWS = sizeof rows / sizeof *rows };

typedef struct side {
  tsl_plan *plan;
  double samples[SAMPLES_MOST], spent;
  int count, runs;
} side;

static tsl_device *device;
static double seconds_most = 0.1;

static tsl_problem problem_of(const row *row_in, bool is_finished) {
  tsl_types types;
  if (!tsl_types_parse(TSL_OP_GEMM, row_in->types, &types))
    stop(row_in->types, "no types");
  tsl_problem problem = tsl_problem_gemm(row_in->m, row_in->n, row_in->k, types.a);
  problem.b.type = types.b, problem.c.type = types.c;
  problem.b.row_stride = 1, problem.b.col_stride = row_in->k;
  if (tsl_type(types.a)->size == 1 && !tsl_type(types.a)->is_integer)
    must(tsl_numeric_requirements_parse_accuracy("e4m3", &problem.ask), "asking");
  if (!is_finished) {
    if (row_in->scale_a != TESELA_NO_SCALE && tsl_type(types.a)->is_integer)
      problem.c.type = TESELA_I32;
    return problem;
  }
  problem.activation = row_in->activation;
  tsl_problem_add_bias(&problem, row_in->along, types.c, 1);
  tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_A, row_in->scale_a, 1);
  tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_B, row_in->scale_b, 1);
  return problem;
}

/* Returns a buffer of `sets` operands with small normal numbers. */
static tsl_buffer *filled(tsl_stream *stream, const tsl_shape *shape, int sets, uint64_t seed) {
  const size_t size = tsl_type(shape->type)->size,
               bytes = ((size_t)tsl_shape_extent(shape) * size + 511) / 512 * 512,
               known = bytes < (size_t)1 << 22 ? bytes : (size_t)1 << 22;
  const tsl_shape line = {.type = shape->type,
                          .rows = 1,
                          .cols = (int64_t)(known / size),
                          .row_stride = (int64_t)(known / size),
                          .col_stride = 1};
  void *block = malloc(known);
  tsl_buffer *made;
  if (!block)
    stop("memory", "there is none");
  must(device->ops->buffer_create(device, bytes * (size_t)sets, &made), "operands");
  must(tsl_data_fill(TSL_DATA_NORMAL, seed, &line, 1, block), "numbers");
  must(tsl_device_write(stream, made, 0, block, known), "numbers");
  for (size_t at = known; at < bytes * (size_t)sets; at *= 2)
    must(device->ops->copy(stream, made, 0, made, at,
                           at < bytes * (size_t)sets - at ? at : bytes * (size_t)sets - at),
         "numbers");
  must(device->ops->finish(stream), "numbers");
  free(block);
  return made;
}

static void sample(side *side_in, const tsl_operands *sets, int count, int *next) {
  const tsl_batch batch = {sets, count, *next, side_in->runs};
  tsl_phases phases;
  must(tsl_plan_run_batch(side_in->plan, &batch, &phases), "running");
  *next = (*next + side_in->runs) % count;
  side_in->spent += phases.compute;
  side_in->samples[side_in->count++] = phases.compute / side_in->runs;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(side *side_in) {
  qsort(side_in->samples, (size_t)side_in->count, sizeof *side_in->samples, by_value);
  return side_in->samples[side_in->count / 2];
}

/* Returns a piece of C, from a byte on, after a run into memory filled with 0xff; the caller frees
 * it. */
static unsigned char *run_and_read(tsl_stream *stream, tsl_plan *plan, const tsl_operands *set, size_t from,
                                   size_t bytes) {
  const tsl_batch batch = {set, 1, 0, 1};
  unsigned char *found = malloc(bytes + 1);
  tsl_phases phases;
  if (!found)
    stop("memory", "there is none");
  must(device->ops->fill(stream, set->c.buffer, 0, 0xff, set->c.buffer->bytes), "filling C");
  must(device->ops->finish(stream), "filling C");
  must(tsl_plan_run_batch(plan, &batch, &phases), "running");
  must(tsl_device_read(stream, set->c.buffer, from, found, bytes), "reading C");
  return found;
}

/* Returns |x - y| / |y| of a piece of C, as two plans compute it. */
static double difference_of(tsl_stream *stream, side *sides, const tsl_operands *set, tesela_type type,
                            size_t from, size_t bytes) {
  const size_t size = tsl_type(type)->size;
  unsigned char *found[2];
  double apart = 0, all = 0;
  for (int i = 0; i < 2; i++)
    found[i] = run_and_read(stream, sides[i].plan, set, from, bytes);
  for (size_t at = 0; at < bytes; at += size) {
    double x[2], y[2];
    tsl_type_load(type, found[0] + at, x);
    tsl_type_load(type, found[1] + at, y);
    apart += (x[0] - y[0]) * (x[0] - y[0]);
    all += y[0] * y[0];
  }
  for (int i = 0; i < 2; i++)
    free(found[i]);
  return apart == 0 ? 0 : sqrt(apart / all);
}

/* Returns the difference of C's start and end, and checks that nothing is written past C. */
static double difference(tsl_stream *stream, side *sides, const tsl_operands *set, const tsl_shape *c) {
  const size_t bytes = (size_t)tsl_shape_extent(c) * tsl_type(c->type)->size,
               piece = bytes < PIECE ? bytes : PIECE, room = set->c.buffer->bytes - bytes,
               behind = room < PIECE ? room : PIECE;
  const double start = difference_of(stream, sides, set, c->type, 0, piece),
               end = difference_of(stream, sides, set, c->type, bytes - piece, piece);
  unsigned char *found = run_and_read(stream, sides[0].plan, set, bytes, behind);
  for (size_t i = 0; i < behind; i++)
    if (found[i] != 0xff)
      stop(sides[0].plan->text, "something behind C was written");
  free(found);
  return isnan(start) || start > end ? start : end;
}

/* Returns the number of sets of operands that exceeds the caches. */
static int sets_of(const tsl_problem *whole) {
  uint64_t bytes = 0;
  for (int i = 0; i < TSL_OPERANDS; i++)
    bytes += (uint64_t)tsl_shape_extent(tsl_problem_shape(whole, i)) *
             tsl_type(tsl_problem_shape(whole, i)->type)->size;
  const uint64_t sets = 2 * (uint64_t)device->cache_bytes / bytes + 1;
  return (int)(sets < SETS_MOST ? sets : SETS_MOST);
}

static tsl_operand *operand_of(tsl_operands *set, int i) {
  return i < TSL_OPERANDS           ? &(&set->a)[i]
         : i == TSL_OPERAND_BIAS    ? &set->bias
         : i == TSL_OPERAND_SCALE_A ? &set->scale_a
                                    : &set->scale_b;
}

static void fill_sets(const tsl_problem *whole, tsl_stream *stream, int count, tsl_buffer **buffers,
                      tsl_operands *items) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    tsl_shape shape = *tsl_problem_shape(whole, i);
    if (!tsl_problem_has_operand(whole, i))
      continue;
    if (i == TSL_OPERAND_C && tsl_type(shape.type)->size < 4)
      shape.type = TESELA_F32; /* the type of the bare sums */
    buffers[i] = filled(stream, &shape, count, (uint64_t)i + 1);
    for (int s = 0; s < count; s++) {
      const size_t size = tsl_type(tsl_problem_shape(whole, i)->type)->size;
      *operand_of(&items[s], i) =
          (tsl_operand){.buffer = buffers[i],
                        .offset = (int64_t)(buffers[i]->bytes / (size_t)count / size / 512 * 512) * s};
    }
  }
}

/* Measures by turns; `sums` are the operands of the bare product. */
static void take_samples(side *sides, const tsl_operands *items, const tsl_operands *sums, int count) {
  int next = 0;
  for (int i = 0; i < SIDES; i++) {
    sides[i].runs = 1;
    sample(&sides[i], i == 2 ? sums : items, count, &next);
    sample(&sides[i], i == 2 ? sums : items, count, &next);
    sides[i].runs = (int)fmin(256, ceil(1.5e-3 / sides[i].samples[1]));
    sides[i].count = 0, sides[i].spent = 0;
  }
  for (int round = 0; sides[0].spent < seconds_most && round < SAMPLES_MOST; round++)
    for (int i = 0; i < SIDES; i++) {
      const int turn = round % 2 ? SIDES - 1 - i : i;
      sample(&sides[turn], turn == 2 ? sums : items, count, &next);
    }
}

static void print_row(const row *row_in, side *sides, double apart, const tsl_strategy *strategy,
                      const tsl_config *config) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  const double in = median(&sides[0]), pass = median(&sides[1]), product = median(&sides[2]);
  printf(
      "%-14s %lld x %lld x %lld bias=%s %s %s,%s: alone %.1f us, in the kernel %.1f (%.3f), by a pass %.1f "
      "(%.3f); differ by %.2g; %s\n",
      row_in->types, (long long)row_in->m, (long long)row_in->n, (long long)row_in->k,
      tsl_along_name(row_in->along), tsl_activation_name(row_in->activation),
      tsl_scaling_name(row_in->scale_a), tsl_scaling_name(row_in->scale_b), 1e6 * product, 1e6 * in,
      in / product, 1e6 * pass, pass / product, apart, tsl_text_get(&text));
  fflush(stdout);
  tsl_text_free(&text);
}

/* Sets the planner's config; returns false with the reason if there is none. */
static bool config_for(const row *row_in, const tsl_problem *whole, tsl_devices *devices,
                       tsl_config *config) {
  const tsl_choice from = {.devices = devices,
                           .device = device->name,
                           .strategy = row_in->config ? row_in->config : "cuda_wgmma",
                           .place = TSL_PLACE_DEVICE};
  tsl_candidate *list;
  int listed;
  must(tsl_planner_list(whole, &from, &list, &listed), "planning");
  const bool is_taken = listed > 0 && !list[0].refusal[0];
  if (is_taken)
    *config = list[0].config;
  else
    printf("%s: %s\n", row_in->types, listed > 0 ? list[0].refusal : "nothing takes it");
  free(list);
  return is_taken;
}

static void measure(const row *row_in, tsl_devices *devices, tsl_stream *stream) {
  const tsl_problem whole = problem_of(row_in, true), alone = problem_of(row_in, false);
  const tsl_strategy *own = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  tsl_strategy passing = *own;
  side sides[SIDES] = {{0}};
  tsl_config config;
  passing.supports.epilogues = false;
  if (!config_for(row_in, &whole, devices, &config))
    return;
  must(tsl_planner_create(&whole, own, &config, device, TSL_PLACE_DEVICE, &sides[0].plan), "a plan");
  must(tsl_planner_create(&whole, &passing, &config, device, TSL_PLACE_DEVICE, &sides[1].plan), "a plan");
  must(tsl_planner_create(&alone, own, &config, device, TSL_PLACE_DEVICE, &sides[2].plan), "a plan");
  const int count = sets_of(&whole);
  tsl_buffer *buffers[TSL_ALL_OPERANDS] = {NULL};
  tsl_operands *items = calloc((size_t)count, sizeof *items), *sums = calloc((size_t)count, sizeof *sums);
  if (!items || !sums)
    stop("memory", "there is none");
  fill_sets(&whole, stream, count, buffers, items);
  /* Sums may have a wider type than C; they use the same memory. */
  for (int i = 0; i < count; i++) {
    sums[i] = items[i];
    sums[i].c.offset =
        items[i].c.offset * (int64_t)tsl_type(whole.c.type)->size / (int64_t)tsl_type(alone.c.type)->size;
  }
  const double apart = difference(stream, sides, &items[0], &whole.c);
  take_samples(sides, items, sums, count);
  print_row(row_in, sides, apart, own, &config);
  for (int i = 0; i < SIDES; i++)
    tsl_plan_destroy(sides[i].plan);
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (buffers[i])
      device->ops->buffer_destroy(buffers[i]);
  free(items), free(sums);
}

int main(int argc, char **argv) {
  tsl_devices *devices;
  tsl_stream *stream;
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, argc > 1 ? argv[1] : "cuda:0", &device), "the device");
  must(tsl_device_open(device), "the device");
  if (argc > 2)
    seconds_most = atof(argv[2]);
  must(device->ops->stream_create(device, &stream), "a stream");
  for (int i = 0; i < ROWS; i++) {
    bool is_asked_for = argc <= 3;
    for (int j = 3; j < argc; j++)
      is_asked_for = is_asked_for || atoi(argv[j]) == i;
    if (is_asked_for)
      measure(&rows[i], devices, stream);
  }
  device->ops->stream_destroy(stream);
  tsl_devices_destroy(devices);
  return 0;
}
