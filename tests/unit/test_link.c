/* The cost of a link to a device: measured once, stored, and used by the planner's estimates. */
#include "unit.h"

#include "core/status.h"
#include "planner/planner.h"
#include "planner/predict.h"
#include "scratch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/link.h"
#include "tune/measured_choice.h"
#include "unit/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scratch cache;
static tsl_devices *devices;
static tsl_device *cpu, *opencl;

/* An empty cache, and new devices. */
static int set_up(void **state) {
  (void)state;
  scratch_create(&cache);
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK ||
      tsl_devices_find(devices, "opencl:0", &opencl) != TESELA_OK)
    return 1;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  scratch_remove(&cache);
  return 0;
}

static void keep_link(const char *key, double seconds) {
  tsl_text text = {0};
  tsl_text_add(&text,
               "# tesela: what it costs to reach devices\nlink key=somebody/else in_seconds=1\nnonsense = =\n"
               "link key=%s in_seconds=%g in_rate=1e9 out_seconds=%g out_rate=2e9 launch=%g "
               "date=2026-01-01T00:00:00Z\nlink key=%s in_sec",
               key, seconds, seconds, seconds, key);
  scratch_write(&cache, "links", tsl_text_get(&text));
  tsl_text_free(&text);
}

static void links_are_measured_once(void **state) {
  (void)state;
  tsl_link link;
  assert_false(tsl_link_of(opencl).measured);
  must(tsl_tune_link(opencl, &link));
  assert_true(link.measured && link.in.seconds > 0 && link.out.seconds > 0 && link.launch > 0);
  assert_true(link.in.rate > 1e6 && link.out.rate > 1e6 && isfinite(link.in.rate));
  const tsl_link again = tsl_link_of(opencl);
  assert_true(again.measured && fabs(again.launch - link.launch) <= 1e-3 * link.launch);
  assert_int_equal(strlen(again.date), 20);
  snprintf(opencl->key, sizeof opencl->key, "another/driver");
  assert_false(tsl_link_of(opencl).measured);
  must(tsl_tune_link(cpu, &link)); /* which is no way at all */
  assert_true(!link.measured && link.in.seconds == 0 && link.launch == 0);
}

static void damaged_lines_mean_nothing(void **state) {
  (void)state;
  keep_link(opencl->key, 0.5);
  const tsl_link link = tsl_link_of(opencl);
  assert_true(link.measured && link.in.seconds == 0.5 && link.in.rate == 1e9 && link.out.rate == 2e9);
}

/* By a strategy without a model: all elements of C take equally long. */
static double seconds_of(const tsl_link *link, const tsl_problem *problem, tsl_device *on,
                         tsl_memory_place place, double compute) {
  tsl_strategy plain = *tsl_strategy_find(TSL_OP_GEMM, "element");
  plain.score = NULL;
  return tsl_link_seconds(link, &(tsl_work){.strategy = &plain, .problem = *problem, .device = on}, place,
                          compute);
}

static void copies_are_counted_where_there_are_any(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(1000, 500, 2000, TESELA_F32);
  const tsl_link link = {
      .measured = true, .in = {1e-3, 1e9}, .out = {2e-3, 2e9}, .launch = 5e-3 + opencl->launch_seconds};
  opencl->capabilities &= ~(unsigned)TSL_CAN_SHARED_MEMORY;
  const double c = 4 * 1000 * 500.0, a = 4 * 1000 * 2000.0, b = 4 * 500 * 2000.0;
  const double expected = 5e-3 + 2 * 1e-3 + (a + b) / 1e9 + 2e-3 + c / 2e9;
  assert_true(fabs(seconds_of(&link, &problem, opencl, TSL_PLACE_HOST, 0) - expected) < 1e-9);
  problem.beta[0] = 1; /* C goes both ways */
  assert_true(fabs(seconds_of(&link, &problem, opencl, TSL_PLACE_HOST, 0) - expected - 1e-3 - c / 1e9) <
              1e-9);
  /* Operands that are already on the device are not copied. */
  assert_true(fabs(seconds_of(&link, &problem, opencl, TSL_PLACE_DEVICE, 0) - 5e-3) < 1e-12);
  opencl->capabilities |= TSL_CAN_SHARED_MEMORY;
  assert_true(fabs(seconds_of(&link, &problem, opencl, TSL_PLACE_HOST, 0) - 5e-3) < 1e-12);
}

/* Where copies overlap, computation hides them except for the first panels and the last block. The
 * time is at least that of the longest part, and at most the sum of all parts. */
static void overlap_is_counted(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(8192, 8192, 8192, TESELA_F32);
  const double bytes = 4 * 8192.0 * 8192;
  tsl_device gpu = *opencl;
  gpu.capabilities &= ~(unsigned)TSL_CAN_SHARED_MEMORY;
  gpu.compute_units = 132;
  gpu.link_bandwidth = 10e9;
  tsl_link link = {
      .measured = true, .in = {0, 10e9}, .out = {0, 10e9}, .staged_in = 50e9, .staged_out = 50e9};
  const double in = 2 * bytes / 50e9, out = bytes / 50e9;
  for (double compute = 1e-4; compute < 1; compute *= 3) {
    const double all = seconds_of(&link, &problem, &gpu, TSL_PLACE_HOST, compute);
    assert_true(all >= in + out && all >= compute + (in + out) / 16 && all <= in + compute + out + 1e-9);
    assert_true(seconds_of(&link, &problem, &gpu, TSL_PLACE_HOST, compute / 2) <= all);
  }
  const double hidden = seconds_of(&link, &problem, &gpu, TSL_PLACE_HOST, 0.1);
  assert_true(hidden < 0.1 + in / 4 + out / 16 + 1e-6);
  setenv("TESELA_STAGING", "0", 1);
  assert_true(fabs(seconds_of(&link, &problem, &gpu, TSL_PLACE_HOST, 0.1) - 0.1 - 3 * bytes / 10e9) < 1e-9);
  unsetenv("TESELA_STAGING");
}

/* Copies through pinned memory are measured too. A stored line without them is measured again. */
static void staged_copies_are_measured(void **state) {
  (void)state;
  tsl_link link;
  opencl->capabilities &= ~(unsigned)TSL_CAN_SHARED_MEMORY;
  keep_link(opencl->key, 0.5);
  assert_false(tsl_link_of(opencl).measured);
  must(tsl_tune_link(opencl, &link));
  assert_true(link.staged_in > 1e6 && link.staged_out > 1e6);
  assert_true(tsl_link_of(opencl).measured);
  opencl->capabilities |= TSL_CAN_SHARED_MEMORY;
}

/* The processor's core is measured once as well, and models of the cpu are believed by it. */
static void the_core_is_measured_once(void **state) {
  (void)state;
  assert_true(tsl_link_core(cpu) == 0);
  const double before = tsl_predict_candidates_level(cpu, true).doubt;
  must(tsl_tune_core(cpu));
  const double core = tsl_link_core(cpu), again = tsl_link_core(cpu);
  assert_true(core > 1e8 && core < 1e13 && core == again);
  const tsl_estimate level = tsl_predict_candidates_level(cpu, true);
  assert_true(fabs(level.likely - cpu->peak_f32 / cpu->threads / core) < 1e-9 && level.doubt < before);
  assert_true(tsl_predict_candidates_level(cpu, false).likely == 1); /* alone, it does not matter */
  assert_false(tsl_link_of(cpu).measured);
}

/* A processor that is known to take a day leaves everything to the device, unless the way there is known to
 * take longer. */
static void the_choice_rests_on_what_was_measured(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_of(TSL_OP_DOT, 1, 1, 1000, TESELA_F32);
  tsl_wisdom *wisdom;
  tsl_plan *plan;
  tsl_text lines = {0};
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_DOT) {
      const tsl_config config = tsl_strategy_defaults(tsl_strategy_at(i));
      for (int there = 0; there < 2; there++) {
        const tsl_wisdom_record record = tsl_wisdom_record_of(&problem, tsl_strategy_at(i), &config,
                                                              there ? opencl : cpu, there ? 3600 : 86400, 0);
        tsl_wisdom_print(&record, &lines);
        tsl_text_add(&lines, "\n");
      }
    }
  must(tsl_wisdom_from("", tsl_text_get(&lines), &wisdom));
  const tsl_choice choice = {.devices = devices, .wisdom = wisdom};
  must(tsl_tune_choose(&problem, &choice, &plan));
  assert_string_equal(plan->work.device->name, "opencl:0");
  assert_true(tsl_link_of(opencl).measured); /* by the way */
  tsl_plan_destroy(plan);
  keep_link(opencl->key, 1e9);
  must(tsl_tune_choose(&problem, &choice, &plan));
  assert_string_equal(plan->work.device->name, "cpu");
  tsl_plan_destroy(plan);
  tsl_wisdom_close(wisdom);
  tsl_text_free(&lines);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {TEST(links_are_measured_once),
                                     TEST(the_core_is_measured_once),
                                     TEST(damaged_lines_mean_nothing),
                                     TEST(copies_are_counted_where_there_are_any),
                                     TEST(overlap_is_counted),
                                     TEST(staged_copies_are_measured),
                                     TEST(the_choice_rests_on_what_was_measured)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
