/* The planner, over the cpu and two mock devices. */
#include "unit/unit.h"

#include "core/status.h"
#include "planner/estimate.h"
#include "planner/planner.h"
#include "planner/predict.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/measured_choice.h"
#include "unit/mock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists mock:0, fast and large, and mock:1, which differs only in its memory of one mebibyte. */
static tesela_status list_mock(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device = mock_device;
  device.key[0] = '\0';
  device.link_bandwidth = 1e10;
  found(argument, &device);
  device.memory_bytes = (uint64_t)1 << 20;
  found(argument, &device);
  return TESELA_OK;
}

static const tsl_device_kind mock = {.kind = "mock", .what = "mock devices", .list = list_mock};

/* again:0 is the processor once more, and promises a thousand times its speed. */
static int again_listed;
static bool again_tells;

static tesela_status list_again(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device = mock_device;
  snprintf(device.key, sizeof device.key, "again/1");
  device.is_cpu = 1;
  device.capabilities |= TSL_CAN_SHARED_MEMORY;
  device.peak_f32 = device.peak_f64 = 1e15;
  again_listed++;
  found(argument, &device);
  return TESELA_OK;
}

static bool again_is_processor(void) {
  return again_tells;
}

static const tsl_device_kind again = {.kind = "again",
                                      .what = "the mock processor",
                                      .list = list_again,
                                      .start_least = 0.5,
                                      .is_processor = again_is_processor};

static tsl_devices *devices;

static int set_up(void **state) {
  (void)state;
  setenv("TESELA_CBLAS", "none", 1);
  setenv("TESELA_CACHE_SIZE", "0", 1); /* nor what another test found right on a device of this name */
  tsl_device_kind_add(&mock);
  tsl_device_kind_add(&again);
  return tsl_devices_create(&devices) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

static tsl_candidate *list(const tsl_problem *problem, const char *device, const char *strategy,
                           tsl_memory_place place, int *count) {
  const tsl_choice choice = {.devices = devices, .device = device, .strategy = strategy, .place = place};
  tsl_candidate *candidates;
  assert_int_equal(tsl_planner_list(problem, &choice, &candidates, count), TESELA_OK);
  return candidates;
}

static const tsl_candidate *find(const tsl_candidate *candidates, int count, const char *strategy,
                                 const char *device) {
  for (int i = 0; i < count; i++)
    if (strcmp(candidates[i].strategy->name, strategy) == 0 &&
        strcmp(candidates[i].device->name, device) == 0)
      return &candidates[i];
  return NULL;
}

static void all_pairs_are_listed_in_order(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(300, 300, 300, TESELA_F32);
  int strategies = 0, device_count = 0, count;
  for (int i = 0; tsl_strategy_at(i); i++)
    strategies += tsl_strategy_at(i)->op == TSL_OP_GEMM && !tsl_strategy_at(i)->vendor.load;
  while (tsl_devices_at(devices, device_count))
    device_count++;
  assert_true(device_count >= 3);
  tsl_candidate *candidates = list(&problem, NULL, NULL, TSL_PLACE_HOST, &count);
  assert_int_equal(count, strategies * device_count);
  for (int i = 0; i + 1 < count; i++) {
    assert_true(candidates[i].seconds <= candidates[i + 1].seconds);
    assert_true(!candidates[i].refusal[0] || candidates[i + 1].refusal[0]);
    assert_true(isinf(candidates[i].seconds) == (candidates[i].refusal[0] != 0));
  }
  assert_non_null(find(candidates, count, "sequential", "cpu"));
  assert_non_null(strstr(find(candidates, count, "element", "cpu")->refusal, "cpu"));
  assert_non_null(strstr(find(candidates, count, "sequential", "mock:0")->refusal, "mock:0"));
  free(candidates);
}

static int listed_vendors(const tsl_choice *choice, char refusal[192]) {
  const tsl_problem problem = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32);
  tsl_candidate *candidates;
  int count, vendors = 0;
  assert_int_equal(tsl_planner_list(&problem, choice, &candidates, &count), TESELA_OK);
  for (int i = 0; i < count; i++)
    if (candidates[i].strategy->vendor.load) {
      vendors++;
      memcpy(refusal, candidates[i].refusal, sizeof candidates[i].refusal);
    }
  free(candidates);
  return vendors;
}

/* The library is switched off, so that this says the same on every machine. */
static void vendors_are_listed_when_they_are_asked_for(void **state) {
  (void)state;
  int all = 0;
  char refusal[192] = "";
  for (int i = 0; tsl_strategy_at(i); i++)
    all += tsl_strategy_at(i)->op == TSL_OP_GEMM && tsl_strategy_at(i)->vendor.load;
  assert_true(all >= 4);
  assert_int_equal(listed_vendors(&(tsl_choice){.devices = devices, .device = "cpu"}, refusal), 0);
  assert_int_equal(
      listed_vendors(&(tsl_choice){.devices = devices, .device = "cpu", .vendors = true}, refusal), all);
  const tsl_choice named = {.devices = devices, .device = "cpu", .strategy = "vendor_openblas"};
  assert_int_equal(listed_vendors(&named, refusal), 1);
  assert_string_equal(
      refusal, "a CBLAS library is switched off: the library chosen is \"none\" (TESELA_CBLAS names it)");
  tsl_plan *plan;
  const tsl_problem problem = tsl_problem_gemm(3, 3, 3, TESELA_F32);
  assert_int_equal(tsl_tune_choose(&problem, &named, &plan), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), refusal));
}

static void the_environment_lets_vendors_in(void **state) {
  (void)state;
  unsetenv("TESELA_VENDORS");
  assert_false(tsl_planner_vendors());
  setenv("TESELA_VENDORS", "1", 1);
  assert_true(tsl_planner_vendors());
  setenv("TESELA_VENDORS", "0", 1);
  assert_false(tsl_planner_vendors());
}

/* A strategy that TESELA_EXCLUDE or "not ..." names is not listed, unless a call names it. An unknown name is
 * an error. */
static void the_environment_leaves_strategies_out(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  static const struct {
    const char *excluded, *named;
    int packed, skinny, right;
  } rows[] = {{"", NULL, 1, 1, 1},
              {"host_packed", NULL, 0, 1, 1},
              {" host_skinny,host_packed ", NULL, 0, 0, 1},
              {"host_packed", "host_packed", 1, 0, 1},
              {"host_pack", NULL, 0, 0, 0},
              {"host_packed,", NULL, 0, 1, 1},
              {"", "not host_packed", 0, 1, 1},
              {"host_skinny", "not host_packed, sequential", 0, 0, 1},
              {"", "not host_pack", 0, 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_choice from = {.devices = devices, .device = "cpu"};
    tsl_candidate *candidates;
    int count, packed = 0, skinny = 0;
    tsl_choice_set_strategy(&from, rows[i].named);
    setenv("TESELA_EXCLUDE", rows[i].excluded, 1);
    if (!rows[i].right) {
      assert_int_equal(tsl_planner_list(&problem, &from, &candidates, &count), TESELA_BAD_CALL);
      assert_non_null(strstr(tesela_last_error(), " \"host_pack\", which is no strategy"));
      continue;
    }
    assert_int_equal(tsl_planner_list(&problem, &from, &candidates, &count), TESELA_OK);
    for (int c = 0; c < count; c++) {
      packed += strcmp(candidates[c].strategy->name, "host_packed") == 0;
      skinny += strcmp(candidates[c].strategy->name, "host_skinny") == 0;
    }
    free(candidates);
    assert_int_equal(packed, rows[i].packed);
    assert_int_equal(skinny, rows[i].skinny);
  }
  unsetenv("TESELA_EXCLUDE");
}

static void large_products_go_to_the_fast_device(void **state) {
  (void)state;
  const tsl_problem large = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32),
                    small = tsl_problem_gemm(8, 8, 8, TESELA_F32);
  int count;
  tsl_candidate *candidates = list(&large, "auto", NULL, TSL_PLACE_HOST, &count);
  assert_string_equal(candidates[0].device->name, "mock:0");
  free(candidates);
  candidates = list(&small, NULL, NULL, TSL_PLACE_HOST, &count);
  assert_string_equal(candidates[0].device->name, "cpu");
  free(candidates);
}

static tsl_wisdom *record_for(const tsl_problem *problem, const char *device, double seconds, bool value) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "tile_local");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_device *on;
  tsl_wisdom *wisdom;
  tsl_text line = {0};
  assert_int_equal(tsl_devices_find(devices, device, &on), TESELA_OK);
  const tsl_wisdom_record record = tsl_wisdom_record_of(problem, strategy, &config, on, seconds, 0);
  tsl_wisdom_print(&record, &line);
  assert_int_equal(
      tsl_wisdom_from(value ? "" : tsl_text_get(&line), value ? tsl_text_get(&line) : "", &wisdom),
      TESELA_OK);
  tsl_text_free(&line);
  return wisdom;
}

/* "again" has the same cores as the cpu. Neither its model nor a record of another machine ranks it
 * before the cpu; only a record of this machine does. */
static void the_processor_does_not_beat_itself(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
  tsl_choice choice = {.devices = devices, .device = "auto"};
  const char *expected[] = {"cpu", "cpu", "again:0"};
  for (int way = 0; way < 3; way++) {
    tsl_candidate *candidates;
    int count;
    tsl_wisdom *wisdom = way ? record_for(&problem, "again:0", 1e-5, way == 2) : NULL;
    choice.wisdom = wisdom;
    assert_int_equal(tsl_planner_list(&problem, &choice, &candidates, &count), TESELA_OK);
    int first = 0; /* of these two devices */
    while (strncmp(candidates[first].device->name, "mock", 4) == 0 ||
           strncmp(candidates[first].device->name, "opencl", 6) == 0 ||
           strncmp(candidates[first].device->name, "cuda", 4) == 0)
      first++;
    assert_string_equal(candidates[first].device->name, expected[way]);
    free(candidates);
    tsl_wisdom_close(wisdom);
  }
  /* A device that the caller names is chosen, ranked by its model. */
  choice = (tsl_choice){.devices = devices, .device = "again:0"};
  tsl_candidate *candidates;
  int count;
  assert_int_equal(tsl_planner_list(&problem, &choice, &candidates, &count), TESELA_OK);
  assert_true(candidates[0].seconds < 1e-3);
  free(candidates);
}

static tsl_candidate first_of(const tsl_problem *problem, const tsl_choice *choice) {
  tsl_candidate *candidates;
  int count;
  assert_int_equal(tsl_planner_list(problem, choice, &candidates, &count), TESELA_OK);
  const tsl_candidate first = candidates[0];
  free(candidates);
  return first;
}

/* Plans with reproducible bits do not depend on measurements. */
static void repeated_bits_ignore_wisdom(void **state) {
  (void)state;
  for (int bits = TSL_REPRODUCIBILITY_ANY; bits <= TSL_REPRODUCIBILITY_DEVICES; bits++) {
    tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
    problem.ask.bits = (tsl_reproducibility)bits;
    const tsl_candidate before = first_of(&problem, &(tsl_choice){.devices = devices, .device = "again:0"});
    tsl_wisdom *wisdom = record_for(&problem, "again:0", 1e-5, true);
    const tsl_candidate with =
        first_of(&problem, &(tsl_choice){.devices = devices, .device = "again:0", .wisdom = wisdom});
    tsl_wisdom_close(wisdom);
    assert_string_not_equal(before.strategy->name, "tile_local");
    assert_string_equal(with.strategy->name,
                        bits == TSL_REPRODUCIBILITY_ANY ? "tile_local" : before.strategy->name);
  }
}

/* Which device is the fastest one is measured, too. Bits of all devices may come from any. */
static void repeated_bits_keep_to_the_processor(void **state) {
  (void)state;
  const char *expected[] = {[TSL_REPRODUCIBILITY_ANY] = "mock:0",
                            [TSL_REPRODUCIBILITY_RUN] = "cpu",
                            [TSL_REPRODUCIBILITY_THREADS] = "cpu",
                            [TSL_REPRODUCIBILITY_ROWS] = "cpu",
                            [TSL_REPRODUCIBILITY_DEVICES] = "mock:0"};
  for (int bits = TSL_REPRODUCIBILITY_ANY; bits <= TSL_REPRODUCIBILITY_DEVICES; bits++) {
    tsl_problem problem = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32);
    problem.ask.bits = (tsl_reproducibility)bits;
    const tsl_candidate first = first_of(&problem, &(tsl_choice){.devices = devices, .device = "auto"});
    assert_string_equal(first.device->name, expected[bits]);
    assert_string_equal(first.refusal, "");
    if (strcmp(expected[bits], "cpu") != 0)
      continue;
    int count;
    tsl_candidate *candidates = list(&problem, "auto", NULL, TSL_PLACE_HOST, &count);
    for (int i = 0; i < count; i++) /* nor does another device step in where the processor refuses */
      assert_string_equal(candidates[i].device->name, "cpu");
    free(candidates);
  }
}

/* Reproducible bits take the first strategy of a fixed order, which has a place for each one of the cpu. */
static void repeated_bits_have_an_order(void **state) {
  (void)state;
  static const struct {
    const char *excluded, *first;
    int64_t size;
    tesela_type type;
  } rows[] = {{NULL, "host_small", 64, TESELA_F32},
              {NULL, "host_packed", 600, TESELA_F32},
              {"host_packed", "blocked", 600, TESELA_F32},
              {"host_packed", "blocked", 600, TESELA_F64},
              {"host_packed, blocked", "residue_int8", 600, TESELA_F64},
              {"host_packed, blocked, residue_int8, exact", "sequential_optimized", 600, TESELA_F64}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_problem problem = tsl_problem_gemm(rows[i].size, rows[i].size, rows[i].size, rows[i].type);
    problem.ask.bits = TSL_REPRODUCIBILITY_THREADS;
    const tsl_choice choice = {.devices = devices, .device = "cpu", .exclude = rows[i].excluded};
    assert_string_equal(first_of(&problem, &choice).strategy->name, rows[i].first);
  }
  for (int op = 0; op < TSL_OP_COUNT; op++)
    for (int type = TESELA_F32; type <= TESELA_F64; type++) {
      tsl_problem problem = tsl_problem_of((tsl_op)op, 600, 600, 600, (tesela_type)type);
      int count;
      problem.ask.bits = TSL_REPRODUCIBILITY_THREADS;
      tsl_candidate *candidates = list(&problem, "cpu", NULL, TSL_PLACE_HOST, &count);
      for (int c = 0; c < count; c++)
        if (!candidates[c].refusal[0] && candidates[c].order >= 0)
          assert_string_equal(candidates[c].strategy->name, "host_small");
      free(candidates);
    }
}

/* All candidates of bits=rows add in one order, so that the choice among them moves no bit. */
static void rows_have_one_order(void **state) {
  tsl_problem problem = tsl_problem_gemm(40, 50, 700, TESELA_F32);
  int count, usable = 0;
  (void)state;
  problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
  tsl_candidate *candidates = list(&problem, "cpu", NULL, TSL_PLACE_HOST, &count);
  for (int i = 0; i < count; i++)
    if (!candidates[i].refusal[0]) {
      const char *order = tsl_strategy_row_order(candidates[i].strategy, &problem, &candidates[i].config,
                                                 candidates[i].device);
      assert_string_equal(order, "panels");
      usable++;
    }
  free(candidates);
  assert_true(usable > 0);
}

/* A device that opens and compiles for a second is not chosen for one product of a hundredth of a
 * second. */
static void starting_counts_for_few_runs(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32);
  tsl_choice choice = {.devices = devices, .device = "auto", .sparing = true};
  again_tells = true;
  tsl_candidate first = first_of(&problem, &choice);
  assert_string_equal(first.device->name, "mock:0");
  assert_true(first.start == 0);
  choice.runs = 1;
  first = first_of(&problem, &choice);
  assert_string_equal(first.device->name, "cpu");
  choice.device = "mock:0";
  first = first_of(&problem, &choice);
  assert_true(first.start > 0.1);
  tsl_problem steady = problem; /* with reproducible bits, a choice must not depend on earlier compilations */
  steady.ask.bits = TSL_REPRODUCIBILITY_RUN;
  first = first_of(&steady, &choice);
  assert_true(first.refusal[0] == '\0' && first.start == 0);
  choice.device = "auto";
  choice.runs = 1e6;
  first = first_of(&problem, &choice);
  assert_string_equal(first.device->name, "mock:0");
  assert_true(first.start > 0 && first.start < 1e-5);
}

/* Kinds whose devices cannot win are not searched. Devices that are the processor itself are not
 * searched even for large products, unless there is a record of a device other than the cpu. */
static void what_cannot_win_is_not_looked_for(void **state) {
  static const struct {
    int64_t size;
    double runs;
    bool tells, wise, sparing, listed;
  } rows[] = {
      {16, 0, false, false, true, false},  {16, 0, false, false, false, true},
      {3000, 0, false, false, true, true}, {3000, 0, true, false, true, false},
      {3000, 0, true, true, true, true},   {512, 0, false, false, true, true},
      {512, 1, false, false, true, false}, {3000, 0, true, false, false, true},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tsl_problem problem = tsl_problem_gemm(rows[i].size, rows[i].size, rows[i].size, TESELA_F32);
    tsl_choice choice = {.runs = rows[i].runs, .sparing = rows[i].sparing};
    tsl_wisdom *wisdom = rows[i].wise ? record_for(&problem, "again:0", 1, true) : NULL;
    again_tells = rows[i].tells;
    choice.wisdom = wisdom;
    assert_int_equal(tsl_devices_create(&choice.devices), TESELA_OK);
    again_listed = 0;
    first_of(&problem, &choice);
    if (again_listed != rows[i].listed)
      fail_msg("row %zu: looked for %d times", i, again_listed);
    tsl_devices_destroy(choice.devices);
    tsl_wisdom_close(wisdom);
  }
}

/* A caller of the public header says how often a plan runs, by the same rows. */
static void callers_say_how_often_a_plan_runs(void **state) {
  (void)state;
  again_tells = false;
  for (int64_t runs = 0; runs <= 1; runs++) {
    const tesela_gemm_desc desc = {.m = 512, .n = 512, .k = 512, .options.expected_runs = runs};
    tesela_context *context;
    tesela_plan *plan;
    assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
    again_listed = 0;
    assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
    assert_int_equal(again_listed, runs == 0);
    tesela_plan_destroy(plan);
    tesela_context_destroy(context);
  }
}

/* Equally likely times: the surer one is expected to be shorter; joined, the surer one has more weight. */
static void estimates_have_doubts(void **state) {
  (void)state;
  const tsl_estimate sure = {1, 0.1}, unsure = {1, 0.5}, other = {4, 0.1};
  assert_true(tsl_estimate_expected(sure) < tsl_estimate_expected(unsure));
  assert_true(fabs(tsl_estimate_expected(unsure) - exp(0.125)) < 1e-12);
  const tsl_estimate even = tsl_estimate_join(sure, other), uneven = tsl_estimate_join(unsure, other);
  assert_true(fabs(even.likely - 2) < 1e-12 && fabs(even.doubt - 0.1 / sqrt(2)) < 1e-12);
  assert_true(uneven.likely > 3.7 && uneven.likely < 4 && uneven.doubt < 0.1);
  const tsl_estimate product = tsl_estimate_times(sure, 3, 0.2);
  assert_true(product.likely == 3 && fabs(product.doubt - sqrt(0.05)) < 1e-12);
}

static void copies_cost(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1000, 1000, 1000, TESELA_F32);
  int count;
  tsl_candidate *here = list(&problem, "mock:0", "element", TSL_PLACE_DEVICE, &count);
  tsl_candidate *there = list(&problem, "mock:0", "element", TSL_PLACE_HOST, &count);
  assert_int_equal(count, 1);
  /* Twelve megabytes over the link, and three transfers of two launches each. */
  const double expected = 12e6 / 1e10 + 6 * here->device->launch_seconds;
  assert_true(here->device->launch_seconds > 0);
  assert_true(fabs(there->seconds - here->seconds - expected) < 1e-9);
  free(here);
  free(there);
}

static void memory_is_refused_with_numbers(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1000, 1000, 1000, TESELA_F32);
  int count;
  tsl_candidate *candidates = list(&problem, "mock:1", "element", TSL_PLACE_HOST, &count);
  assert_string_equal(candidates->refusal, "needs 11.4 MiB of memory on mock:1, but a plan may use 960 KiB");
  free(candidates);
  candidates = list(&problem, "mock:1", "element", TSL_PLACE_DEVICE, &count);
  assert_string_equal(candidates->refusal, "");
  free(candidates);
  const tsl_problem lopsided = tsl_problem_gemm((int64_t)5 << 30, 1, 1, TESELA_F32);
  candidates = list(&lopsided, "mock:0", "element", TSL_PLACE_HOST, &count);
  assert_non_null(strstr(candidates->refusal, "operand A needs 20 GiB, but mock:0 allocates at most 16 GiB"));
  free(candidates);
}

/* A strategy that distributes parts of a product takes operands in host memory only. */
static void parts_are_of_host_memory(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32);
  int count;
  tsl_candidate *candidates = list(&problem, "mock:0", NULL, TSL_PLACE_DEVICE, &count);
  assert_non_null(
      strstr(find(candidates, count, "streamed", "mock:0")->refusal, "takes operands in host memory"));
  free(candidates);
}

static void named_parameters_are_kept(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1000, 1000, 1000, TESELA_F32);
  static const char *const texts[] = {"tile_local tile=8", "gemm tile_local tile=8"};
  int count;
  for (int i = 0; i < 2; i++) {
    tsl_candidate *candidates = list(&problem, "mock:0", texts[i], TSL_PLACE_HOST, &count);
    assert_int_equal(count, 1);
    assert_int_equal(candidates->config.value[0], 8);
    assert_string_equal(candidates->refusal, "");
    free(candidates);
  }
  /* Where bits are to come again, the others are the defaults. */
  tsl_problem repeated = problem;
  repeated.ask.bits = TSL_REPRODUCIBILITY_RUN;
  tsl_candidate *blocked = list(&repeated, "cpu", "blocked depth=128", TSL_PLACE_HOST, &count);
  const tsl_config defaults = tsl_strategy_defaults(blocked->strategy);
  for (int i = 0; i < tsl_strategy_params(blocked->strategy); i++)
    assert_int_equal(blocked->config.value[i],
                     strcmp(blocked->strategy->params[i].name, "depth") == 0 ? 128 : defaults.value[i]);
  free(blocked);
  /* Free ones go to the model's favourite. */
  tsl_candidate *candidates = list(&problem, "mock:0", "tile_local", TSL_PLACE_HOST, &count);
  const tsl_strategy *strategy = candidates->strategy;
  tsl_config config;
  for (int i = 0; tsl_strategy_config(strategy, i, &config); i++)
    if (!tsl_strategy_refuse(strategy, &problem, &config, candidates->device))
      assert_true(strategy->score(&problem, &config, candidates->device) >=
                  strategy->score(&problem, &candidates->config, candidates->device));
  free(candidates);
}

static const struct {
  const char *device, *strategy;
  tesela_status status;
  const char *names;
} bad_choices[] = {
    {NULL, "", TESELA_BAD_INPUT, "name"},
    {NULL, "fastest", TESELA_BAD_INPUT, "'fastest' is not a strategy for gemm: there are sequential"},
    {NULL, "tile_local block=4", TESELA_BAD_INPUT, "no parameter 'block': it has tile"},
    {NULL, "sequential tile=4", TESELA_BAD_INPUT, "it has none"},
    {NULL, "tile_local tile=500", TESELA_BAD_INPUT, "tile=500"},
    {NULL, "tile_local element", TESELA_BAD_INPUT, "'element'"},
    {NULL, "gemm", TESELA_BAD_INPUT, "'gemm'"},
    {"mock:2", NULL, TESELA_NO_DEVICE, "mock:2"},
    {"tpu", NULL, TESELA_BAD_CALL, "tpu"},
};

static void bad_choices_are_named(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3, 3, 3, TESELA_F32);
  for (size_t i = 0; i < sizeof bad_choices / sizeof *bad_choices; i++) {
    const tsl_choice choice = {
        .devices = devices, .device = bad_choices[i].device, .strategy = bad_choices[i].strategy};
    tsl_candidate *candidates;
    tsl_plan *plan;
    int count;
    assert_int_equal(tsl_planner_list(&problem, &choice, &candidates, &count), bad_choices[i].status);
    assert_null(candidates);
    if (!strstr(tesela_last_error(), bad_choices[i].names))
      fail_msg("'%s' does not name %s", tesela_last_error(), bad_choices[i].names);
    assert_int_equal(tsl_tune_choose(&problem, &choice, &plan), bad_choices[i].status);
    assert_null(plan);
  }
}

static void what_cannot_be_built_is_put_aside(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3000, 3000, 3000, TESELA_F32);
  tsl_choice choice = {.devices = devices};
  tsl_plan *plan;
  assert_int_equal(tsl_tune_choose(&problem, &choice, &plan), TESELA_OK);
  assert_string_not_equal(plan->work.device->kind, "mock");
  tsl_plan_destroy(plan);
  choice.strategy = "element"; /* then the caller hears about it */
  choice.device = "mock:0";
  assert_int_equal(tsl_tune_choose(&problem, &choice, &plan), TESELA_DEVICE_FAILED);
  assert_string_equal(tesela_last_error(), "mock:0: a mock, which does not open");
  choice.strategy = NULL; /* and when nothing is left */
  assert_int_equal(tsl_tune_choose(&problem, &choice, &plan), TESELA_DEVICE_FAILED);
  assert_null(plan);
}

static void all_refusing_say_why(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3, 3, 3, TESELA_I32);
  const tsl_choice choice = {.devices = devices, .device = "cpu"};
  tsl_plan *plan;
  assert_int_equal(tsl_tune_choose(&problem, &choice, &plan), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "A is i32, which no strategy supports in a gemm"));
  assert_null(plan);
}

static void wrong_problems_are_refused(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(3, 3, 3, TESELA_F32);
  const tsl_choice choice = {.devices = devices};
  tsl_candidate *candidates;
  int count;
  problem.n = -1;
  assert_int_equal(tsl_planner_list(&problem, &choice, &candidates, &count), TESELA_BAD_CALL);
}

/* The problem alone decides which strategy gives the bits of all devices. Other strategies that
 * promise bits of their own are chosen only by name. */
static void bits_of_all_devices_are_one_strategy_s(void **state) {
  (void)state;
  static const struct {
    tesela_type type;
    const char *accuracy, *bias, *expected, *other; /* other: promises bits of its own */
  } rows[] = {{TESELA_F32, "default", NULL, "exact", "residue_int8"},
              {TESELA_F64, "1e-3", NULL, "exact", "residue_int8"},
              {TESELA_F32, "default", "row", "exact", "residue_int8"},
              {TESELA_C64, "default", NULL, "residue_int8", NULL},
              {TESELA_F16, "exact", NULL, "exact", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_problem problem = tsl_problem_gemm(2048, 2048, 2048, rows[i].type);
    int count;
    problem.ask.bits = TSL_REPRODUCIBILITY_DEVICES;
    assert_int_equal(tsl_numeric_requirements_parse_accuracy(rows[i].accuracy, &problem.ask), TESELA_OK);
    if (rows[i].bias)
      tsl_problem_add_bias(&problem, TESELA_BIAS_ROW, rows[i].type, 1);
    tsl_candidate *candidates = list(&problem, "cpu", NULL, TSL_PLACE_HOST, &count);
    assert_string_equal(candidates[0].strategy->name, rows[i].expected);
    assert_string_equal(tsl_same_bits_of(&problem)->name, rows[i].expected);
    assert_true(count == 1 || candidates[1].refusal[0]);
    if (rows[i].other)
      assert_non_null(
          strstr(find(candidates, count, rows[i].other, "cpu")->refusal, "gives other bits than exact"));
    free(candidates);
    if (!rows[i].other)
      continue;
    candidates = list(&problem, "cpu", rows[i].other, TSL_PLACE_HOST, &count);
    assert_string_equal(candidates[0].refusal, "");
    free(candidates);
  }
}

/* Sums of integers are exact by every strategy, so the fastest strategy is chosen. */
static void exact_bits_are_whose_time_is_least(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(700, 700, 700, TESELA_I8);
  problem.c.type = TESELA_I32;
  problem.ask.bits = TSL_REPRODUCIBILITY_DEVICES;
  int count;
  tsl_candidate *candidates = list(&problem, "cpu", NULL, TSL_PLACE_HOST, &count);
  assert_true(count > 2 && !candidates[1].refusal[0]);
  for (int i = 0; i + 1 < count && !candidates[i + 1].refusal[0]; i++)
    assert_true(tsl_candidate_seconds(&candidates[i]) <= tsl_candidate_seconds(&candidates[i + 1]));
  assert_string_not_equal(candidates[0].strategy->name, "sequential");
  free(candidates);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_pairs_are_listed_in_order),
      cmocka_unit_test(vendors_are_listed_when_they_are_asked_for),
      cmocka_unit_test(the_environment_lets_vendors_in),
      cmocka_unit_test(the_environment_leaves_strategies_out),
      cmocka_unit_test(large_products_go_to_the_fast_device),
      cmocka_unit_test(the_processor_does_not_beat_itself),
      cmocka_unit_test(starting_counts_for_few_runs),
      cmocka_unit_test(what_cannot_win_is_not_looked_for),
      cmocka_unit_test(callers_say_how_often_a_plan_runs),
      cmocka_unit_test(estimates_have_doubts),
      cmocka_unit_test(copies_cost),
      cmocka_unit_test(memory_is_refused_with_numbers),
      cmocka_unit_test(named_parameters_are_kept),
      cmocka_unit_test(parts_are_of_host_memory),
      cmocka_unit_test(bad_choices_are_named),
      cmocka_unit_test(what_cannot_be_built_is_put_aside),
      cmocka_unit_test(all_refusing_say_why),
      cmocka_unit_test(wrong_problems_are_refused),
      cmocka_unit_test(repeated_bits_ignore_wisdom),
      cmocka_unit_test(repeated_bits_keep_to_the_processor),
      cmocka_unit_test(repeated_bits_have_an_order),
      cmocka_unit_test(rows_have_one_order),
      cmocka_unit_test(bits_of_all_devices_are_one_strategy_s),
      cmocka_unit_test(exact_bits_are_whose_time_is_least),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
