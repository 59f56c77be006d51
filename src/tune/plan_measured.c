#include "tune/plan_measured.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/status.h"
#include "planner/kernel_self_test.h"
#include "tune/search_seeds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Seconds of a core for a normal number, a copied byte, a verification; of compiling, loading a kernel. */
static const double number_seconds = 20e-9, byte_seconds = 0.25e-9, judge_seconds = 0.02,
                    compile_seconds = 1.5, load_seconds = 0.05;
/* Runs of a point besides its samples: verification, warm-up, sample length. Minimum seconds of a sample. */
static const double extra_runs = 4, sample_seconds_min = 1e-3;
enum { SAMPLES_MIN = 3, BATCH = 8 };
/* Assumed error factor of a prediction. */
static const double first_doubt_factor = 2;

double tsl_tune_cost(const tsl_problem *problem, const tsl_device *device, const tsl_space *space,
                     const int *points, int count, double runs_max) {
  const bool compiles = (device->capabilities & TSL_CAN_KERNELS) != 0;
  const double cores = fmax(1, tsl_pool_default_threads());
  double numbers = 0, build = 0, each = 0;
  for (int i = 0; i < TSL_OPERANDS; i++)
    numbers += (double)tsl_shape_extent(tsl_problem_shape(problem, i));
  for (int i = 0; i < count; i++) {
    const tsl_space_point *point = &space->points[points[i]];
    if (compiles)
      build +=
          tsl_trust_has(problem, point->strategy, &point->config, device) ? load_seconds : compile_seconds;
    each += numbers * number_seconds + judge_seconds + extra_runs * (point->predicted + sample_seconds_min) +
            fmax(SAMPLES_MIN * fmax(point->predicted, sample_seconds_min), runs_max);
  }
  const double sets = 2 * (double)device->cache_bytes * byte_seconds + numbers * number_seconds;
  return sets + each + (build > 0 ? fmax(build / cores, compile_seconds * (build >= compile_seconds)) : 0);
}

typedef struct timed_search {
  tsl_tune_race race;
  double deadline; /* time by tsl_clock() */
  double doubt;    /* measured over expected time; 0: nothing measured */
} timed_search;

static double plan_measured_cost_of(const timed_search *search, const tsl_space *space, const int *points,
                                    int count) {
  return (search->doubt > 0 ? search->doubt : first_doubt_factor) *
         tsl_tune_cost(search->race.problem, search->race.device, space, points, count,
                       search->race.seconds_max);
}

/* Measures as many points as time allows, with the incumbent; TESELA_UNSUPPORTED: none. The first is measured
 * alone, because compilation times are hard to predict. */
static tesela_status measure_in_time(void *argument, const tsl_space *space, const int *points, int count,
                                     double limit, tsl_tune_result *results) {
  timed_search *search = argument;
  const double start = tsl_clock();
  const bool learns = !(search->doubt > 0) && (search->race.device->capabilities & TSL_CAN_KERNELS);
  int fitting = learns && count > 1 ? 1 : count;
  while (fitting > 0 && plan_measured_cost_of(search, space, points, fitting) > search->deadline - start)
    fitting--;
  if (fitting == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "there is no time to measure more");
  const double expected = plan_measured_cost_of(search, space, points, fitting);
  TSL_TRY(tsl_tune_by_race(&search->race, space, points, fitting, limit, results));
  search->doubt =
      fmax(1, (search->doubt > 0 ? search->doubt : first_doubt_factor) * (tsl_clock() - start) / expected);
  for (int i = fitting; i < count; i++) {
    results[i] = (tsl_tune_result){.result = TSL_CASE_REFUSED};
    snprintf(results[i].why, sizeof results[i].why, "%s", tsl_race_cut_short);
  }
  return TESELA_OK;
}

/* Adds the configs of all allowed strategies on a device. */
static tesela_status plan_measured_make_space(const tsl_problem *problem, const tsl_choice *choice,
                                              const tsl_device *device, const tsl_candidate *list, int count,
                                              tsl_space *space) {
  tsl_strategy_request request;
  TSL_TRY(tsl_planner_request(problem->op, choice->strategy, &request));
  for (int i = 0; i < count; i++)
    if (list[i].device == device && !list[i].refusal[0])
      TSL_TRY(tsl_space_add(space, problem, device, list[i].strategy,
                            request.strategy ? &request.config : NULL, request.given));
  tsl_space_sort(space);
  return TESELA_OK;
}

static tesela_status plan_measured_search(const tsl_problem *problem, const tsl_choice *choice,
                                          double seconds, tsl_device *device, const tsl_space *space,
                                          tsl_effort *found) {
  tsl_choice choice_here = *choice;
  tsl_tuned tuned = {.best = -1};
  int start, *known, known_count;
  choice_here.device = device->name;
  choice_here.place = TSL_PLACE_DEVICE;
  TSL_TRY(tsl_tune_find_start(problem, &choice_here, space, &start, &known, &known_count));
  timed_search search = {.race = {.problem = problem,
                                  .device = device,
                                  .seconds_max = fmin(0.5, fmax(0.01, seconds / 100)),
                                  .time_limit = seconds,
                                  .seed = 1},
                         .deadline = tsl_clock() + seconds};
  search.race.deadline = search.deadline;
  const tsl_tune_job job = {.space = space,
                            .search = tsl_search_at(0),
                            .start = start,
                            .known = known,
                            .known_count = known_count,
                            .budget = seconds,
                            .batch = BATCH,
                            .seed = 1,
                            .measure = measure_in_time,
                            .argument = &search};
  const tesela_status status = tsl_tune_run(&job, &tuned);
  if (tuned.best >= 0 && tuned.results[tuned.best].result == TSL_CASE_RIGHT) {
    const tsl_space_point *best = &space->points[tuned.best];
    found->won = (tsl_candidate){.strategy = best->strategy, .config = best->config, .device = device};
    tsl_tuned_print(&tuned, space, problem, device, &found->records);
  }
  const char *why = status != TESELA_OK               ? tesela_last_error()
                    : tuned.best < 0 && tuned.results ? tuned.results[tuned.start].why
                                                      : "";
  tsl_log(TSL_LOG_PLAN, "effort: %d of %d configs were tried on %s in %.3g s%s%s", tuned.tried_count,
          space->count, device->name, tuned.seconds, *why ? ": " : "", why);
  tsl_tuned_free(&tuned);
  free(known);
  return status == TESELA_OUT_OF_MEMORY ? status : TESELA_OK;
}

/* Returns false for empty or batched products, alpha = 0, and accuracy requests with an epilogue. */
static bool is_measurable(const tsl_problem *problem) {
  return !(tsl_problem_has_epilogue(problem) && tsl_numeric_requirements_has_accuracy(&problem->ask)) &&
         problem->m > 0 && problem->n > 0 && (problem->k > 0 || problem->op == TSL_OP_TRANSPOSE) &&
         tsl_problem_batch(problem) == 1 && (problem->alpha[0] != 0 || problem->alpha[1] != 0);
}

tesela_status tsl_tune_effort(const tsl_problem *problem, const tsl_choice *choice, double seconds,
                              tsl_effort *found) {
  tsl_choice sparing = *choice;
  tsl_candidate *list;
  tsl_space space = {0};
  tsl_status_saved saved;
  tesela_status status = TESELA_OK;
  int count;
  *found = (tsl_effort){.won = {.strategy = NULL}};
  if (!(seconds > 0) || !is_measurable(problem))
    return TESELA_OK;
  /* the epilogue is equal for all candidates */
  const tsl_problem product = tsl_problem_drop_epilogue(problem);
  problem = &product;
  sparing.sparing = true;
  tsl_status_save(&saved);
  TSL_TRY(tsl_planner_list(problem, &sparing, &list, &count));
  const bool is_known = count > 0 && list[0].basis == TSL_BASIS_EXACT && list[0].own;
  if (count > 0 && !list[0].refusal[0] && !is_known && tsl_device_open(list[0].device) == TESELA_OK)
    status = plan_measured_make_space(problem, choice, list[0].device, list, count, &space);
  if (status == TESELA_OK && space.count > 0)
    status = plan_measured_search(problem, choice, seconds, list[0].device, &space, found);
  if (status == TESELA_OK)
    status = tsl_text_status(&found->records);
  if (status == TESELA_OK)
    tsl_status_restore(&saved);
  tsl_space_free(&space);
  free(list);
  return status;
}
