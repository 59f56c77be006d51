/* The stopwatch: medians, and runs from microseconds up. */
#include "plan/measure.h"

#include "base/status.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static void close_to(double value, double expected) {
  assert_true(fabs(value - expected) <= 1e-12 * (1 + fabs(expected)));
}

static void median_and_spread(void **state) {
  (void)state;
  double spread, odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7}, same[] = {2, 2, 2, 2, 2};
  close_to(tsl_measure_median(odd, 3, &spread), 3);
  close_to(spread, 2.0 / 3); /* quartiles 2 and 4 */
  close_to(odd[0], 1);
  close_to(odd[2], 5);
  close_to(tsl_measure_median(even, 4, &spread), 2.5);
  close_to(spread, 1.5 / 2.5); /* quartiles 1.75 and 3.25 */
  close_to(tsl_measure_median(one, 1, &spread), 7);
  close_to(spread, 0);
  close_to(tsl_measure_median(same, 5, &spread), 2);
  close_to(spread, 0);
  close_to(tsl_measure_median(same, 0, &spread), 0);
}

/* A strategy that takes a time of its own choosing. */
static double pause_seconds[2];
static int run_count;

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)work, (void)operands, (void)stream;
  const double seconds = pause_seconds[run_count++ % 2];
  const struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
  if (seconds < 0)
    return tsl_fail(TESELA_DEVICE_FAILED, "cpu: the clock stopped");
  if (seconds > 0)
    nanosleep(&pause, NULL);
  return TESELA_OK;
}

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem, (void)config;
  return (tsl_accuracy){.factor = 1, .repeats = true};
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return NULL;
}

static const tsl_strategy sleeper = {.name = "sleeper",
                                     .op = TSL_OP_GEMM,
                                     .needs = TSL_CAN_HOST,
                                     .accuracy = accuracy,
                                     .refuse = refuse,
                                     .run = run};

typedef struct fixture {
  tsl_devices *devices;
  tsl_plan *plan;
} fixture;

static int set_up(void **state) {
  static fixture made;
  const tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_F32);
  const tsl_config config = {{0}};
  tsl_device *cpu;
  if (tsl_devices_create(&made.devices) != TESELA_OK ||
      tsl_devices_find(made.devices, "cpu", &cpu) != TESELA_OK ||
      tsl_plan_create(&problem, &sleeper, &config, cpu, TSL_PLACE_HOST, &made.plan) != TESELA_OK)
    return 1;
  *state = &made;
  return 0;
}

static int tear_down(void **state) {
  fixture *made = *state;
  tsl_plan_destroy(made->plan);
  tsl_devices_destroy(made->devices);
  return 0;
}

static tesela_status measure(void **state, double first, double second, const tsl_measure_options *options,
                             tsl_measurement *out) {
  const fixture *made = *state;
  float a = 1, b = 1, c = 0;
  const tsl_operands operands = {.a = {.host = &a}, .b = {.host = &b}, .c = {.host = &c}};
  pause_seconds[0] = first;
  pause_seconds[1] = second;
  run_count = 0;
  return tsl_measure_plan(made->plan, &operands, options, out);
}

/* Long enough that a busy machine disturbs them by less than the noise that is allowed. */
static void steady_runs_stop_early(void **state) {
  const tsl_measure_options options = {.noise = 0.5, .samples_min = 4};
  tsl_measurement out;
  assert_int_equal(measure(state, 2e-2, 2e-2, &options, &out), TESELA_OK);
  assert_true(out.samples >= 4 && out.samples < 100);
  assert_true(out.median >= 2e-2 && out.median < 1);
  assert_true(out.fastest <= out.median && out.median <= out.slowest);
  assert_true(out.wall >= 2e-2);
  assert_int_equal(run_count, out.samples + 1); /* one to warm up */
}

static void noise_runs_to_the_limit(void **state) {
  const tsl_measure_options options = {.noise = 0.01, .samples_max = 8, .warmup = 2};
  tsl_measurement out;
  assert_int_equal(measure(state, 1e-3, 6e-3, &options, &out), TESELA_OK);
  assert_int_equal(out.samples, 8);
  assert_true(out.noisy);
  assert_true(out.spread > 0.1);
  assert_int_equal(run_count, 10);
}

static void time_runs_out_after_a_sample(void **state) {
  const tsl_measure_options options = {.seconds_max = 1e-4};
  tsl_measurement out;
  assert_int_equal(measure(state, 5e-3, 5e-3, &options, &out), TESELA_OK);
  assert_int_equal(out.samples, 1);
  assert_true(out.median >= 5e-3);
}

static void short_runs_are_timed_together(void **state) {
  tsl_measurement out;
  assert_int_equal(measure(state, 0, 0, NULL, &out), TESELA_OK);
  assert_true(out.samples >= 5);
  assert_true(run_count > 20 * out.samples);
  assert_true(out.median > 0 && out.median < 20e-6);
}

static void a_failing_run_fails_the_measurement(void **state) {
  tsl_measurement out;
  assert_int_equal(measure(state, 1e-3, -1, NULL, &out), TESELA_DEVICE_FAILED);
  assert_string_equal(tesela_last_error(), "cpu: the clock stopped");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(median_and_spread),
      cmocka_unit_test(steady_runs_stop_early),
      cmocka_unit_test(noise_runs_to_the_limit),
      cmocka_unit_test(time_runs_out_after_a_sample),
      cmocka_unit_test(short_runs_are_timed_together),
      cmocka_unit_test(a_failing_run_fails_the_measurement),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
