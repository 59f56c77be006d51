#include "explore.h"

#include "base/status.h"
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tsl_measurement not_measured = {
    .median = NAN, .fastest = NAN, .slowest = NAN, .spread = NAN, .wall = NAN};

const tsl_point *tsl_explore_at(const tsl_exploration *all, int type, int size, int strategy, int device) {
  return &all->points[((type * all->sizes.count + size) * all->strategies.count + strategy) *
                          all->devices.count +
                      device];
}

double tsl_explore_baseline(const tsl_exploration *all, int type, int size) {
  for (int s = 0; s < all->strategies.count; s++)
    for (int d = 0; d < all->devices.count; d++)
      if (strcmp(all->strategies.items[s].strategy->name, "sequential") == 0 &&
          all->devices.items[d]->capabilities & TSL_CAN_HOST)
        return tsl_explore_at(all, type, size, s, d)->timing.median;
  return NAN;
}

double tsl_point_flops(const tsl_point *point) {
  return point->flops / point->timing.median;
}

/* Asks the planner for the strategy's best config on the device, or its reason for refusal. */
static tesela_status choose(const tsl_exploration *all, tsl_devices *devices, const tsl_problem *problem,
                            tsl_point *point, tsl_candidate *out) {
  const tsl_chosen_strategy *chosen = &all->strategies.items[point->strategy];
  tsl_candidate *candidates;
  int count;
  tsl_text text = {0};
  tsl_text_add(&text, "%s", chosen->strategy->name);
  for (int i = 0; i < tsl_strategy_params(chosen->strategy); i++)
    if (chosen->given & 1u << i)
      tsl_text_add(&text, " %s=%lld", chosen->strategy->params[i].name, (long long)chosen->config.value[i]);
  const tsl_choice choice = {.devices = devices,
                             .device = all->devices.items[point->device]->name,
                             .strategy = tsl_text_get(&text),
                             .place = TSL_PLACE_HOST};
  const tesela_status status = tsl_planner_list(problem, &choice, &candidates, &count);
  tsl_text_free(&text);
  if (status != TESELA_OK)
    return status;
  *out = candidates[0];
  free(candidates);
  return TESELA_OK;
}

static void refuse(tsl_point *point, const char *why) {
  point->result = TSL_CASE_REFUSED;
  snprintf(point->why, sizeof point->why, "%s", why);
}

static tesela_status measure(const tsl_exploration *all, tsl_devices *devices, tsl_point *point) {
  const tsl_size *size = &all->sizes.items[point->size];
  /* An even seed: the judge's second run, with operands in device buffers, belongs to tesela check. */
  const tsl_case what = {.problem =
                             tsl_problem_gemm(size->m, size->n, size->k, all->types.items[point->type]),
                         .data = TSL_DATA_NORMAL,
                         .seed = 2};
  tsl_candidate candidate;
  tsl_case_report report = {.timing = &point->timing};
  char predicted[32];
  point->flops = tsl_problem_flops(&what.problem);
  TSL_TRY(choose(all, devices, &what.problem, point, &candidate));
  point->config = candidate.config;
  if (*candidate.refusal) {
    refuse(point, candidate.refusal);
    return TESELA_OK;
  }
  if (candidate.seconds > all->patience) {
    snprintf(point->why, sizeof point->why, "left out: one run is predicted to take %s (see --patience)",
             tsl_format_seconds(candidate.seconds, predicted, sizeof predicted));
    point->result = TSL_CASE_REFUSED;
    return TESELA_OK;
  }
  TSL_TRY(
      tsl_check_case(candidate.strategy, &candidate.config, candidate.device, &what, &all->options, &report));
  point->result = report.result;
  point->verdict = report.verdict;
  snprintf(point->why, sizeof point->why, "%.*s", (int)sizeof point->why - 1, report.why);
  snprintf(point->plan, sizeof point->plan, "%s", report.plan);
  if (report.result != TSL_CASE_RIGHT)
    point->timing = not_measured;
  return TESELA_OK;
}

/* Every index of every list, the last list fastest. */
static void number_points(tsl_exploration *all) {
  for (int i = 0; i < all->point_count; i++) {
    int rest = i;
    tsl_point *point = &all->points[i];
    *point = (tsl_point){.timing = not_measured};
    point->device = rest % all->devices.count;
    rest /= all->devices.count;
    point->strategy = rest % all->strategies.count;
    rest /= all->strategies.count;
    point->size = rest % all->sizes.count;
    point->type = rest / all->sizes.count;
  }
}

tesela_status tsl_explore_run(tsl_exploration *all, tsl_devices *devices, tsl_progress *progress) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(all->date, sizeof all->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  all->point_count = all->types.count * all->sizes.count * all->strategies.count * all->devices.count;
  all->points = calloc((size_t)all->point_count + 1, sizeof *all->points);
  if (!all->points)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d measurements", all->point_count);
  number_points(all);
  for (int i = 0; i < all->point_count; i++) {
    tsl_point *point = &all->points[i];
    char what[64];
    snprintf(what, sizeof what, "%s on %s", all->strategies.items[point->strategy].strategy->name,
             all->devices.items[point->device]->name);
    tsl_progress_at(progress, what, (double)i / all->point_count);
    TSL_TRY(measure(all, devices, point));
  }
  return TESELA_OK;
}
