/* Searches on landscapes that are made up, and the tuner over them: no device is asked. */
#include "unit/unit.h"

#include "core/random.h"
#include "core/status.h"
#include "scratch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three parameters with eight values each; those with x + y > 11 are illegal. */
#define EIGHT                                                                                                \
  { 1, 2, 3, 4, 5, 6, 7, 8 }
static const tsl_param params[] = {
    {"x", "first", 1, EIGHT}, {"y", "second", 1, EIGHT}, {"z", "third", 1, EIGHT}, {0}};

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)device;
  return config->value[0] + config->value[1] > 11 ? "x and y together" : NULL;
}

/* The model thinks that small is good; it is right about y only. */
static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)device;
  return 1 + 0.1 * (double)(config->value[0] + config->value[2]) + 0.3 * (double)config->value[1];
}

static const tsl_strategy hilly = {
    .name = "hilly", .op = TSL_OP_GEMM, .params = params, .refuse = refuse, .score = score};

enum { BEST_X = 6, BEST_Y = 3, BEST_Z = 5 };

/* A bowl around the best point; y = 2 gives wrong results, fast ones. */
static double true_seconds(const tsl_config *config) {
  const double x = (double)(config->value[0] - BEST_X), y = (double)(config->value[1] - BEST_Y),
               z = (double)(config->value[2] - BEST_Z);
  return 1 + 0.2 * x * x + 0.1 * y * y + 0.15 * z * z + 0.02 * x * z;
}

typedef struct landscape {
  int calls, measured[512]; /* by point */
  double drift;             /* each batch, the machine is so much slower */
  double noise;             /* reported spread */
  double doubt;             /* reported doubt */
} landscape;

static tesela_status measure(void *argument, const tsl_space *space, const int *points, int count,
                             double limit, tsl_tune_result *results) {
  landscape *land = argument;
  const double machine = 1 + land->drift * land->calls++;
  (void)limit;
  for (int i = 0; i < count; i++) {
    const tsl_config *config = &space->points[points[i]].config;
    land->measured[points[i]]++;
    results[i] = (tsl_tune_result){.result = TSL_CASE_RIGHT,
                                   .seconds = machine * true_seconds(config),
                                   .spread = land->noise,
                                   .less = land->doubt,
                                   .more = land->doubt};
    if (config->value[1] == 2)
      results[i] = (tsl_tune_result){.result = TSL_CASE_WRONG, .seconds = 0.001, .why = "wrong"};
  }
  return TESELA_OK;
}

static tsl_space space;

static int set_up(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_device device = {.capabilities = TSL_CAN_HOST, .name = "mock"};
  space = (tsl_space){0};
  if (tsl_space_add(&space, &problem, &device, &hilly, NULL, 0) != TESELA_OK)
    return 1;
  tsl_space_sort(&space);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tsl_space_free(&space);
  return 0;
}

static int point_at(int x, int y, int z) {
  const tsl_config config = {{x, y, z}};
  return tsl_space_find(&space, &hilly, &config);
}

static void the_space_is_what_is_legal(void **state) {
  (void)state;
  tsl_space part = {0};
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_device device = {.capabilities = TSL_CAN_HOST, .name = "mock"};
  const tsl_config fixed = {{8, 0, 4}};
  int legal = 0;
  for (int x = 1; x <= 8; x++)
    for (int y = 1; y <= 8; y++)
      legal += x + y <= 11 ? 8 : 0;
  assert_int_equal(space.count, legal);
  for (int i = 1; i < space.count; i++)
    assert_true(space.points[i - 1].predicted <= space.points[i].predicted);
  assert_int_equal(point_at(8, 4, 1), -1);
  assert_int_equal(tsl_space_add(&part, &problem, &device, &hilly, &fixed, 5), TESELA_OK);
  assert_int_equal(part.count, 3); /* x = 8, z = 4: y = 1 to 3 */
  tsl_space_free(&part);
}

static void neighbours_are_one_step_away(void **state) {
  (void)state;
  const int middle = point_at(5, 5, 5);
  assert_int_equal(tsl_space_neighbour(&space, middle, 0, 1), point_at(6, 5, 5));
  assert_int_equal(tsl_space_neighbour(&space, middle, 2, -1), point_at(5, 5, 4));
  assert_int_equal(tsl_space_neighbour(&space, point_at(8, 3, 5), 1, 1), -1);
  assert_int_equal(tsl_space_neighbour(&space, point_at(1, 5, 5), 0, -1), -1);
}

/* For any measurements, proposed points are new, different, and at most as many as requested. In
 * the end every point was proposed. */
static void searches_propose_each_point_once(void **state) {
  (void)state;
  for (int s = 0; tsl_search_at(s); s++) {
    double seconds[512];
    int next[TSL_TUNE_BATCH], proposed = 0, count;
    for (int i = 0; i < space.count; i++)
      seconds[i] = NAN;
    const tsl_search_view view = {&space, seconds, 7};
    while ((count = tsl_search_at(s)->propose(&view, next, 1 + proposed % TSL_TUNE_BATCH)) > 0) {
      assert_true(count <= 1 + proposed % TSL_TUNE_BATCH);
      for (int i = 0; i < count; i++) {
        assert_true(next[i] >= 0 && next[i] < space.count);
        assert_true(isnan(seconds[next[i]]));
        seconds[next[i]] = next[i] % 5 ? true_seconds(&space.points[next[i]].config) : INFINITY;
      }
      proposed += count;
    }
    assert_int_equal(proposed, space.count);
    assert_ptr_equal(tsl_search_find(tsl_search_at(s)->name), tsl_search_at(s));
  }
  assert_null(tsl_search_find("luck"));
}

/* A strategy whose prediction is faster than every measurement is measured before any neighbour. */
static void no_promise_stays_unmeasured(void **state) {
  (void)state;
  static const tsl_strategy flat = {.name = "flat", .op = TSL_OP_GEMM};
  const tsl_space_point promise = {.strategy = &flat, .predicted = 20};
  double seconds[512];
  int next[TSL_TUNE_BATCH], seen = 0;
  assert_int_equal(tsl_space_add_point(&space, &promise), TESELA_OK);
  tsl_space_sort(&space);
  const int last = space.count - 1;
  assert_ptr_equal(space.points[last].strategy, &flat);
  const tsl_search_view view = {&space, seconds, 1};
  for (int slow = 0; slow < 2; slow++) {
    for (int i = 0; i < space.count; i++)
      seconds[i] = NAN;
    seen = 0;
    for (int batch = 0; batch < 4; batch++) {
      const int count = tsl_search_find("hill_climb")->propose(&view, next, TSL_TUNE_BATCH);
      for (int i = 0; i < count; i++) {
        seen += next[i] == last;
        seconds[next[i]] = slow ? 30 : 10;
      }
    }
    assert_int_equal(seen, slow);
  }
  tear_down(NULL);
  assert_int_equal(set_up(NULL), 0);
}

static tsl_tuned tune(const char *search, landscape *land, int points_max, const tsl_tune_cache *prior) {
  tsl_tuned tuned;
  const tsl_tune_job job = {.space = &space,
                            .search = tsl_search_find(search),
                            .start = -1,
                            .points_max = points_max,
                            .seed = 3,
                            .measure = measure,
                            .argument = land,
                            .prior = prior};
  assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OK);
  return tuned;
}

static void expect_best(const tsl_tuned *tuned) {
  assert_int_equal(tuned->best, point_at(BEST_X, BEST_Y, BEST_Z));
  const double expected =
      true_seconds(&space.points[tuned->start].config) / true_seconds(&space.points[tuned->best].config);
  assert_true(fabs(tuned->gain - expected) < 1e-9 * expected);
}

/* Also where the machine gets slower all the time: times are ratios to the incumbent's. */
static void exhaustive_finds_the_best(void **state) {
  (void)state;
  for (int drifting = 0; drifting < 2; drifting++) {
    landscape land = {.drift = 0.05 * drifting};
    tsl_tuned tuned = tune("exhaustive", &land, 0, NULL);
    expect_best(&tuned);
    assert_true(tuned.complete);
    assert_int_equal(tuned.tried_count, space.count);
    assert_int_equal(tuned.wrong, 64); /* y = 2, any x and z */
    tsl_tuned_free(&tuned);
  }
}

static void hill_climb_finds_it_soon(void **state) {
  (void)state;
  landscape land = {.drift = 0.01};
  tsl_tuned tuned = tune("hill_climb", &land, 70, NULL);
  expect_best(&tuned);
  assert_true(tuned.found_at <= 70 && tuned.tried_count <= 70);
  assert_false(tuned.complete);
  for (int i = 0; i < space.count; i++)
    if (i != tuned.start && space.points[i].config.value[1] == 2)
      assert_true(land.measured[i] <= 1); /* a point with wrong results never becomes the incumbent */
  tsl_tuned_free(&tuned);
}

static void random_depends_on_the_seed_alone(void **state) {
  (void)state;
  landscape one = {.calls = 0}, two = {.calls = 0};
  tsl_tuned first = tune("random", &one, 40, NULL), second = tune("random", &two, 40, NULL);
  assert_memory_equal(one.measured, two.measured, sizeof one.measured);
  assert_int_equal(first.best, second.best);
  assert_int_equal(first.tried_count, 40);
  tsl_tuned_free(&first);
  tsl_tuned_free(&second);
}

/* Where nothing is faster by more than the noise, what would have run stays. */
static void the_incumbent_stays_within_the_noise(void **state) {
  (void)state;
  landscape land = {.noise = 0.99};
  tsl_tuned tuned = tune("exhaustive", &land, 0, NULL);
  assert_int_equal(tuned.best, tuned.start);
  assert_true(tuned.gain == 1);
  tsl_tuned_free(&tuned);
}

/* Many samples tell more than their spread. */
static void many_samples_see_through_the_noise(void **state) {
  (void)state;
  landscape land = {.noise = 0.3, .doubt = 0.001};
  tsl_tuned tuned = tune("exhaustive", &land, 0, NULL);
  expect_best(&tuned);
  tsl_tuned_free(&tuned);
}

/* A flat strategy that is 1% faster than the start, which is within the noise, is not kept as faster. */
static void a_record_is_no_faster_than_the_winner(void **state) {
  (void)state;
  static const tsl_strategy flat = {.name = "flat", .op = TSL_OP_GEMM};
  const tsl_space_point points[] = {{.strategy = &hilly, .config = {{5, 3, 5}}, .predicted = 1},
                                    {.strategy = &flat, .config = {{6, 3, 5}}, .predicted = 2},
                                    {.strategy = &flat, .config = {{7, 3, 5}}, .predicted = 3}};
  const int known[] = {2};
  landscape land = {.noise = 0.5};
  tsl_space three = {0};
  tsl_tuned tuned;
  double seconds;
  for (int i = 0; i < 3; i++)
    assert_int_equal(tsl_space_add_point(&three, &points[i]), TESELA_OK);
  const tsl_tune_job job = {.space = &three,
                            .search = tsl_search_find("hill_climb"),
                            .start = 0,
                            .known = known,
                            .known_count = 1,
                            .measure = measure,
                            .argument = &land};
  assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OK);
  assert_int_equal(tuned.best, 0);
  assert_true(tuned.results[1].seconds < tuned.results[0].seconds);
  assert_true(tsl_tuned_is_record(&tuned, &three, 0, &seconds));
  assert_true(seconds == tuned.best_seconds);
  assert_true(tsl_tuned_is_record(&tuned, &three, 1, &seconds));
  assert_true(seconds > tuned.best_seconds);
  assert_false(tsl_tuned_is_record(&tuned, &three, 2, &seconds));
  tsl_tuned_free(&tuned);
  tsl_space_free(&three);
}

/* Points from wisdom are measured right after the start, although no model and no neighbour leads
 * to them. */
static void what_is_known_is_measured_first(void **state) {
  (void)state;
  const int known[] = {point_at(1, 1, 1), point_at(3, 8, 8)};
  landscape land = {.drift = 0};
  tsl_tuned tuned;
  const tsl_tune_job job = {.space = &space,
                            .search = tsl_search_find("hill_climb"),
                            .start = point_at(8, 3, 8),
                            .points_max = 3,
                            .known = known,
                            .known_count = 2,
                            .measure = measure,
                            .argument = &land};
  assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OK);
  assert_true(tuned.tried[job.start] && tuned.tried[known[0]] && tuned.tried[known[1]]);
  tsl_tuned_free(&tuned);
}

static tesela_status nothing_is_right(void *argument, const tsl_space *among, const int *points, int count,
                                      double limit, tsl_tune_result *results) {
  (void)argument, (void)among, (void)points, (void)limit;
  for (int i = 0; i < count; i++)
    results[i] = (tsl_tune_result){.result = i % 2 ? TSL_CASE_FAILED : TSL_CASE_REFUSED, .why = "no"};
  return TESELA_OK;
}

static tesela_status it_breaks(void *argument, const tsl_space *among, const int *points, int count,
                               double limit, tsl_tune_result *results) {
  (void)argument, (void)among, (void)points, (void)count, (void)limit, (void)results;
  return tsl_fail(TESELA_OUT_OF_MEMORY, "no more");
}

static void failures_are_told(void **state) {
  (void)state;
  tsl_tuned tuned;
  tsl_tune_job job = {.space = &space, .search = tsl_search_at(0), .start = 4, .measure = nothing_is_right};
  assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OK);
  assert_int_equal(tuned.best, -1);
  assert_int_equal(tuned.tried_count, space.count);
  assert_int_equal(tuned.failed + tuned.refused, space.count);
  assert_true(isnan(tuned.gain));
  tsl_tuned_free(&tuned);
  job.measure = it_breaks;
  assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OUT_OF_MEMORY);
  tsl_tuned_free(&tuned);
}

/* --- kept measurements: of a strategy that the library has --- */

enum { LONG_LINE = 512 };

static const char *line_of(char line[LONG_LINE], const char *result, int tile, double seconds) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "tile_local");
  snprintf(line, LONG_LINE,
           "%s %g gemm tile_local version=%d tile=%d key=mock/1 units=1 m=64 n=64 k=64 types=f32,f32,f32 "
           "layout=rrr beta=0 seconds=%g spread=0.01 date=2026-01-01T00:00:00Z\n",
           result, tile * 1e-3, strategy->version, tile, seconds);
  return line;
}

static void a_search_is_replayed_without_a_device(void **state) {
  (void)state;
  scratch folder;
  tsl_tune_cache cache;
  tsl_space kept = {0};
  tsl_tuned tuned;
  char lines[3][LONG_LINE], text[4 * LONG_LINE];
  scratch_create(&folder);
  snprintf(text, sizeof text, "%s%s%snonsense\nright 0.1 gemm tile_lo", line_of(lines[0], "right", 8, 0.5),
           line_of(lines[1], "right", 16, 0.2), line_of(lines[2], "wrong", 32, 0.01));
  scratch_write(&folder, "cache", text);
  assert_int_equal(tsl_tune_cache_read(scratch_path(&folder, "cache"), false, &cache), TESELA_OK);
  assert_int_equal(cache.count, 3);
  assert_int_equal(cache.passed_over, 2);
  assert_int_equal(tsl_tune_cache_add_to_space(&cache, &kept), TESELA_OK);
  tsl_space_sort(&kept);
  assert_int_equal(kept.count, 3);
  for (int s = 0; tsl_search_at(s); s++) {
    const tsl_tune_job job = {.space = &kept,
                              .search = tsl_search_at(s),
                              .start = -1,
                              .measure = tsl_tune_by_cache,
                              .argument = &cache};
    assert_int_equal(tsl_tune_run(&job, &tuned), TESELA_OK);
    assert_int_equal(kept.points[tuned.best].config.value[0], 16);
    assert_true(fabs(tuned.gain - 2.5) < 1e-9);
    assert_int_equal(tuned.wrong, 1);
    tsl_tuned_free(&tuned);
  }
  /* Points that were measured before are not measured again. */
  const tsl_tune_job on = {
      .space = &kept, .search = tsl_search_at(0), .start = -1, .measure = it_breaks, .prior = &cache};
  assert_int_equal(tsl_tune_run(&on, &tuned), TESELA_OK);
  assert_int_equal(tuned.batches, 0);
  assert_int_equal(kept.points[tuned.best].config.value[0], 16);
  tsl_tuned_free(&tuned);
  /* Another problem's measurements say nothing. */
  cache.like.problem.m = 65;
  assert_null(tsl_tune_cache_find(&cache, kept.points[0].strategy, &kept.points[0].config));
  tsl_space_free(&kept);
  tsl_tune_cache_free(&cache);
  scratch_remove(&folder);
}

static void measurements_read_back(void **state) {
  (void)state;
  scratch folder;
  tsl_tune_cache cache;
  scratch_create(&folder);
  const char *path = scratch_path(&folder, "cache");
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_device device = {.key = "mock/1", .compute_units = 1};
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "tile_local");
  tsl_config config = tsl_strategy_defaults(strategy);
  for (int i = 0; i < 3; i++) {
    const tsl_tune_stored kept = {tsl_wisdom_record_of(&problem, strategy, &config, &device, 1 + i, 0.5),
                                  TSL_CASE_RIGHT, 0.25};
    assert_int_equal(tsl_tune_cache_write(path, &kept), TESELA_OK);
  }
  assert_int_equal(tsl_tune_cache_read(path, false, &cache), TESELA_OK);
  assert_int_equal(cache.count, 3);
  const tsl_tune_stored *last = tsl_tune_cache_find(&cache, strategy, &config);
  assert_true(last->record.seconds == 3 && last->record.spread == 0.5 && last->predicted == 0.25);
  tsl_tune_cache_free(&cache);
  assert_int_equal(tsl_tune_cache_read(scratch_path(&folder, "none"), true, &cache), TESELA_OK);
  assert_int_equal(tsl_tune_cache_read(scratch_path(&folder, "none"), false, &cache), TESELA_IO_FAILED);
  scratch_remove(&folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_space_is_what_is_legal),
      cmocka_unit_test(neighbours_are_one_step_away),
      cmocka_unit_test(searches_propose_each_point_once),
      cmocka_unit_test(no_promise_stays_unmeasured),
      cmocka_unit_test(exhaustive_finds_the_best),
      cmocka_unit_test(hill_climb_finds_it_soon),
      cmocka_unit_test(random_depends_on_the_seed_alone),
      cmocka_unit_test(the_incumbent_stays_within_the_noise),
      cmocka_unit_test(many_samples_see_through_the_noise),
      cmocka_unit_test(a_record_is_no_faster_than_the_winner),
      cmocka_unit_test(what_is_known_is_measured_first),
      cmocka_unit_test(failures_are_told),
      cmocka_unit_test(a_search_is_replayed_without_a_device),
      cmocka_unit_test(measurements_read_back),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
