#include "tune/tune.h"

#include "core/pool.h"
#include "core/status.h"
#include "planner/subplan_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations of a point's verification (milliseconds of the host); samples per point. */
enum { VERIFY_OPERATIONS_MAX = 1 << 24, SAMPLES_MAX = 30 };

typedef struct build_job {
  const tsl_tune_race *race;
  const tsl_space_point *points[TSL_TUNE_BATCH + 1];
} build_job;

/* Failures are ignored: the race reports them. */
static void build_point(void *argument, int64_t index, int worker) {
  const build_job *job = argument;
  const tsl_space_point *point = job->points[index];
  tsl_plan *plan;
  (void)worker;
  tsl_planner_create(job->race->problem, point->strategy, &point->config, job->race->device, TSL_PLACE_DEVICE,
                     &plan);
  tsl_plan_destroy(plan);
}

/* Compiles all points in parallel, for the race to find in the cache. */
static void build_all(const tsl_tune_race *race, const tsl_space *space, const int *points, int count) {
  build_job job = {.race = race};
  tsl_status_saved saved;
  if (!(race->device->capabilities & TSL_CAN_KERNELS))
    return;
  tsl_status_save(&saved);
  for (int i = 0; i < count; i++)
    job.points[i] = &space->points[points[i]];
  tsl_pool_run(tsl_pool_shared(), count, build_point, &job);
  tsl_status_restore(&saved);
}

/* an uncertainty of zero; 0 itself means unknown */
static const double uncertainty_min = 1e-9;
static const double fastest_uncertainty_max = 0.1;

tsl_tune_result tsl_tune_result_of(const tsl_race_entry *entry, const tsl_device *device) {
  const tsl_measurement *timing = &entry->timing;
  tsl_tune_result result = {.result = entry->result, .seconds = timing->median, .spread = timing->spread};
  snprintf(result.why, sizeof result.why, "%s", entry->why);
  if (result.result != TSL_CASE_RIGHT)
    return result;
  /* A median's error is 1.25 standard deviations over the root of the samples; quartiles are 1.35 apart. */
  result.less = result.more = fmax(1.3 * timing->spread / sqrt(timing->samples), uncertainty_min);
  if (device->is_cpu) {
    result.seconds = timing->fastest;
    result.more = 0;
    result.less = fmin(fmax((timing->first_quartile / timing->fastest - 1) / 2, uncertainty_min),
                       fastest_uncertainty_max);
  }
  return result;
}

tesela_status tsl_tune_by_race(void *argument, const tsl_space *space, const int *points, int count,
                               double limit, tsl_tune_result *results) {
  const tsl_tune_race *race = argument;
  tsl_race_entry entries[TSL_TUNE_BATCH + 1], *racing[TSL_TUNE_BATCH + 1] = {NULL};
  const tsl_race_options options = {.seconds_max = race->seconds_max,
                                    .samples_max = SAMPLES_MAX,
                                    .time_limit = race->time_limit,
                                    .limit = isfinite(limit) ? limit : 0,
                                    .operations_max = VERIFY_OPERATIONS_MAX,
                                    .seed = race->seed,
                                    .stop = race->stop,
                                    .deadline = race->deadline};
  build_all(race, space, points, count);
  memset(entries, 0, sizeof entries);
  for (int i = 0; i < count; i++) {
    entries[i].strategy = space->points[points[i]].strategy;
    entries[i].config = space->points[points[i]].config;
    racing[i] = &entries[i];
  }
  const tesela_status status = tsl_race_run(race->problem, race->device, &options, racing, count, NULL);
  for (int i = 0; i < count && status == TESELA_OK; i++)
    results[i] = tsl_tune_result_of(&entries[i], race->device);
  return status;
}
