/* Self-tests before use: a kernel with a mistake never returns a result to a user. The outcome of
 * its self-test is cached, and the next best plan replaces it. The mistakes are planted in a copy
 * of the kernels' sources. */
#include "unit.h"

#include "core/status.h"
#include "device/jit_cache.h"
#include "judge/check.h"
#include "planner/kernel_self_test.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "scratch.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/measured_choice.h"
#include "unit/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60 };
static scratch tree, cache;
static float x[N * N], y[N * N], z[N * N];

/* Puts `by` in the place of `words` in a kernel's file of the copied tree. */
static void plant(const char *file, const char *words, const char *by) {
  char path[PATH_MAX];
  static char text[1 << 16];
  tsl_text changed = {0};
  snprintf(path, sizeof path, TESELA_SOURCE_DIR "/%s", file);
  FILE *in = fopen(path, "r");
  scratch_require(in != NULL, path);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  fclose(in);
  const char *at = strstr(text, words);
  if (!at)
    fail_msg("%s has no '%s' any more: plant another mistake", file, words);
  tsl_text_add(&changed, "%.*s%s%s", (int)(at - text), text, by, at + strlen(words));
  scratch_write(&tree, file, tsl_text_get(&changed));
  tsl_text_free(&changed);
}

static int set_up(void **state) {
  (void)state;
  char command[3 * PATH_MAX];
  scratch_create(&tree);
  scratch_create(&cache);
  snprintf(command, sizeof command, "cp -r '%s/src' '%s'", TESELA_SOURCE_DIR, tree.folder);
  scratch_require(system(command) == 0, command);
  setenv("TESELA_KERNEL_DIR", tree.folder, 1);
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  for (int i = 0; i < N * N; i++) {
    x[i] = (float)(i % 13) - 6;
    y[i] = (float)(i % 7) - 3;
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  unsetenv("TESELA_KERNEL_DIR");
  unsetenv("TESELA_SELFTEST");
  scratch_remove(&tree);
  scratch_remove(&cache);
  return 0;
}

/* z = x y by `element`, in a new context; what came of it. */
static tesela_status multiply(void) {
  tesela_context *context;
  const tesela_gemm_desc desc = {.m = N,
                                 .n = N,
                                 .k = N,
                                 .a = {.data = x},
                                 .b = {.data = y},
                                 .c = {.data = z},
                                 .options.device = "opencl:0",
                                 .options.strategy = "element"};
  must(tesela_context_create(NULL, &context));
  const tesela_status status = tesela_gemm(context, &desc, NULL);
  tesela_context_destroy(context);
  return status;
}

static bool is_right(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int l = 0; l < N; l++)
        sum += x[i * N + l] * y[l * N + j];
      if (z[i * N + j] != sum)
        return false;
    }
  return true;
}

static void expect_wrong(void) {
  for (int i = 0; i < N * N; i++)
    z[i] = -1000;
  assert_int_equal(multiply(), TESELA_WRONG_RESULT);
  assert_non_null(strstr(tesela_last_error(), "element on opencl:0 failed its self-test"));
  for (int i = 0; i < N * N; i++)
    assert_true(z[i] == -1000);
}

static const struct {
  const char *file, *words, *by;
} mistakes[] = {
    {"src/strategy/gemm/ladder/element/element.cl", "sum, g.alpha", "sum + 1, g.alpha"},
    /* reads C where it must not */
    {"src/kernel/kernel_epilogue.h", "beta == 0 ? scaled :", ""},
    /* an edge only */
    {"src/strategy/gemm/ladder/element/element.cl", "sum, g.alpha",
     "(g.n % 2 == 1 && col == g.n - 1 ? 0 : sum), g.alpha"},
    /* right for integers only */
    {"src/strategy/gemm/ladder/element/element.cl", "sum, g.alpha", "(TSL_REAL)(int)sum, g.alpha"},
};

static void wrong_kernels_never_give_a_result(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    plant(mistakes[i].file, mistakes[i].words, mistakes[i].by);
    expect_wrong();
    plant(mistakes[i].file, mistakes[i].words, mistakes[i].words);
  }
  must(multiply());
  assert_true(is_right());
  assert_int_equal(tsl_self_test_counts().wrong, 4);
  assert_int_equal(tsl_self_test_counts().right, 1);
}

/* A wrong one is known to be wrong in the next context, and another device key is another device. */
static void trials_are_remembered(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(N, N, N, TESELA_F32);
  tsl_devices *devices;
  tsl_plan *plan;
  plant(mistakes[0].file, mistakes[0].words, mistakes[0].by);
  expect_wrong();
  expect_wrong();
  plant(mistakes[0].file, mistakes[0].words, mistakes[0].words);
  assert_int_equal(tsl_self_test_counts().wrong, 4);
  must(tsl_devices_create(&devices));
  const tsl_choice choice = {.devices = devices, .device = "opencl:0", .strategy = "element"};
  must(tsl_tune_choose(&problem, &choice, &plan));
  assert_true(plan->was_tried && plan->self_test.right && plan->self_test_seconds == 0);
  assert_true(strlen(plan->self_test.date) == 20);
  snprintf(plan->work.device->key, sizeof plan->work.device->key, "another/driver");
  must(tsl_self_test_plan(plan));
  assert_true(plan->was_tried && plan->self_test.right && plan->self_test_seconds > 0);
  tsl_plan_destroy(plan);
  tsl_devices_destroy(devices);
  assert_int_equal(tsl_self_test_counts().right, 2);
}

static tesela_status build_by_parity(tsl_work *work) {
  const bool odd = work->problem.m % 2 != 0;
  tsl_grid grid;
  tsl_launch_grid(work->device, work->problem.n, work->problem.m, 16, 16, &grid);
  return tsl_launch_build_with(work, "strategy/gemm/ladder/element/element.cl", "tsl_gemm_element", &grid,
                               TESELA_F32, odd ? "#define ODD 1\n" : "#define EVEN 1\n");
}

static void count_kernel(void *argument, const tsl_jit_entry *entry) {
  int *count = argument;
  *count += strcmp(entry->name, "gemm/by_parity") == 0;
}

/* Kernels that are made for other sizes are not tried: none is compiled for it, and odd cases are left out.
 */
static void a_trial_compiles_nothing(void **state) {
  (void)state;
  tsl_strategy by_parity = *tsl_strategy_find(TSL_OP_GEMM, "element");
  const tsl_config config = tsl_strategy_defaults(&by_parity);
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  tsl_devices *devices;
  tsl_device *device;
  tsl_plan *plan;
  int count = 0;
  by_parity.name = "by_parity";
  by_parity.build = build_by_parity;
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "opencl:0", &device));
  must(tsl_planner_create(&problem, &by_parity, &config, device, TSL_PLACE_HOST, &plan));
  must(tsl_self_test_plan(plan));
  assert_true(plan->was_tried && plan->self_test.right && plan->self_test_seconds > 0);
  must(tsl_jit_list(count_kernel, &count));
  assert_int_equal(count, 1);
  tsl_plan_destroy(plan);
  tsl_devices_destroy(devices);
}

static void self_tests_can_be_switched_off(void **state) {
  (void)state;
  setenv("TESELA_SELFTEST", "0", 1);
  plant(mistakes[0].file, mistakes[0].words, mistakes[0].by);
  must(multiply());
  assert_false(is_right());
  plant(mistakes[0].file, mistakes[0].words, mistakes[0].words);
  unsetenv("TESELA_SELFTEST");
}

/* Mistakes in the kernels that a dot may be planned with. */
static const struct {
  const char *name, *file, *words, *by;
} dots[] = {
    {"fixed_tree", "src/strategy/dot/portable/fixed_tree/fixed_tree.cl",
     "tsl_round_to_result(result == result ? result", "tsl_round_to_result(result == result ? 1"},
    {"block_tree", "src/strategy/dot/portable/block_tree/block_tree.cl", "sum, g.alpha", "sum + 1, g.alpha"},
    {"exact", "src/strategy/dot/emulated/exact/dot_exact.cl", "(TSL_REAL)result", "(TSL_REAL)1"},
};

static void the_next_best_takes_the_place(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_of(TSL_OP_DOT, 1, 1, 1000, TESELA_F32);
  tsl_devices *devices;
  tsl_candidate *list;
  tsl_plan *plan;
  size_t best = 0;
  int count;
  must(tsl_devices_create(&devices));
  const tsl_choice choice = {.devices = devices, .device = "opencl:0"};
  must(tsl_planner_list(&problem, &choice, &list, &count));
  assert_true(count > 1 && !list[1].refusal[0]);
  while (best < 2 && strcmp(dots[best].name, list[0].strategy->name) != 0)
    best++;
  plant(dots[best].file, dots[best].words, dots[best].by);
  must(tsl_planner_take(&problem, &choice, list, count, &plan));
  assert_ptr_equal(plan->work.strategy, list[1].strategy);
  assert_true(plan->was_tried && plan->self_test.right);
  assert_non_null(strstr(list[0].refusal, "skipped"));
  assert_non_null(strstr(list[0].refusal, "self-test"));
  plant(dots[best].file, dots[best].words, dots[best].words);
  tsl_plan_destroy(plan);
  free(list);
  tsl_devices_destroy(devices);
}

/* A device whose key no record and no self-test knows: a config by the model, that is tried before it is
 * used. */
static void a_device_that_nobody_knows(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_of(TSL_OP_DOT, 1, 1, 1000, TESELA_F32);
  tsl_devices *devices;
  tsl_device *device;
  tsl_wisdom *wisdom;
  tsl_candidate *list;
  tsl_plan *plan;
  tsl_text lines = {0};
  int count;
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "opencl:0", &device));
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_DOT) {
      const tsl_config config = tsl_strategy_defaults(tsl_strategy_at(i));
      const tsl_wisdom_record record =
          tsl_wisdom_record_of(&problem, tsl_strategy_at(i), &config, device, 1e-8, 0);
      tsl_wisdom_print(&record, &lines);
      tsl_text_add(&lines, "\n");
    }
  must(tsl_wisdom_from(tsl_text_get(&lines), "", &wisdom));
  const tsl_choice choice = {.devices = devices, .device = "opencl:0", .wisdom = wisdom};
  must(tsl_planner_list(&problem, &choice, &list, &count));
  assert_int_equal(list[0].basis, TSL_BASIS_EXACT);
  free(list);
  snprintf(device->key, sizeof device->key, "nobody/knows/1.0");
  must(tsl_planner_list(&problem, &choice, &list, &count));
  for (int i = 0; i < count; i++)
    assert_int_equal(list[i].basis, TSL_BASIS_MODEL);
  must(tsl_planner_take(&problem, &choice, list, count, &plan));
  assert_true(plan->was_tried && plan->self_test.right && plan->self_test_seconds > 0);
  const tsl_case what = {.problem = problem, .seed = 1};
  tsl_case_report report;
  must(tsl_check_case(plan->work.strategy, &plan->work.config, device, &what, &report));
  assert_int_equal(report.result, TSL_CASE_RIGHT);
  tsl_plan_destroy(plan);
  free(list);
  tsl_wisdom_close(wisdom);
  tsl_text_free(&lines);
  tsl_devices_destroy(devices);
}

/* Files that another process left half-written, or that another program wrote, change no result. */
static void files_of_trials_may_be_damaged(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  tsl_self_test found, kept = {.right = true, .seconds = 0.5};
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "cpu", &cpu));
  const tsl_self_test_count before = tsl_self_test_counts();
  FILE *file = fopen(scratch_path(&cache, "trials"), "a");
  assert_non_null(file);
  fputs("right 1 2026-01-01T00:00:00Z cut", file); /* without an end */
  fclose(file);
  assert_false(tsl_self_test_find(cpu, "cut", &found));
  tsl_self_test_keep(cpu, "one", &kept);
  kept = (tsl_self_test){.seconds = 1, .why = "C(0,1) is 2\nand\tnot 1"};
  tsl_self_test_keep(cpu, "two", &kept);
  tsl_self_test_forget(cpu);
  assert_true(tsl_self_test_find(cpu, "one", &found) && found.right && found.seconds == 0.5);
  assert_true(tsl_self_test_find(cpu, "two", &found) && !found.right);
  assert_string_equal(found.why, "C(0,1) is 2 and not 1");
  assert_int_equal(tsl_self_test_counts().wrong, before.wrong + 1);
  scratch_write(&cache, "trials", "somebody else's\nright 1 2026-01-01T00:00:00Z one\n");
  tsl_self_test_forget(cpu);
  assert_false(tsl_self_test_find(cpu, "one", &found));
  tsl_self_test_clear(); /* not ours */
  assert_int_equal(access(scratch_path(&cache, "trials"), F_OK), 0);
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_kernels_never_give_a_result), cmocka_unit_test(trials_are_remembered),
      cmocka_unit_test(a_trial_compiles_nothing),          cmocka_unit_test(self_tests_can_be_switched_off),
      cmocka_unit_test(the_next_best_takes_the_place),     cmocka_unit_test(a_device_that_nobody_knows),
      cmocka_unit_test(files_of_trials_may_be_damaged),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
