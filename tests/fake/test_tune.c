/* The tuner on a device whose clock only a planted strategy moves: a wrong result is never
 * accepted, however fast, and slow points cost little. */
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "fake/fake.h"
#include "tune/tune.h"

/* Seconds by the parameter's value, from 1. 4 is wrong; 6 is much too slow, 5 slow; 3 is the best; 2 is
 * faster than 1 by less than the noise. */
static const double seconds_of[] = {0, 2e-3, 1.99e-3, 1e-3, 1e-6, 4e-3, 1};
enum { WRONG = 4, MOST = 6 };
static const tsl_param params[] = {{"p", "which", 1, {1, 2, 3, 4, 5, 6}}, {0}};
static int runs[MOST + 1];

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const int64_t p = work->config.value[0];
  float a, b, c;
  TSL_TRY(tsl_device_read(stream, operands->a.buffer, sizeof a * (size_t)operands->a.offset, &a, sizeof a));
  TSL_TRY(tsl_device_read(stream, operands->b.buffer, sizeof b * (size_t)operands->b.offset, &b, sizeof b));
  c = a * b + (p == WRONG ? 1 : 0);
  TSL_TRY(tsl_device_write(stream, operands->c.buffer, sizeof c * (size_t)operands->c.offset, &c, sizeof c));
  tesela_fake_pass(seconds_of[p]);
  runs[p]++;
  return TESELA_OK;
}

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem, (void)config;
  return (tsl_accuracy){.factor = 4, .is_reproducible = true};
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)device;
  return 1e-3 * (double)config->value[0];
}

static const tsl_strategy planted = {
    .name = "planted", .op = TSL_OP_GEMM, .params = params, .accuracy = accuracy, .score = score, .run = run};

static tsl_devices *devices;
static tsl_device *device;

static int set_up(void **state) {
  (void)state;
  memset(runs, 0, sizeof runs);
  tesela_fake_reset();
  tesela_fake_clock();
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "fake:0", &device) != TESELA_OK)
    return 1;
  device->cache_bytes = 0;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return strcmp(tesela_fake_live_text(), "") == 0 ? 0 : 1;
}

static void tune(const char *search, int batch, tsl_space *space, tsl_tuned *tuned) {
  const tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_F32);
  tsl_tune_race race = {.problem = &problem, .device = device, .seconds_max = 1000, .time_limit = 10};
  *space = (tsl_space){0};
  assert_int_equal(tsl_space_add(space, &problem, device, &planted, NULL, 0), TESELA_OK);
  tsl_space_sort(space);
  assert_int_equal(space->count, MOST);
  const tsl_tune_job job = {.space = space,
                            .search = tsl_search_find(search),
                            .start = 0,
                            .batch = batch,
                            .measure = tsl_tune_by_race,
                            .argument = &race};
  assert_int_equal(tsl_tune_run(&job, tuned), TESELA_OK);
}

static void the_fastest_that_is_right_wins(void **state) {
  (void)state;
  for (int s = 0; tsl_search_at(s); s++) {
    tsl_space space;
    tsl_tuned tuned;
    tune(tsl_search_at(s)->name, 0, &space, &tuned);
    assert_int_equal(space.points[tuned.best].config.value[0], 3);
    assert_true(fabs(tuned.best_seconds - 1e-3) < 1e-9);
    assert_true(fabs(tuned.gain - 2) < 1e-6);
    assert_int_equal(tuned.wrong, 1);
    assert_int_equal(tuned.results[WRONG - 1].result, TSL_CASE_WRONG);
    assert_true(tuned.complete);
    tsl_tuned_free(&tuned);
    tsl_space_free(&space);
  }
}

/* Verified once, and run once more to see how long it takes; the slow one is sampled three times only, as
 * soon as the start is known. */
static void the_slow_are_given_up_early(void **state) {
  (void)state;
  tsl_space space;
  tsl_tuned tuned;
  tune("exhaustive", 1, &space, &tuned);
  assert_int_equal(tuned.results[5].result, TSL_CASE_REFUSED);
  assert_non_null(strstr(tuned.results[5].why, "left out: one run takes 1 s"));
  assert_int_equal(runs[6], 2);
  assert_int_equal(tuned.results[4].result, TSL_CASE_RIGHT);
  assert_int_equal(runs[5], 2 + 3);
  assert_int_equal(runs[WRONG], 1); /* the first result is wrong: no more of it */
  tsl_tuned_free(&tuned);
  tsl_space_free(&space);
}

/* A challenger whose times overlap with the incumbent's does not win. */
static void doubtful_challengers_lose(void **state) {
  (void)state;
  const tsl_tune_result incumbent = {.seconds = 1, .spread = 0.05};
  const tsl_tune_result close = {.seconds = 0.92, .spread = 0.05}, far = {.seconds = 0.8, .spread = 0.05};
  assert_false(tsl_tune_beats(&close, &incumbent)); /* 0.966 and 0.95 */
  assert_true(tsl_tune_beats(&far, &incumbent));
  assert_false(tsl_tune_beats(&incumbent, &far));
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {TEST(the_fastest_that_is_right_wins), TEST(the_slow_are_given_up_early),
                                     TEST(doubtful_challengers_lose)};
  tesela_fake_install();
  tesela_fake_inner("cpu");
  tesela_fake_hide(TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
