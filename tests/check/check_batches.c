/* check_batches NAME DEVICE [I/N]: checks a strategy that takes batches on a device with kernels.
 * Through CUDA: all its probes in its first types, and one probe, in turn, in each of the others.
 * On other devices, where compilation takes long: one probe for each case, in the first types.
 * Batches of small whole numbers, whose sums are exact, by strides forwards, backwards and 0, with
 * gaps that must not be written. Exits with 0 when all are right, 1 when one is wrong, 77 where the
 * device is missing or lacks a capability that the strategy needs. I/N: types I, I + N, ... of its list,
 * for several processes at once. */
#include "core/random.h"
#include "core/status.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, MOST_REPORTED = 10, MANY = 10000 };

/* Steps count elements from one product's last element to the next one's first. Backwards: from the
 * last product to the first. */
enum { SHARED = -1 };
typedef struct batch_case {
  int64_t m, n, k, batch;
  bool a_turned, b_turned, c_turned;
  int64_t pad;          /* behind each line of A, B and C */
  int64_t a_gap, b_gap; /* SHARED: all products have the same */
  int64_t c_gap;
  bool backwards; /* A and C */
  double beta;
} batch_case;

static const batch_case cases[] = {
    {64, 64, 64, 9, false, false, false, 0, 0, 0, 0, false, 0},
    {37, 29, 150, 7, false, false, false, 0, 5, SHARED, 3, true, 2},
    {128, 96, 65, 5, true, false, false, 3, 0, 1, 0, false, 0},
    {16, 200, 33, 11, false, true, true, 0, 16, 16, 8, true, 0},
    {72, 40, 136, 6, true, true, false, 8, 8, 8, 8, true, 1},
    {65, 130, 0, 4, false, false, false, 0, 0, 0, 0, false, 2},
    {1, 1, 1, 300, false, false, false, 0, 0, 0, 0, false, 0},
    {8, 16, 24, 66000, false, false, false, 0, 0, SHARED, 0, false, 0},
    {130, 260, 100, 3, false, false, false, 0, SHARED, SHARED, 0, false, 0},
    {5, 200, 300, 6, false, true, false, 3, 0, 2, 0, false, 2},
    {70, 131, 3, 5, false, true, false, 1, 3, 1, 1, false, 2},
};
enum { CASES = sizeof cases / sizeof *cases };

static tsl_device *device;
static tsl_stream *stream;
static int wrong, right, refused;

static void must(tesela_status status, const char *what) {
  if (status == TESELA_OK)
    return;
  printf("%s: %s\n", what, tesela_last_error());
  exit(1);
}

/* One operand on the host and on the device. */
typedef struct matrices {
  tsl_shape shape;
  int64_t step, first, count; /* elements: to the next product, to the first one, in all */
  unsigned char *host;
  tsl_buffer *buffer;
} matrices;

static double number(uint64_t stream_number, int64_t i, tesela_type type) {
  const int value = (int)(tsl_random_u64(stream_number, (uint64_t)i) % 3) - 1;
  return value < 0 && type == TESELA_U8 ? 1 : value;
}

static matrices make(const tsl_shape *shape, int64_t batch, int64_t gap, bool backwards, uint64_t seed) {
  const int64_t extent = tsl_shape_extent(shape) > 0 ? tsl_shape_extent(shape) : 1;
  matrices made = {.shape = *shape};
  made.step = gap == SHARED ? 0 : (extent + gap) * (backwards ? -1 : 1);
  made.count = gap == SHARED ? extent : (extent + gap) * batch;
  made.first = made.step < 0 ? -made.step * (batch - 1) : 0;
  const size_t size = tsl_type(shape->type)->size;
  made.host = calloc((size_t)made.count, size);
  if (!made.host)
    exit(1);
  for (int64_t i = 0; i < made.count; i++)
    tsl_type_store(shape->type, made.host + (size_t)i * size,
                   (double[2]){number(seed, i, shape->type), number(seed + 10, i, shape->type)});
  must(device->ops->buffer_create(device, (size_t)made.count * size, &made.buffer), "memory");
  must(tsl_device_write(stream, made.buffer, 0, made.host, (size_t)made.count * size), "writing");
  return made;
}

static void drop(matrices *matrices_in) {
  free(matrices_in->host);
  device->ops->buffer_destroy(matrices_in->buffer);
}

static unsigned char *at(const matrices *from, int64_t product, int64_t row, int64_t col) {
  return from->host + (size_t)(from->first + product * from->step + row * from->shape.row_stride +
                               col * from->shape.col_stride) *
                          tsl_type(from->shape.type)->size;
}

/* Replaces C by the expected C. */
static void multiply(const tsl_problem *problem, const matrices *a, const matrices *b, matrices *c) {
  for (int64_t p = 0; p < problem->batch; p++)
    for (int64_t i = 0; i < problem->m; i++)
      for (int64_t j = 0; j < problem->n; j++) {
        double sum[2] = {0, 0}, x[2], y[2], old[2];
        for (int64_t l = 0; l < problem->k; l++) {
          tsl_type_load(a->shape.type, at(a, p, i, l), x);
          tsl_type_load(b->shape.type, at(b, p, l, j), y);
          sum[0] += x[0] * y[0] - x[1] * y[1];
          sum[1] += x[0] * y[1] + x[1] * y[0];
        }
        tsl_type_load(c->shape.type, at(c, p, i, j), old);
        tsl_type_store(c->shape.type, at(c, p, i, j),
                       (double[2]){sum[0] + problem->beta[0] * old[0], sum[1] + problem->beta[0] * old[1]});
      }
}

static tsl_shape shape_of(tesela_type type, int64_t rows, int64_t cols, bool turned, int64_t pad) {
  return (tsl_shape){.type = type,
                     .rows = rows,
                     .cols = cols,
                     .row_stride = turned ? 1 : cols + pad,
                     .col_stride = turned ? rows + pad : 1};
}

static tsl_problem problem_of(const batch_case *what, const tsl_types *types) {
  tsl_problem problem = tsl_problem_gemm(what->m, what->n, what->k, types->c);
  problem.a = shape_of(types->a, what->m, what->k, what->a_turned, what->pad);
  problem.b = shape_of(types->b, what->k, what->n, what->b_turned, what->pad);
  problem.c = shape_of(types->c, what->m, what->n, what->c_turned, what->pad);
  problem.beta[0] = what->beta;
  problem.batch = what->batch;
  if (types->a == TESELA_F32) /* where it is cut, numbers of few digits are not */
    (void)tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask);
  return problem;
}

static void report(const tsl_plan *plan, const char *why) {
  if (wrong++ < MOST_REPORTED)
    printf("%s: %s\n", plan->text, why);
  fflush(stdout);
}

static void run(tsl_plan *plan, const matrices *a, const matrices *b, const matrices *c,
                const unsigned char *expected) {
  const size_t bytes = (size_t)c->count * tsl_type(c->shape.type)->size;
  const tsl_operands operands = {.a = {.buffer = a->buffer, .offset = a->first, .batch_step = a->step},
                                 .b = {.buffer = b->buffer, .offset = b->first, .batch_step = b->step},
                                 .c = {.buffer = c->buffer, .offset = c->first, .batch_step = c->step}};
  unsigned char *got = malloc(bytes);
  if (!got)
    exit(1);
  const tesela_status status = tsl_plan_run(plan, &operands, NULL);
  if (status == TESELA_UNSUPPORTED && plan->work.strategy->vendor.load)
    refused++;
  else if (status != TESELA_OK)
    report(plan, tesela_last_error());
  else {
    must(tsl_device_read(stream, c->buffer, 0, got, bytes), "reading");
    if (memcmp(got, expected, bytes) == 0) {
      right++;
    } else {
      size_t i = 0;
      while (got[i] == expected[i])
        i++;
      char why[80];
      snprintf(why, sizeof why, "element %zu of C's memory", i / tsl_type(c->shape.type)->size);
      report(plan, why);
    }
  }
  free(got);
}

/* Checks a case. `turn`: -1 for every probe, otherwise the number of one probe. */
static void check(const tsl_strategy *strategy, int turn, const tsl_types *types, const batch_case *what) {
  const tsl_problem problem = problem_of(what, types);
  tsl_config config;
  matrices a = make(&problem.a, what->batch, what->a_gap, what->backwards, 1),
           b = make(&problem.b, what->batch, what->b_gap, false, 2),
           c = make(&problem.c, what->batch, what->c_gap, what->backwards, 3);
  const size_t bytes = (size_t)c.count * tsl_type(types->c)->size;
  unsigned char *before = malloc(bytes);
  if (!before)
    exit(1);
  memcpy(before, c.host, bytes);
  multiply(&problem, &a, &b, &c);
  int probes = 0;
  while (tsl_strategy_probe(strategy, probes, &config))
    probes++;
  for (int i = turn < 0 ? 0 : turn % probes; i < probes; i += turn < 0 ? 1 : probes) {
    tsl_plan *plan;
    tsl_strategy_probe(strategy, i, &config);
    if (tsl_strategy_refuse(strategy, &problem, &config, device)) {
      refused++;
      continue;
    }
    must(tsl_device_write(stream, c.buffer, 0, before, bytes), "writing");
    must(tsl_planner_create(&problem, strategy, &config, device, TSL_PLACE_DEVICE, &plan), "a plan");
    run(plan, &a, &b, &c, c.host);
    tsl_plan_destroy(plan);
  }
  free(before);
  drop(&a);
  drop(&b);
  drop(&c);
}

int main(int argc, char **argv) {
  tsl_devices *devices;
  tsl_types types;
  int own = 0, parts = 1;
  const bool is_called = argc == 3 || (argc == 4 && sscanf(argv[3], "%d/%d", &own, &parts) == 2 && parts > 0);
  const tsl_strategy *strategy = is_called ? tsl_strategy_find(TSL_OP_GEMM, argv[1]) : NULL;
  if (!strategy || !strategy->supports.batches) {
    printf("usage: check_batches NAME DEVICE [I/N], with the name of a strategy that takes batches\n");
    return 1;
  }
  must(tsl_devices_create(&devices), "devices");
  if (tsl_devices_find(devices, argv[2], &device) != TESELA_OK) {
    printf("%s: %s\n", strncmp(argv[2], "cuda", 4) == 0 ? "skipped" : "failed", tesela_last_error());
    return strncmp(argv[2], "cuda", 4) == 0 ? SKIPPED : 1;
  }
  const char *missing = tsl_capability_missing(strategy->needs, device->capabilities);
  if (missing || (strategy->vendor.load && strategy->vendor.load()->why_not[0])) {
    printf("skipped: %s\n", missing ? missing : strategy->vendor.load()->why_not);
    return SKIPPED;
  }
  must(tsl_device_open(device), "opening the device");
  must(device->ops->stream_create(device, &stream), "a stream");
  const bool is_quick = !(device->capabilities & TSL_CAN_CUDA);
  for (int t = 0; tsl_strategy_types(strategy, t, &types) && !(is_quick && t > 0); t++)
    for (int i = 0; i < CASES && t % parts == own; i++)
      if (!is_quick || cases[i].batch < MANY)
        check(strategy, is_quick ? i : t == 0 ? -1 : t, &types, &cases[i]);
  printf("%s on %s: %d batches right, %d wrong, %d refused\n", strategy->name, device->name, right, wrong,
         refused);
  device->ops->stream_destroy(stream);
  tsl_devices_destroy(devices);
  return right == 0 || wrong > 0;
}
