/* Runs two plans on a device, tesela's and a peer's, in turn in one process. Shared by the benchmarks of
 * level 3 on devices. BENCH_NAME is defined before. */
#ifndef TSL_BENCH_GPU_SIDES_H
#define TSL_BENCH_GPU_SIDES_H

#include "judge/data.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "stop.h"
#include "strategy/params.h"

#include <math.h>

enum { ROUNDS = 9 };
static const double sample_seconds = 0.05;

typedef struct side {
  tsl_plan *plan; /* NULL: there is no plan, and `why` holds the reason */
  char why[200];
  double best;
} side;

static tsl_devices *devices;
static tsl_device *device;
static tsl_wisdom *wisdom;

/* Makes the plan of a strategy's text; NULL: of the planner's choice. */
static void plan_own(const tsl_problem *problem, const char *strategy, side *side_in) {
  const tsl_choice choice = {.devices = devices,
                             .device = device->name,
                             .strategy = strategy,
                             .place = TSL_PLACE_DEVICE,
                             .wisdom = wisdom};
  tsl_candidate *list;
  int count;
  must(tsl_planner_list(problem, &choice, &list, &count), "planning");
  if (tsl_planner_take(problem, &choice, list, count, &side_in->plan) != TESELA_OK)
    snprintf(side_in->why, sizeof side_in->why, "%s", tesela_last_error());
  free(list);
}

static void plan_peer(const tsl_problem *problem, const tsl_strategy *peer, side *side_in) {
  const tsl_config config = tsl_strategy_defaults(peer);
  if (tsl_planner_create(problem, peer, &config, device, TSL_PLACE_DEVICE, &side_in->plan) != TESELA_OK)
    snprintf(side_in->why, sizeof side_in->why, "%s", tesela_last_error());
}

static double seconds_of(side *side_in, const tsl_operands *operands, int runs) {
  const tsl_batch batch = {operands, 1, 0, runs};
  tsl_phases phases;
  must(tsl_plan_run_batch(side_in->plan, &batch, &phases), side_in->plan->text);
  return phases.compute / runs;
}

static tsl_buffer *buffer_of(const tsl_shape *shape, tsl_stream *stream, bool is_filled) {
  const size_t bytes = (size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size;
  tsl_buffer *made;
  must(device->ops->buffer_create(device, bytes, &made), "operands");
  void *block = calloc(bytes, 1);
  if (!block)
    stop("memory", "there is none");
  if (is_filled)
    must(tsl_data_fill(TSL_DATA_NORMAL, 1, shape, 1, block), "numbers");
  must(tsl_device_write(stream, made, 0, block, bytes), "numbers");
  must(device->ops->finish(stream), "numbers");
  free(block);
  return made;
}

static void measure(side *sides, const tsl_operands *operands) {
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < 2; i++) {
      if (!sides[i].plan)
        continue;
      const double once = sides[i].best > 0 ? sides[i].best : seconds_of(&sides[i], operands, 1);
      const int runs = (int)fmax(1, fmin(64, sample_seconds / once));
      const double seconds = seconds_of(&sides[i], operands, runs);
      sides[i].best = round == 0 ? seconds : fmin(sides[i].best, seconds);
    }
}

/* Prints the end of a row: 10^12 operations per second of each side. */
static void print_sides(const side *sides, double flops) {
  for (int i = 0; i < 2; i++)
    if (sides[i].plan)
      printf(" %8.3g", flops / sides[i].best / 1e12);
    else
      printf(" %8s", "none");
}

static void open_device(const char *name, tsl_stream **stream) {
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, name, &device), "the device");
  must(tsl_device_open(device), "the device");
  must(tsl_wisdom_open(&wisdom), "wisdom");
  must(device->ops->stream_create(device, stream), "a stream");
}

static void close_device(tsl_stream *stream) {
  device->ops->stream_destroy(stream);
  tsl_wisdom_close(wisdom);
  tsl_devices_destroy(devices);
}

#endif
