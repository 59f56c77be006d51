/* Equal bits of dot fixed_tree on every device, compared with the tree of tree.c. On the cpu with every
 * instruction set and with one, two and three threads; on devices that compile kernels with every group
 * size. Lengths around every edge of the tree, strides, unaligned starts, and data from subnormal to
 * infinite. */

#include "unit/unit.h"

#include "core/random.h"
#include "core/status.h"
#include "fixed_tree/tree.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/dot/portable/fixed_tree/fixed_tree.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Kinds of the vectors' numbers. */
typedef enum kind { NORMAL, GRADED, INTEGER, TINY, HUGE_ONES, ANY_BITS, RARE, KINDS } kind;
static const char *const kind_names[KINDS] = {"normal", "graded",   "integer",        "tiny",
                                              "huge",   "any bits", "with infinities"};

typedef struct dot_case {
  tsl_problem problem;
  kind data;
  int x_offset, y_offset; /* elements that come before the lowest of a vector */
  uint64_t seed;
} dot_case;

/* A case with its vectors in blocks of memory, and the expected result. */
typedef struct dot_data {
  dot_case what;
  size_t size, x_count, y_count; /* bytes of an element, elements of the blocks */
  int64_t x_at, y_at;            /* element 0 */
  unsigned char *x, *y;
  unsigned char before[8];
  uint64_t expected;
} dot_data;

static const int64_t lengths[] = {0,    1,    2,    3,    31,    63,    64,       65,
                                  127,  128,  129,  1000, 2047,  2048,  2049,     4095,
                                  4096, 4097, 8191, 8193, 12289, 40000, 65536 + 1};
/* Past 2^20 by a little, past two blocks, and past 256 blocks of either type. */
static const int64_t large[] = {1048577, 8 * 4096 * 2 + 4095, 256 * 8 * 4096 + 5, 256 * 8 * 2048 + 2049};
enum { CASES = 330 };

/* --- cases --- */

static double any_bits(tesela_type type, uint64_t bits) {
  double wide;
  float narrow;
  const uint32_t low = (uint32_t)bits;
  memcpy(&wide, &bits, sizeof wide);
  memcpy(&narrow, &low, sizeof narrow);
  return type == TESELA_F64 ? wide : narrow;
}

/* Returns a vector's number. `normal` has the kind's distribution where the kind is a named
 * distribution. */
static double value_of(const dot_case *what, double normal, uint64_t dice) {
  const bool twice = what->problem.c.type == TESELA_F64;
  switch (what->data) {
  case TINY: /* subnormal numbers, and errors of products that are */
    return ldexp(normal, twice ? -500 - (int)(dice % 570) : -70 - (int)(dice % 78));
  case HUGE_ONES: /* sums that overflow on the way, sometimes */
    return ldexp(normal, twice ? 505 + (int)(dice % 4) : 60 + (int)(dice % 4));
  case ANY_BITS:
    return any_bits(what->problem.c.type, dice);
  case RARE:
    return dice % 1500 == 0 ? INFINITY : dice % 1501 == 0 ? -INFINITY : dice % 9 == 0 ? 0 : normal;
  default:
    return normal;
  }
}

static dot_case case_at(int index, tesela_type type) {
  static const int64_t strides[] = {1, 1, 1, 1, 2, 3, -1, 0};
  static const double scalars[] = {1, 1, -0.7, 0, 3, 1e-30};
  dot_case what = {.seed = (uint64_t)index};
  const uint64_t dice = tsl_random_u64(77, (uint64_t)index);
  const int64_t k = index % 23 < (int)LENGTH(lengths) ? lengths[index % 23] : 5000;
  what.problem = tsl_problem_dot(k + (index >= 230 ? (int64_t)(dice >> 40) % 9000 : 0), type);
  what.problem.a.col_stride = strides[dice % 8];
  what.problem.b.row_stride = strides[dice / 8 % 8];
  what.problem.alpha[0] = scalars[dice / 64 % 6];
  what.problem.beta[0] = dice & 512 ? scalars[dice / 1024 % 6] : 0;
  what.data = (kind)(index % KINDS);
  what.x_offset = (int)(dice / 8192 % 5);
  what.y_offset = dice & 65536 ? what.x_offset : (int)(dice / 131072 % 5);
  return what;
}

static dot_case large_case(int index, tesela_type type) {
  dot_case what = {.seed = (uint64_t)index, .data = index % 2 ? GRADED : NORMAL};
  what.problem = tsl_problem_dot(large[index % (int)LENGTH(large)], type);
  what.x_offset = what.y_offset = index % 2;
  return what;
}

static void *make_block(const dot_data *data, uint64_t seed, size_t count) {
  const kind of = data->what.data;
  unsigned char *block = malloc(count * data->size);
  double *drawn = malloc(count * sizeof *drawn);
  assert_true(block && drawn);
  /* Together, since each pair of normal numbers is made at once. */
  tsl_random_fill(of == GRADED    ? TSL_DRAW_GRADED
                  : of == INTEGER ? TSL_DRAW_INTEGER
                                  : TSL_DRAW_NORMAL,
                  seed, 0, TESELA_F64, drawn, count);
  for (size_t i = 0; i < count; i++) {
    const double value[2] = {value_of(&data->what, drawn[i], tsl_random_u64(~seed, i)), 0};
    tsl_type_store(data->what.problem.c.type, block + i * data->size, value);
  }
  free(drawn);
  return block;
}

static dot_data make(dot_case what) {
  const tesela_type type = what.problem.c.type;
  dot_data data = {.what = what, .size = tsl_type(type)->size};
  const double before[2] = {tsl_random_value(TSL_DRAW_NORMAL, 3, what.seed), 0};
  data.x_at = what.x_offset + tsl_shape_below(&what.problem.a);
  data.y_at = what.y_offset + tsl_shape_below(&what.problem.b);
  data.x_count = (size_t)(what.x_offset + tsl_shape_extent(&what.problem.a)) + 1;
  data.y_count = (size_t)(what.y_offset + tsl_shape_extent(&what.problem.b)) + 1;
  data.x = make_block(&data, 2 * what.seed, data.x_count);
  data.y = make_block(&data, 2 * what.seed + 1, data.y_count);
  tsl_type_store(type, data.before, before);
  data.expected = tree_bits(&what.problem, data.x + data.x_at * (int64_t)data.size,
                            data.y + data.y_at * (int64_t)data.size, data.before);
  return data;
}

static void must(tesela_status status, const char *who) {
  if (status != TESELA_OK)
    fail_msg("%s: %s\n%s", who, tesela_last_error(), tesela_last_log());
}

static void compare(const dot_data *data, const void *result, const char *who) {
  const tsl_problem *p = &data->what.problem;
  uint64_t bits = 0;
  memcpy(&bits, result, data->size);
  if (bits != data->expected)
    fail_msg(
        "%s: %s k=%lld strides %lld, %lld offsets %d, %d alpha=%g beta=%g %s seed %llu: bits %llx, not %llx",
        who, tsl_type(p->c.type)->name, (long long)p->k, (long long)p->a.col_stride,
        (long long)p->b.row_stride, data->what.x_offset, data->what.y_offset, p->alpha[0], p->beta[0],
        kind_names[data->what.data], (unsigned long long)data->what.seed, (unsigned long long)bits,
        (unsigned long long)data->expected);
}

/* Every case, made at its first use: making a case takes longer than most comparisons. */
enum { TYPES = 2, ALL_CASES = CASES + LENGTH(large) };
static dot_data made[TYPES][ALL_CASES];

/* Calls each() for every case, made. */
static void for_each_case(void (*each)(const dot_data *data, void *argument), void *argument) {
  static const tesela_type types[TYPES] = {TESELA_F32, TESELA_F64};
  for (int t = 0; t < TYPES; t++)
    for (int i = 0; i < (int)ALL_CASES; i++) {
      if (!made[t][i].x)
        made[t][i] = make(i < CASES ? case_at(i, types[t]) : large_case(i - CASES, types[t]));
      each(&made[t][i], argument);
    }
}

static void drop_cases(void) {
  for (int t = 0; t < TYPES; t++)
    for (int i = 0; i < (int)ALL_CASES; i++) {
      free(made[t][i].x);
      free(made[t][i].y);
    }
}

/* --- the cpu --- */

static tsl_operands host_operands(const dot_data *data, void *c) {
  const tsl_problem *p = &data->what.problem;
  return (tsl_operands){
      .a = {.host = data->x + data->x_at * (int64_t)data->size, .col_stride = p->a.col_stride},
      .b = {.host = data->y + data->y_at * (int64_t)data->size, .row_stride = p->b.row_stride},
      .c = {.host = c}};
}

typedef struct host_form {
  const char *name;
  const tsl_tree_functions *functions;
} host_form;

enum { POOLS = 3 };
static tsl_pool *pools[POOLS];

static void check_host(const dot_data *data, void *argument) {
  const host_form *form = argument;
  char who[64];
  for (int i = 0; i < POOLS; i++) {
    unsigned char c[8];
    memcpy(c, data->before, sizeof c);
    const tsl_operands operands = host_operands(data, c);
    snprintf(who, sizeof who, "%s, %d threads", form->name, tsl_pool_threads(pools[i]));
    must(tsl_tree_run(&data->what.problem, &operands, form->functions, tsl_pool_team(pools[i], 0)), who);
    compare(data, c, who);
  }
}

/* Tests every instruction set's functions. Prints the sets that this processor lacks. */
static void every_set(void **state) {
#define SET(isa, header, needs, ...) {{#isa, &tsl_tree_functions_##isa}, needs},
  static const struct {
    host_form form;
    unsigned needs;
  } sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  tsl_devices *devices;
  tsl_device *cpu;
  (void)state;
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, "cpu", &cpu), "cpu");
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    const char *missing = tsl_capability_missing(sets[i].needs, cpu->capabilities);
    host_form form = sets[i].form;
    if (missing)
      print_message("  without %s: this processor lacks %s\n", form.name, missing);
    else
      for_each_case(check_host, &form);
  }
  tsl_devices_destroy(devices);
}

/* --- devices --- */

static tsl_config config_with(int64_t group) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_DOT, "fixed_tree");
  tsl_config config = tsl_strategy_defaults(strategy);
  if (group > 0)
    config.value[0] = group;
  return config;
}

/* TESELA_ISA masks the cpu's instruction sets. Plans on it run like plans of any device. */
static void check_masked(const dot_data *data, void *argument) {
  tsl_device *cpu = argument;
  const tsl_config config = config_with(0);
  unsigned char c[8];
  tsl_plan *plan;
  memcpy(c, data->before, sizeof c);
  const tsl_operands operands = host_operands(data, c);
  must(tsl_planner_create(&data->what.problem, tsl_strategy_find(TSL_OP_DOT, "fixed_tree"), &config, cpu,
                          TSL_PLACE_HOST, &plan),
       cpu->key);
  must(tsl_plan_run(plan, &operands, NULL), cpu->key);
  compare(data, c, cpu->key);
  tsl_plan_destroy(plan);
}

static void masks(void **state) {
  static const char *const names[] = {TSL_ISA_LIST(TSL_ISA_WORD)};
  (void)state;
  for (size_t i = 0; i < LENGTH(names); i++) {
    tsl_devices *devices;
    tsl_device *cpu;
    setenv("TESELA_ISA", names[i], 1);
    must(tsl_devices_create(&devices), names[i]);
    must(tsl_devices_find(devices, "cpu", &cpu), names[i]);
    print_message("  TESELA_ISA=%s: %s\n", names[i], cpu->key);
    for_each_case(check_masked, cpu);
    tsl_devices_destroy(devices);
  }
  unsetenv("TESELA_ISA");
}

typedef struct device_run {
  tsl_device *device;
  tsl_stream *stream;
  const tsl_config *config;
} device_run;

static tsl_buffer *to_device(const device_run *run, const void *host, size_t bytes) {
  tsl_buffer *buffer;
  must(run->device->ops->buffer_create(run->device, bytes, &buffer), run->device->name);
  must(tsl_device_write(run->stream, buffer, 0, host, bytes), run->device->name);
  must(run->device->ops->finish(run->stream), run->device->name);
  return buffer;
}

/* Operands in buffers, with the strides and starts of the case. */
static void check_device(const dot_data *data, void *argument) {
  const device_run *run = argument;
  const tsl_problem *p = &data->what.problem;
  const char *who = run->device->name;
  unsigned char c[8] = {0};
  tsl_plan *plan;
  tsl_buffer *x = to_device(run, data->x, data->x_count * data->size),
             *y = to_device(run, data->y, data->y_count * data->size), *out = to_device(run, data->before, 8);
  const tsl_operands operands = {.a = {.buffer = x, .offset = data->x_at},
                                 .b = {.buffer = y, .offset = data->y_at},
                                 .c = {.buffer = out}};
  must(tsl_planner_create(p, tsl_strategy_find(TSL_OP_DOT, "fixed_tree"), run->config, run->device,
                          TSL_PLACE_DEVICE, &plan),
       who);
  must(tsl_plan_run(plan, &operands, NULL), who);
  must(tsl_device_read(run->stream, out, 0, c, data->size), who);
  compare(data, c, plan->text);
  tsl_plan_destroy(plan);
  run->device->ops->buffer_destroy(x);
  run->device->ops->buffer_destroy(y);
  run->device->ops->buffer_destroy(out);
}

static void device_bits(tsl_device *device) {
  const tsl_param *group = &tsl_strategy_find(TSL_OP_DOT, "fixed_tree")->params[0];
  device_run run = {.device = device};
  must(tsl_device_open(device), device->name);
  must(device->ops->stream_create(device, &run.stream), device->name);
  for (int i = 0; i < TSL_PARAM_VALUES_MAX && group->values[i] != 0; i++) {
    const tsl_config config = config_with(group->values[i]);
    run.config = &config;
    for_each_case(check_device, &run);
  }
  device->ops->stream_destroy(run.stream);
  print_message("  %s: %s\n", device->name, device->label);
}

/* Why the kind has no device; "" where it has some. */
static const char *why_none(tsl_devices *devices, const char *api) {
  const char *name, *what, *why = "";
  int count;
  for (int i = 0; i < tsl_device_kind_count(); i++) {
    must(tsl_devices_kind(devices, i, &name, &what, &count, &why), api);
    if (strcmp(name, api) == 0)
      return why;
  }
  return "there is no such kind";
}

/* Devices of a kind, processors or others; skips where there is none. */
static void on_devices(const char *api, bool processors) {
  tsl_devices *devices;
  tsl_device *device;
  char why[256];
  int count = 0;
  must(tsl_devices_create(&devices), "devices");
  snprintf(why, sizeof why, "%s", why_none(devices, api));
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++) {
    if (strcmp(device->kind, api) != 0 || (device->is_cpu != 0) != processors)
      continue;
    if (!(device->capabilities & TSL_CAN_F64)) {
      print_message("  %s left out: it has no double precision\n", device->name);
      continue;
    }
    device_bits(device);
    count++;
  }
  tsl_devices_destroy(devices);
  if (count == 0 && processors)
    fail_msg("%s has no processor here", api);
  if (count == 0) {
    print_message("  skipped: no %s device that is a graphics processor%s%s\n", api, why[0] ? ": " : "", why);
    skip();
  }
}

static void opencl_processor(void **state) {
  (void)state;
  on_devices("opencl", true);
}
static void opencl_gpu(void **state) {
  (void)state;
  on_devices("opencl", false);
}
static void cuda_gpu(void **state) {
  (void)state;
  on_devices("cuda", false);
}

/* Sums whose bits follow from arithmetic alone, lest the written tree and the strategies share a mistake. */
static void known_sums(void **state) {
  (void)state;
  enum { K = 3 * 4096 + 5 };
  float *x = malloc(K * sizeof *x);
  assert_non_null(x);
  for (int i = 0; i < K; i++)
    x[i] = i % 2 ? -3 : 5;
  x[K - 1] = 0x1.000002p-11f; /* more than half of the last bit of the sum */
  tsl_problem problem = tsl_problem_dot(K, TESELA_F32);
  const float ones[1] = {1};
  problem.b.row_stride = 0;
  const uint64_t bits = tree_bits(&problem, x, ones, NULL);
  const float expected = (float)((K - 1) / 2 * 2 + 0x1.000002p-11); /* rounded once, at the end */
  uint32_t expected_bits;
  memcpy(&expected_bits, &expected, sizeof expected_bits);
  assert_int_equal(bits, expected_bits);
  /* In doubles the pair keeps what plain sums lose. */
  double y[4] = {1e300, 1, -1e300, 0x1p-60}, unit[1] = {1}, exact = 1;
  uint64_t exact_bits;
  problem = tsl_problem_dot(4, TESELA_F64);
  problem.b.row_stride = 0;
  memcpy(&exact_bits, &exact, sizeof exact_bits);
  assert_int_equal(tree_bits(&problem, y, unit, NULL), exact_bits);
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_sums),       cmocka_unit_test(every_set),  cmocka_unit_test(masks),
      cmocka_unit_test(opencl_processor), cmocka_unit_test(opencl_gpu), cmocka_unit_test(cuda_gpu),
  };
  for (int i = 0; i < POOLS; i++)
    if (tsl_pool_create(i + 1, &pools[i]) != TESELA_OK)
      return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (int i = 0; i < POOLS; i++)
    tsl_pool_destroy(pools[i]);
  drop_cases();
  return failed;
}
