/* Values of parameters that only a user sets, by name: values outside the listed ones, work-groups
 * of any size, relaxed arithmetic. The judge checks their results. Walks, searches and the planner
 * never choose them on their own. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "judge/check.h"
#include "planner/planner.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static tsl_devices *devices;

static tsl_device *with_kernels(void) {
  tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++)
    if (device->capabilities & TSL_CAN_KERNELS)
      return device;
  fail_msg("there is no device with kernels");
  return NULL;
}

/* Sizes that no group fits, ordinary data and special ones, C read and not; one type for each config, as each
 * is compiled. */
static void judge(tsl_op op, const char *name, const char *text, tesela_type type) {
  static const int64_t sizes[][3] = {{1, 1, 1}, {8, 8, 8}, {13, 37, 300}, {259, 5, 33}};
  static const tsl_data data[] = {TSL_DATA_NORMAL, TSL_DATA_SPECIAL};
  const tsl_strategy *strategy = tsl_strategy_find(op, name);
  const tsl_config config = config_of(strategy, text);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int turn = 0; turn < 2; turn++) {
      tsl_case what = {.problem = tsl_problem_of(op, sizes[i][0], sizes[i][1], sizes[i][2], type),
                       .data = data[turn],
                       .seed = 7 + i};
      tsl_case_report report;
      if (op != TSL_OP_TRANSPOSE)
        what.problem.beta[0] = i & 1;
      assert_int_equal(tsl_check_case(strategy, &config, with_kernels(), &what, &report), TESELA_OK);
      if (report.result != TSL_CASE_RIGHT)
        fail_msg("%s %s, %lld x %lld x %lld, turn %d: %s", name, text, (long long)sizes[i][0],
                 (long long)sizes[i][1], (long long)sizes[i][2], turn, report.why);
    }
}

static void groups_of_any_size(void **state) {
  (void)state;
  judge(TSL_OP_GEMM, "element", "columns=50 rows=3", TESELA_F32);
  judge(TSL_OP_GEMM, "row", "items=250", TESELA_F64);
  judge(TSL_OP_GEMM, "row_private", "items=250 panel=7", TESELA_F32);
  judge(TSL_OP_GEMM, "row_private_column_local", "items=3 panel=5", TESELA_F64);
  judge(TSL_OP_GEMM, "tile_local", "tile=4", TESELA_F32);
  judge(TSL_OP_GEMM, "tile_local", "tile=11", TESELA_F64);
  judge(TSL_OP_TRANSPOSE, "element", "columns=25 rows=10", TESELA_F32);
  judge(TSL_OP_DOT, "block_tree", "groups=3 group=1", TESELA_F64);
  judge(TSL_OP_DOT, "block_tree", "groups=3 group=6", TESELA_F32);
  judge(TSL_OP_DOT, "block_tree", "groups=5 group=11", TESELA_F64);
}

/* Relaxed arithmetic keeps every guarantee except for NaN and infinity. C is not read if beta is 0. */
static void relaxed_arithmetic(void **state) {
  (void)state;
  static const char *const names[] = {"element", "row", "row_private", "row_private_column_local",
                                      "tile_local"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, names[i]);
    const tsl_problem problem = tsl_problem_gemm(100, 100, 100, TESELA_F32);
    const tsl_config config = config_of(strategy, "relaxed=1"), plain = tsl_strategy_defaults(strategy);
    assert_true(strategy->accuracy(&problem, &config).finite_only);
    assert_false(strategy->accuracy(&problem, &plain).finite_only);
    judge(TSL_OP_GEMM, names[i], "relaxed=1", i & 1 ? TESELA_F64 : TESELA_F32);
  }
}

/* Build options that the device's compiler received. */
static char options_seen[128];
static const tsl_device_ops *real_ops;
static tesela_status build_and_see(tsl_device *device, const tsl_build *build, tsl_binary *binary) {
  snprintf(options_seen, sizeof options_seen, "%s", build->options);
  return real_ops->build(device, build, binary);
}

static void the_compiler_is_told(void **state) {
  (void)state;
  /* Without what earlier runs of this test compiled. */
  char folder[] = "/tmp/tesela-test-XXXXXX", removal[64];
  char *const before = strdup(getenv("TESELA_CACHE_DIR") ? getenv("TESELA_CACHE_DIR") : "");
  assert_non_null(mkdtemp(folder));
  setenv("TESELA_CACHE_DIR", folder, 1);
  tsl_device *device = with_kernels();
  tsl_device_ops ops = *device->ops;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  assert_int_equal(tsl_device_open(device), TESELA_OK);
  real_ops = device->ops;
  ops.build = build_and_see;
  device->ops = &ops;
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    tsl_work work = {.strategy = strategy,
                     .problem = tsl_problem_gemm(64, 64, 64, TESELA_F32),
                     .config =
                         config_of(strategy, relaxed ? "columns=19 rows=7 relaxed=1" : "columns=19 rows=7"),
                     .device = device};
    strcpy(options_seen, "not compiled");
    assert_int_equal(strategy->build(&work), TESELA_OK);
    assert_string_equal(options_seen, relaxed ? device->ops->relaxed_option : "");
    strategy->release(&work);
  }
  device->ops = real_ops;
  setenv("TESELA_CACHE_DIR", before, 1);
  free(before);
  snprintf(removal, sizeof removal, "rm -r %s", folder);
  assert_int_equal(system(removal), 0);
}

static void others_are_refused(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(100, 100, 100, TESELA_F32);
  const tsl_strategy *element = tsl_strategy_find(TSL_OP_GEMM, "element"),
                     *tile = tsl_strategy_find(TSL_OP_GEMM, "tile_local"),
                     *row = tsl_strategy_find(TSL_OP_GEMM, "row");
  assert_refused_for(element, "columns=128 rows=128", &graphics, &problem,
                     "128 x 128 work-items a group are more than the 1024 of mock:0");
  assert_refused_for(element, "columns=1 rows=1025", &graphics, &problem, "more than the 1024");
  assert_refused_for(tile, "tile=33", &graphics, &problem,
                     "33 x 33 work-items a group are more than the 1024");
  assert_refused_for(tile, "tile=90", &graphics, &problem, "bytes of local memory, mock:0 has 49152");
  assert_refused_for(row, "items=1250", &graphics, &problem, "more than the 1024");
  tsl_config config = tsl_strategy_defaults(tile);
  config.value[0] = 129;
  const char *why = tsl_strategy_refuse(tile, &problem, &config, &graphics);
  assert_non_null(why);
  assert_string_equal(why, "tile=129 is not one of 8, 16, 32, or any number from 1 to 128");
  tsl_record record;
  assert_int_equal(tsl_record_parse("tile=0", &record), TESELA_OK);
  assert_int_equal(tsl_config_parse(tile, &record, &config, NULL), TESELA_BAD_INPUT);
  assert_non_null(strstr(tesela_last_error(), "or any number from 1 to 128"));
  tsl_record_free(&record);
}

/* Walks take listed values only, except for parameters that a caller fixes. A config's text omits
 * such a parameter unless it was set. */
static void nobody_takes_them_unasked(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(100, 100, 100, TESELA_F32);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  int count = 0;
  for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, &graphics, &walk); count++)
    assert_int_equal(value_of(strategy, &walk.config, "relaxed"), 0);
  assert_int_equal(count, 9);
  count = 0;
  tsl_walk fixed = {.config = config_of(strategy, "columns=50"), .fixed = 1};
  for (; tsl_strategy_walk(strategy, &problem, &graphics, &fixed); count++)
    assert_int_equal(value_of(strategy, &fixed.config, "columns"), 50);
  assert_int_equal(count, 3);
  tsl_text text = {0};
  const tsl_config plain = tsl_strategy_defaults(strategy), relaxed = config_of(strategy, "relaxed=1");
  tsl_config_print(strategy, &plain, &text);
  assert_string_equal(tsl_text_get(&text), "element columns=16 rows=16");
  tsl_config_print(strategy, &relaxed, &text);
  assert_non_null(strstr(tsl_text_get(&text), "rows=16 relaxed=1"));
  tsl_text_free(&text);
}

/* A request for such a value is planned as it was said, with a prediction. */
static void the_planner_takes_a_request(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_choice choice = {.devices = devices,
                             .device = with_kernels()->name,
                             .strategy = "tile_local tile=4 relaxed=1",
                             .place = TSL_PLACE_DEVICE};
  tsl_candidate *candidates;
  int count;
  assert_int_equal(tsl_planner_list(&problem, &choice, &candidates, &count), TESELA_OK);
  assert_int_equal(count, 1);
  assert_string_equal(candidates[0].refusal, "");
  assert_true(isfinite(candidates[0].seconds));
  assert_int_equal(value_of(candidates[0].strategy, &candidates[0].config, "tile"), 4);
  free(candidates);
}

static int open_devices(void **state) {
  (void)state;
  return tsl_devices_create(&devices) != TESELA_OK;
}

static int close_devices(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_of_any_size),        cmocka_unit_test(relaxed_arithmetic),
      cmocka_unit_test(the_compiler_is_told),      cmocka_unit_test(others_are_refused),
      cmocka_unit_test(nobody_takes_them_unasked), cmocka_unit_test(the_planner_takes_a_request),
  };
  return cmocka_run_group_tests(tests, open_devices, close_devices);
}
