/* Text that precedes a kernel's text: only the parameters that the kernel uses. So configs that
 * differ in other parameters share one text, which is compiled once. */
#include "core/clock.h"
#include "core/pool.h"
#include "core/status.h"
#include "device/reserved_units.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static tsl_devices *devices;

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) == TESELA_OK ? 0 : 1;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

static tsl_config config_of(const tsl_strategy *strategy, const char *text) {
  tsl_record record;
  tsl_config config = tsl_strategy_defaults(strategy);
  assert_int_equal(tsl_record_parse(text, &record), TESELA_OK);
  assert_int_equal(tsl_config_parse(strategy, &record, &config, NULL), TESELA_OK);
  tsl_record_free(&record);
  return config;
}

/* The plan's texts, and what compilers took for them. */
static tsl_hash source_of(const char *text, double *seconds) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_DOT, "exact");
  const tsl_problem problem = tsl_problem_dot(1000, TESELA_F32);
  const tsl_config config = config_of(strategy, text);
  tsl_device *device;
  tsl_plan *plan;
  assert_int_equal(tsl_devices_find(devices, "opencl:0", &device), TESELA_OK);
  assert_int_equal(tsl_planner_create(&problem, strategy, &config, device, TSL_PLACE_HOST, &plan), TESELA_OK);
  const tsl_hash source = plan->work.source_hash;
  *seconds = plan->work.build_seconds;
  tsl_plan_destroy(plan);
  return source;
}

/* `groups` is the host's, `group` the kernel's. */
static void configs_share_what_they_can(void **state) {
  (void)state;
  double first, second, third;
  const tsl_hash a = source_of("exact groups=4 group=128", &first),
                 b = source_of("exact groups=2 group=128", &second),
                 c = source_of("exact groups=2 group=256", &third);
  assert_true(a.high == b.high && a.low == b.low);
  assert_true(second == 0);
  assert_false(b.high == c.high && b.low == c.low);
}

/* Kernels of a thread leave the reserved units free, and keep at least half of the device. Other
 * threads' kernels use all units. */
static void *count_units(void *units) {
  *(int *)units = tsl_launch_units(&(tsl_device){.compute_units = 132});
  return NULL;
}

static void units_are_spared(void **state) {
  static const int asked[] = {0, 28, 66, 500}, left[] = {132, 104, 66, 66};
  const tsl_device device = {.compute_units = 132}, tiny = {.compute_units = 1};
  (void)state;
  for (int i = 0; i < 4; i++) {
    pthread_t other;
    int all = 0;
    tsl_reserve_units(asked[i]);
    assert_int_equal(tsl_launch_units(&device), left[i]);
    assert_int_equal(tsl_launch_units(&tiny), 1);
    assert_int_equal(pthread_create(&other, NULL, count_units, &all), 0);
    pthread_join(other, NULL);
    assert_int_equal(all, 132);
  }
  tsl_reserve_units(0);
}

static void a_word_is_a_whole_word(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_DOT, "exact");
  const tsl_config config = config_of(strategy, "exact groups=2 group=128");
  static const struct {
    const char *kernel;
    bool group, groups;
  } texts[] = {{"x = TSL_PARAM_GROUP;", true, false},
               {"x = TSL_PARAM_GROUPS + y", false, true},
               {"TSL_PARAM_GROUPS TSL_PARAM_GROUP", true, true},
               {"TSL_PARAM_GROUP_SIZE", false, false},
               {"", false, false},
               {NULL, true, true}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tsl_text text = {0};
    tsl_launch_defines(TESELA_F32, strategy, &config, texts[i].kernel, &text);
    assert_int_equal(strstr(tsl_text_get(&text), "TSL_PARAM_GROUP 128\n") != NULL, texts[i].group);
    assert_int_equal(strstr(tsl_text_get(&text), "TSL_PARAM_GROUPS 2\n") != NULL, texts[i].groups);
    tsl_text_free(&text);
  }
}

/* Modules that were compiled ahead are found in memory. A failure is reported by the function that needs the
 * module. */
static void modules_compiled_ahead_are_not_compiled_again(void **state) {
  (void)state;
  char unique[64], broken[96];
  snprintf(unique, sizeof unique, "#define AHEAD_%llu 1\n", (unsigned long long)(tsl_clock() * 1e9));
  snprintf(broken, sizeof broken, "%s#error broken on purpose\n", unique);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  tsl_work work = {.strategy = strategy,
                   .problem = tsl_problem_gemm(16, 16, 16, TESELA_F32),
                   .config = tsl_strategy_defaults(strategy)};
  static const char path[] = "strategy/gemm/ladder/element/element.cl", name[] = "tsl_gemm_element";
  const tsl_launch_module modules[] = {{path, unique}, {path, broken}};
  tsl_kernel *kernel;
  assert_int_equal(tsl_devices_find(devices, "opencl:0", &work.device), TESELA_OK);
  assert_int_equal(tsl_device_open(work.device), TESELA_OK);
  tsl_launch_compile_ahead(&work, modules, 2);
  const bool has_threads = tsl_pool_default_threads() > 1;
  assert_int_equal(work.build_seconds > 0, has_threads);
  const double seconds = work.build_seconds;
  assert_int_equal(tsl_launch_kernel_with(&work, path, name, 1, unique, &kernel), TESELA_OK);
  assert_int_equal(work.build_seconds == seconds, has_threads);
  assert_int_not_equal(tsl_launch_kernel_with(&work, path, name, 1, broken, &kernel), TESELA_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(configs_share_what_they_can),
      cmocka_unit_test(units_are_spared),
      cmocka_unit_test(a_word_is_a_whole_word),
      cmocka_unit_test(modules_compiled_ahead_are_not_compiled_again),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
