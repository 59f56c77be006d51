/* The race, with planted strategies (slow, noisy, wrong and failing ones) on a device whose clock
 * only they move. Nothing wrong or too slow is timed, rounds alternate in shuffled order, and
 * medians are the samples' medians. Limits end the race, disturbed rounds do not count, operands
 * rotate, and no object is left. */
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/status.h"
#include "fake/fake.h"
#include "strategy/strategy_list.h"
#include "tune/race.h"

enum { MOST = 4, RUNS_MAX = 40000 };

/* How the planted strategies behave, by their number. */
typedef struct behaviour {
  double seconds, other_seconds; /* of even and odd runs; other_seconds 0: the same */
  double predicted;
  bool wrong;
  bool sleeps; /* for 0.3 s of the host's clock in the first run */
  int runs;
} behaviour;

static behaviour planted[MOST];
static int history[RUNS_MAX], run_count; /* entries that ran, in order */
static int64_t offsets[RUNS_MAX];        /* of its A */
static int slow_from, slow_to;           /* these runs, in all, take twice as long */

static tesela_status run_planted(int number, const tsl_work *work, const tsl_operands *operands,
                                 tsl_stream *stream) {
  behaviour *self = &planted[number];
  float a, b, c;
  (void)work;
  TSL_TRY(tsl_device_read(stream, operands->a.buffer, sizeof a * (size_t)operands->a.offset, &a, sizeof a));
  TSL_TRY(tsl_device_read(stream, operands->b.buffer, sizeof b * (size_t)operands->b.offset, &b, sizeof b));
  c = a * b + (self->wrong ? 1 : 0);
  TSL_TRY(tsl_device_write(stream, operands->c.buffer, sizeof c * (size_t)operands->c.offset, &c, sizeof c));
  const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
  if (self->sleeps && self->runs == 0)
    nanosleep(&pause, NULL);
  const double seconds = self->runs % 2 && self->other_seconds > 0 ? self->other_seconds : self->seconds;
  const bool slow = run_count >= slow_from && run_count < slow_to;
  tesela_fake_pass(slow ? 2 * seconds : seconds);
  self->runs++;
  if (run_count < RUNS_MAX) {
    history[run_count] = number;
    offsets[run_count] = operands->a.offset;
  }
  run_count++;
  return TESELA_OK;
}

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem, (void)config;
  return (tsl_accuracy){.factor = 4, .is_reproducible = true};
}

#define PLANT(number)                                                                                        \
  static tesela_status run_##number(const tsl_work *work, const tsl_operands *operands,                      \
                                    tsl_stream *stream) {                                                    \
    return run_planted(number, work, operands, stream);                                                      \
  }                                                                                                          \
  static double score_##number(const tsl_problem *problem, const tsl_config *config,                         \
                               const tsl_device *device) {                                                   \
    (void)problem, (void)config, (void)device;                                                               \
    return planted[number].predicted;                                                                        \
  }
PLANT(0)
PLANT(1)
PLANT(2)
PLANT(3)
static const tsl_strategy strategies[MOST] = {
    {.name = "zero", .op = TSL_OP_GEMM, .accuracy = accuracy, .score = score_0, .run = run_0},
    {.name = "one", .op = TSL_OP_GEMM, .accuracy = accuracy, .score = score_1, .run = run_1},
    {.name = "two", .op = TSL_OP_GEMM, .accuracy = accuracy, .score = score_2, .run = run_2},
    {.name = "three", .op = TSL_OP_GEMM, .accuracy = accuracy, .score = score_3, .run = run_3},
};

/* --- a race of the first `count` strategies on a product of two numbers --- */

typedef struct racing {
  tsl_devices *devices;
  tsl_device *device;
  tsl_race_entry entries[MOST];
  tsl_race_report report;
  double fraction; /* of the progress */
} racing;

static int set_up(void **state) {
  static racing made;
  memset(&made, 0, sizeof made);
  memset(planted, 0, sizeof planted);
  run_count = slow_from = slow_to = 0;
  tesela_fake_reset();
  tesela_fake_clock();
  if (tsl_devices_create(&made.devices) != TESELA_OK ||
      tsl_devices_find(made.devices, "fake:0", &made.device) != TESELA_OK)
    return 1;
  made.device->cache_bytes = 0;
  *state = &made;
  return 0;
}

static int tear_down(void **state) {
  racing *made = *state;
  tsl_devices_destroy(made->devices);
  return strcmp(tesela_fake_live_text(), "") == 0 ? 0 : 1;
}

static void moves_forward(void *argument, const char *what, double fraction) {
  racing *made = argument;
  assert_true(*what && fraction >= made->fraction && fraction <= 1);
  made->fraction = fraction;
}

static void race(racing *state, int count, tsl_race_options options) {
  const tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_F32);
  tsl_race_entry *entries[MOST];
  for (int i = 0; i < count; i++) {
    state->entries[i].strategy = &strategies[i];
    entries[i] = &state->entries[i];
  }
  if (options.seconds_max == 0)
    options.seconds_max = 1000; /* of the planted clock: the machine's own time is negligible against it */
  options.progress = moves_forward;
  options.argument = state;
  assert_int_equal(tsl_race_run(&problem, state->device, &options, entries, count, &state->report),
                   TESELA_OK);
}

static void close_to(double value, double expected) {
  assert_true(fabs(value - expected) <= 1e-9 * expected);
}

/* --- samples --- */

static void steady_entries_take_turns(void **state) {
  racing *made = *state;
  for (int i = 0; i < 3; i++)
    planted[i].seconds = 1e-3 * (1 << i);
  race(made, 3, (tsl_race_options){.warm = true});
  assert_int_equal(made->report.rounds, 5);
  assert_int_equal(made->report.discarded, 0);
  assert_int_equal(made->report.sets, 1);
  for (int i = 0; i < 3; i++) {
    const tsl_measurement *timing = &made->entries[i].timing;
    assert_int_equal(made->entries[i].result, TSL_CASE_RIGHT);
    assert_true(made->entries[i].verdict.right && made->entries[i].verdict.error_ratio <= 1);
    assert_int_equal(timing->samples, 5);
    assert_int_equal(timing->batch, 1);
    assert_false(timing->noisy);
    close_to(timing->median, 1e-3 * (1 << i));
    close_to(timing->fastest, timing->slowest);
    close_to(timing->first_quartile, timing->third_quartile);
    assert_int_equal(planted[i].runs, 1 + 1 + 5); /* verified, warmed up, timed */
    assert_non_null(strstr(made->entries[i].plan, "place=host"));
  }
  /* Verified in order, warmed up in order; then each once in every round. */
  assert_int_equal(run_count, 21);
  bool shuffled = false;
  for (int round = 0; round < 5; round++) {
    const int *who = &history[6 + 3 * round];
    assert_int_equal((1 << who[0]) | (1 << who[1]) | (1 << who[2]), 7);
    shuffled |= who[0] != 0 || who[1] != 1;
  }
  assert_true(shuffled);
  assert_true(made->fraction > 0.5);
}

static void the_seed_decides_the_order(void **state) {
  racing *made = *state;
  int first[21];
  for (uint64_t seed = 3; seed < 5; seed++)
    for (int again = 0; again < 2; again++) {
      for (int i = 0; i < 3; i++)
        planted[i] = (behaviour){.seconds = 1e-3};
      memset(made->entries, 0, sizeof made->entries);
      made->fraction = run_count = 0;
      race(made, 3, (tsl_race_options){.warm = true, .seed = seed});
      assert_int_equal(run_count, 21);
      if (again)
        assert_memory_equal(first, history, sizeof first);
      else if (seed == 4)
        assert_true(memcmp(first, history, sizeof first) != 0);
      memcpy(first, history, sizeof first);
    }
}

static void noisy_entries_go_on_to_the_limit(void **state) {
  racing *made = *state;
  planted[0] = (behaviour){.seconds = 1e-3};
  planted[1] = (behaviour){.seconds = 1e-3, .other_seconds = 3e-3};
  race(made, 2, (tsl_race_options){.samples_max = 12, .seconds_max = 100, .noise = 0.1});
  assert_int_equal(made->entries[0].timing.samples, 5);
  assert_false(made->entries[0].timing.noisy);
  assert_int_equal(made->entries[1].timing.samples, 12);
  assert_true(made->entries[1].timing.noisy);
  close_to(made->entries[1].timing.median, 2e-3);
  close_to(made->entries[1].timing.first_quartile, 1e-3);
  close_to(made->entries[1].timing.third_quartile, 3e-3);
  close_to(made->entries[1].timing.spread, 1);
  assert_int_equal(made->report.rounds, 12);
}

static void time_is_up_after_three_samples(void **state) {
  racing *made = *state;
  planted[0] = (behaviour){.seconds = 30, .other_seconds = 40};
  planted[1] = (behaviour){.seconds = 20, .other_seconds = 25};
  race(made, 2, (tsl_race_options){.seconds_max = 80});
  assert_int_equal(made->entries[0].timing.samples, 3);
  assert_int_equal(made->entries[1].timing.samples, 4);
  assert_true(made->entries[0].timing.noisy);
}

/* Where a run takes long, by both clocks, the run that verified it was the first. */
static void long_runs_need_no_second_first_run(void **state) {
  racing *made = *state;
  planted[0] = (behaviour){.seconds = 0.5, .sleeps = true};
  planted[1] = (behaviour){.seconds = 0.5};
  planted[2] = (behaviour){.seconds = 2e-3, .sleeps = true};
  race(made, 3, (tsl_race_options){.warm = true});
  for (int i = 0; i < 3; i++)
    assert_int_equal(made->entries[i].timing.samples, 5);
  assert_int_equal(planted[0].runs, 1 + 5);
  assert_int_equal(planted[1].runs, 1 + 1 + 5);
  assert_int_equal(planted[2].runs, 1 + 1 + 5);
}

static void short_runs_are_timed_together(void **state) {
  racing *made = *state;
  planted[0] = (behaviour){.seconds = 1e-6};
  planted[1] = (behaviour){.seconds = 3e-4};
  race(made, 2, (tsl_race_options){.warm = true});
  assert_true(made->entries[0].timing.batch >= 1000);
  close_to(made->entries[0].timing.median, 1e-6);
  assert_true(made->entries[1].timing.batch >= 4 && made->entries[1].timing.batch < 10);
  close_to(made->entries[1].timing.median, 3e-4);
}

/* --- entries that are not timed --- */

static void wrong_entries_are_not_timed(void **state) {
  racing *made = *state;
  for (int i = 0; i < 3; i++)
    planted[i].seconds = 1e-3;
  planted[1].wrong = true;
  race(made, 3, (tsl_race_options){.warm = true});
  assert_int_equal(made->entries[1].result, TSL_CASE_WRONG);
  assert_int_equal(planted[1].runs, 1);
  assert_true(isnan(made->entries[1].timing.median));
  assert_int_equal(made->entries[1].timing.samples, 0);
  assert_non_null(strstr(made->entries[1].why, "C(0, 0)"));
  assert_false(made->entries[1].verdict.right);
  assert_int_equal(made->entries[0].timing.samples, 5);
  assert_int_equal(made->entries[2].timing.samples, 5);
}

static void slow_entries_are_left_out(void **state) {
  racing *made = *state;
  for (int i = 0; i < 3; i++)
    planted[i].seconds = 1e-3;
  planted[0].predicted = 40;
  planted[1].seconds = 50;
  race(made, 3, (tsl_race_options){.time_limit = 30});
  assert_int_equal(made->entries[0].result, TSL_CASE_REFUSED);
  assert_string_equal(made->entries[0].why,
                      "left out: one run is predicted to take 40 s, the time limit is 30 s");
  assert_int_equal(planted[0].runs, 0);
  assert_int_equal(made->entries[1].result, TSL_CASE_REFUSED);
  assert_string_equal(made->entries[1].why, "left out: one run takes 50 s, the time limit is 30 s");
  assert_int_equal(planted[1].runs, 2); /* verified, and the run that does not count */
  assert_true(isnan(made->entries[1].timing.median));
  assert_int_equal(made->entries[2].timing.samples, 5);
}

static void refusals_are_kept(void **state) {
  racing *made = *state;
  planted[0].seconds = planted[1].seconds = 1e-3;
  made->entries[0] = (tsl_race_entry){.result = TSL_CASE_REFUSED, .why = "not today"};
  race(made, 1, (tsl_race_options){.warm = true});
  assert_string_equal(made->entries[0].why, "not today");
  assert_int_equal(run_count, 0);
  assert_int_equal(made->report.sets, 0);
}

/* The first failure is the verified run's, later ones the timed runs'; the other entry is timed all the same.
 */
static void failures_are_the_entrys_own(void **state) {
  racing *made = *state;
  int timed = 0;
  for (int nth = 1; nth < 60; nth++) {
    planted[0] = planted[1] = (behaviour){.seconds = 1e-3};
    memset(made->entries, 0, sizeof made->entries);
    made->fraction = 0;
    tesela_fake_reset();
    tesela_fake_clock();
    tesela_fake_fail(TESELA_FAKE_EVENT, nth);
    race(made, 2, (tsl_race_options){.warm = true});
    assert_string_equal(tesela_fake_live_text(), "");
    const bool failed[] = {made->entries[0].result == TSL_CASE_FAILED,
                           made->entries[1].result == TSL_CASE_FAILED};
    if (tesela_fake_failures() == 0)
      break;
    assert_true(failed[0] != failed[1]);
    const tsl_race_entry *bad = &made->entries[failed[1]], *good = &made->entries[failed[0]];
    assert_non_null(strstr(bad->why, "on demand"));
    assert_true(isnan(bad->timing.median));
    close_to(good->timing.median, 1e-3);
    timed++;
  }
  assert_true(timed > 20 && timed < 59);
}

static void a_device_without_memory_fails_all(void **state) {
  racing *made = *state;
  int failures = 0;
  for (int nth = 1; nth < 30; nth++) {
    planted[0] = planted[1] = (behaviour){.seconds = 1e-3};
    memset(made->entries, 0, sizeof made->entries);
    made->fraction = 0;
    tesela_fake_reset();
    tesela_fake_clock();
    tesela_fake_fail_from(TESELA_FAKE_ALLOCATION, nth);
    race(made, 2, (tsl_race_options){.warm = true});
    assert_string_equal(tesela_fake_live_text(), "");
    if (tesela_fake_failures() == 0)
      break;
    failures++;
    assert_int_equal(made->entries[1].result, TSL_CASE_FAILED);
    assert_non_null(strstr(made->entries[1].why, "on demand"));
  }
  assert_true(failures >= 6 && failures < 29);
}

/* --- disturbed rounds --- */

static void a_disturbed_round_does_not_count(void **state) {
  racing *made = *state;
  for (int i = 0; i < 3; i++)
    planted[i].seconds = 1e-3;
  slow_from = 6 + 3 * 3; /* the fourth round */
  slow_to = slow_from + 3;
  race(made, 3, (tsl_race_options){.warm = true});
  assert_int_equal(made->report.rounds, 6);
  assert_int_equal(made->report.discarded, 1);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(made->entries[i].timing.samples, 5);
    close_to(made->entries[i].timing.slowest, 1e-3);
  }
}

/* A machine that stays slow is not disturbed. One entry alone cannot show whose noise it is. */
static void slow_for_good_counts(void **state) {
  racing *made = *state;
  for (int i = 0; i < 2; i++)
    planted[i].seconds = 1e-3;
  slow_from = 4 + 2 * 3;
  slow_to = RUNS_MAX;
  race(made, 2, (tsl_race_options){.warm = true, .samples_max = 20, .noise = 1e-9});
  assert_true(made->report.discarded >= 3 && made->report.discarded < made->report.rounds);
  close_to(made->entries[0].timing.slowest, 2e-3);
}

static void one_entry_keeps_its_samples(void **state) {
  racing *made = *state;
  planted[0].seconds = 1e-3;
  slow_from = 2 + 3;
  slow_to = slow_from + 1;
  race(made, 1, (tsl_race_options){.warm = true});
  assert_int_equal(made->report.discarded, 0);
  close_to(made->entries[0].timing.slowest, 2e-3);
}

/* --- operands --- */

static void operands_rotate(void **state) {
  racing *made = *state;
  planted[0].seconds = planted[1].seconds = 1e-3;
  made->device->cache_bytes = 1920; /* three operands of a line of 128 bytes: ten sets are twice as much */
  race(made, 2, (tsl_race_options){0});
  assert_int_equal(made->report.sets, 10);
  assert_true(made->report.cold);
  assert_int_equal(made->report.set_bytes, 12);
  const int first = 2; /* after the runs that verified */
  for (int i = first; i < run_count; i++) {
    assert_int_equal(offsets[i] * (int64_t)sizeof(float) % 512, 0);
    for (int back = 1; back < 10 && i - back >= first; back++)
      assert_int_not_equal(offsets[i], offsets[i - back]);
    if (i - first >= 10)
      assert_int_equal(offsets[i], offsets[i - 10]);
  }
}

static void warm_operands_do_not(void **state) {
  racing *made = *state;
  planted[0].seconds = planted[1].seconds = 1e-3;
  made->device->cache_bytes = 1920;
  race(made, 2, (tsl_race_options){.warm = true});
  assert_int_equal(made->report.sets, 1);
  assert_false(made->report.cold);
  for (int i = 3; i < run_count; i++)
    assert_int_equal(offsets[i], offsets[2]);
}

static void memory_bounds_the_sets(void **state) {
  racing *made = *state;
  planted[0].seconds = 1e-3;
  made->device->cache_bytes = (uint64_t)1 << 40;
  made->device->memory_bytes = 4 * 3 * 1024 * 100; /* a quarter holds 100 sets */
  race(made, 1, (tsl_race_options){0});
  assert_int_equal(made->report.sets, 100);
  assert_false(made->report.cold);
}

static void bad_problems_are_refused(void **state) {
  racing *made = *state;
  tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_F32);
  tsl_race_entry entry = {.strategy = &strategies[0]}, *entries[] = {&entry};
  problem.m = -1;
  assert_int_equal(tsl_race_run(&problem, made->device, NULL, entries, 1, NULL), TESELA_BAD_CALL);
}

/* --- the processor, by its real clock --- */

static void the_cpu_runs_real_strategies(void **state) {
  racing *made = *state;
  const tsl_problem problem = tsl_problem_gemm(20, 30, 40, TESELA_F64);
  tsl_race_entry first = {.strategy = tsl_strategy_find(TSL_OP_GEMM, "sequential")},
                 second = {.strategy = tsl_strategy_find(TSL_OP_GEMM, "element")},
                 *entries[] = {&first, &second};
  const tsl_race_options options = {.seconds_max = 0.02};
  tsl_device *cpu;
  assert_int_equal(tsl_devices_find(made->devices, "cpu", &cpu), TESELA_OK);
  assert_int_equal(tsl_race_run(&problem, cpu, &options, entries, 2, &made->report), TESELA_OK);
  assert_int_equal(first.result, TSL_CASE_RIGHT);
  assert_true(first.timing.samples >= 3 && first.timing.batch >= 1 && first.timing.median > 0);
  assert_true(first.timing.fastest <= first.timing.first_quartile &&
              first.timing.third_quartile <= first.timing.slowest);
  assert_int_equal(second.result, TSL_CASE_REFUSED);
  assert_true(made->report.clock_mhz_before > 0 || made->report.clock_why[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(steady_entries_take_turns),
      TEST(the_seed_decides_the_order),
      TEST(noisy_entries_go_on_to_the_limit),
      TEST(time_is_up_after_three_samples),
      TEST(long_runs_need_no_second_first_run),
      TEST(short_runs_are_timed_together),
      TEST(wrong_entries_are_not_timed),
      TEST(slow_entries_are_left_out),
      TEST(refusals_are_kept),
      TEST(failures_are_the_entrys_own),
      TEST(a_device_without_memory_fails_all),
      TEST(a_disturbed_round_does_not_count),
      TEST(slow_for_good_counts),
      TEST(one_entry_keeps_its_samples),
      TEST(operands_rotate),
      TEST(warm_operands_do_not),
      TEST(memory_bounds_the_sets),
      TEST(bad_problems_are_refused),
      TEST(the_cpu_runs_real_strategies),
  };
  tesela_fake_install();
  tesela_fake_inner("cpu");
  tesela_fake_hide(TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
