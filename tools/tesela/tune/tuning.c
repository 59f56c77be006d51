#include "tune/tuning.h"

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "core/clock.h"
#include "core/pool.h"
#include "core/status.h"
#include "planner/planner.h"
#include "tune/search_seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Configs that are measured together: as many as can be compiled together, and at least so many. */
enum { least_batch = 4 };

/* --- what may be chosen, and what would be chosen now --- */

static tesela_status choose_device(const char *wanted, tsl_devices *devices, tsl_tuning *all) {
  const char *name = tsl_device_or_default(wanted);
  const tsl_choice choice = {.devices = devices, .device = name, .wisdom = all->wisdom};
  tsl_candidate *list;
  int count;
  if (strcmp(name, "auto") != 0)
    return tsl_devices_find(devices, name, &all->device);
  TSL_TRY(tsl_planner_list(&all->problem, &choice, &list, &count));
  all->device = list[0].device;
  free(list);
  return TESELA_OK;
}

static tesela_status tuning_make_space(const tsl_tune_options *options, tsl_tuning *all) {
  tsl_strategy_list strategies;
  TSL_TRY(tsl_select_strategies(all->problem.op, options->strategies, false, &strategies));
  for (int i = 0; i < strategies.count; i++)
    TSL_TRY(tsl_space_add(&all->space, &all->problem, all->device, strategies.items[i].strategy,
                          &strategies.items[i].config, strategies.items[i].given));
  tsl_space_sort(&all->space);
  if (all->space.count == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "no such strategy takes this %s on %s",
                    all->problem.op == TSL_OP_GEMM ? "product" : tsl_op_name(all->problem.op),
                    all->device->name);
  return TESELA_OK;
}

/* --- searching --- */

static tsl_wisdom_record record_of(const tsl_tuning *all, const tsl_space_point *point, double seconds,
                                   double spread) {
  return tsl_wisdom_record_of(&all->problem, point->strategy, &point->config, all->device, seconds, spread);
}

static tesela_status tuning_keep(void *argument, const tsl_space_point *point,
                                 const tsl_tune_result *result) {
  const tsl_tuning *all = argument;
  const bool right = result->result == TSL_CASE_RIGHT;
  const tsl_tune_stored kept = {
      .record = record_of(all, point, right ? result->seconds : point->predicted, right ? result->spread : 0),
      .result = result->result,
      .predicted = point->predicted};
  return all->cache_path ? tsl_tune_cache_write(all->cache_path, &kept) : TESELA_OK;
}

static void tuning_tell(void *argument, const char *what, double fraction) {
  tsl_progress_at(argument, what, fraction);
}

/* time for the last race after an interrupt, seconds */
static const double interrupted_seconds = 0.25;

/* Races the winner against the start again, with more time and full verification. After an interrupt the time
 * is short; if it ends first, the result of the search remains. */
static tesela_status confirm(tsl_tuning *all, uint64_t seed) {
  tsl_race_entry entries[2], *racing[2] = {&entries[0], &entries[1]};
  const int points[2] = {all->tuned.best, all->tuned.start};
  const int count = points[0] == points[1] ? 1 : 2;
  tsl_race_options race = {.seed = seed};
  if (all->cut_short) {
    race.seconds_max = interrupted_seconds / 4;
    race.deadline = tsl_clock() + interrupted_seconds;
  }
  memset(entries, 0, sizeof entries);
  for (int i = 0; i < count; i++) {
    entries[i].strategy = all->space.points[points[i]].strategy;
    entries[i].config = all->space.points[points[i]].config;
  }
  tsl_interrupt_wait_begin();
  const tesela_status status = tsl_race_run(&all->problem, all->device, &race, racing, count, NULL);
  tsl_interrupt_wait_end();
  TSL_TRY(status);
  const tsl_race_entry *won = &entries[0], *start = &entries[count - 1];
  if (all->cut_short && (won->result == TSL_CASE_REFUSED || start->result == TSL_CASE_REFUSED))
    return TESELA_OK;
  if (won->result != TSL_CASE_RIGHT)
    return tsl_fail(won->result == TSL_CASE_WRONG ? TESELA_WRONG_RESULT : TESELA_DEVICE_FAILED,
                    "the fastest config, of %s, did not pass a second time: %s", won->strategy->name,
                    won->why);
  tsl_tune_result now[2] = {tsl_tune_result_of(won, all->device), tsl_tune_result_of(start, all->device)};
  const bool holds = start->result != TSL_CASE_RIGHT || tsl_tune_beats(&now[0], &now[1]);
  if (count == 2 && !holds) {
    /* A resumed search may not have measured the start: its time now follows from the race. */
    tsl_tune_result *result = &all->tuned.results[all->tuned.start];
    if (!all->tuned.tried[all->tuned.start] || result->result != TSL_CASE_RIGHT)
      *result = (tsl_tune_result){.result = TSL_CASE_RIGHT,
                                  .seconds = all->tuned.results[all->tuned.best].seconds * now[1].seconds /
                                             now[0].seconds,
                                  .spread = now[1].spread};
    all->tuned.tried_count += !all->tuned.tried[all->tuned.start];
    all->tuned.tried[all->tuned.start] = true;
    all->tuned.best = all->tuned.start;
    all->tuned.found_at = 1;
    now[0] = now[1];
  }
  all->tuned.best_seconds = now[0].seconds;
  all->tuned.spread = now[0].spread;
  all->tuned.gain = now[1].seconds / now[0].seconds;
  if (start->result == TSL_CASE_RIGHT) /* the table shows the same gain */
    all->tuned.results[all->tuned.start].seconds =
        all->tuned.gain * all->tuned.results[all->tuned.best].seconds;
  return TESELA_OK;
}

/* Measures a batch. An interrupt waits, so that the printed results do not change meanwhile. */
static tesela_status tuning_measure(void *argument, const tsl_space *space, const int *points, int count,
                                    double limit, tsl_tune_result *results) {
  tsl_interrupt_wait_begin();
  const tesela_status status = tsl_tune_by_race(argument, space, points, count, limit, results);
  tsl_interrupt_wait_end();
  return status;
}

static tesela_status search_on_device(const tsl_tune_options *options, tsl_tuning *all) {
  tsl_tune_cache prior = {.count = 0};
  tsl_tune_race race = {.problem = &all->problem,
                        .device = all->device,
                        .seconds_max = fmin(0.5, fmax(0.02, all->budget / 100)),
                        .time_limit = all->budget > 0 ? all->budget / 4 : 0,
                        .seed = (uint64_t)options->seed,
                        .stop = tsl_interrupted};
  tsl_progress *progress = NULL;
  tesela_status status = TESELA_OK;
  all->started = tsl_clock();
  all->cache_path = options->cache;
  if (options->cache)
    TSL_GO(tsl_tune_cache_read(options->cache, true, &prior));
  prior.like = record_of(all, &all->space.points[all->start], 1, 0);
  progress = all->progress = tsl_progress_start(true);
  const tsl_tune_job job = {.space = &all->space,
                            .search = all->search,
                            .start = all->start,
                            .known = all->known,
                            .known_count = all->known_count,
                            .budget = all->budget,
                            .points_max = (int)options->points,
                            .batch = tsl_pool_default_threads() > least_batch ? tsl_pool_default_threads()
                                                                              : least_batch,
                            .seed = (uint64_t)options->seed,
                            .measure = tuning_measure,
                            .argument = &race,
                            .prior = options->cache ? &prior : NULL,
                            .keep = tuning_keep,
                            .keep_argument = all,
                            .stop = tsl_interrupted,
                            .progress = tuning_tell,
                            .progress_argument = progress};
  TSL_GO(tsl_tune_run(&job, &all->tuned));
  all->cut_short = tsl_interrupted();
  if (all->tuned.best < 0 && all->cut_short)
    TSL_GO(tsl_fail(TESELA_UNSUPPORTED, "it was interrupted before anything was measured"));
  if (all->tuned.best < 0)
    TSL_GO(tsl_fail(TESELA_UNSUPPORTED, "none of %d configs gave a right result in time: %s",
                    all->tuned.tried_count, all->tuned.results[all->start].why));
  TSL_GO(confirm(all, (uint64_t)options->seed + 1));
  tsl_tuned_rescale(&all->tuned, all->space.count);
out:
  all->progress = NULL;
  tsl_progress_end(progress);
  tsl_tune_cache_free(&prior);
  return status;
}

/* --- keeping --- */

static tesela_status keep_wisdom(const tsl_tune_options *options, tsl_tuning *all) {
  tsl_text path = {0}, text = {0};
  tesela_status status = TESELA_OK;
  if (options->dry_run)
    return TESELA_OK;
  TSL_GO(tsl_wisdom_path(&path));
  tsl_tuned_print(&all->tuned, &all->space, &all->problem, all->device, &text);
  TSL_GO(tsl_text_status(&text));
  TSL_GO(tsl_wisdom_update(tsl_text_get(&path), tsl_text_get(&text), &all->merged));
  all->wisdom_path = tsl_text_take(&path);
out:
  tsl_text_free(&path);
  tsl_text_free(&text);
  return status;
}

bool tsl_tuning_settle(const tsl_tune_options *options, tsl_tuning *all) {
  tsl_tuned *tuned = &all->tuned;
  tsl_progress_stop(all->progress);
  if (!tuned->results || tuned->best < 0)
    return false;
  const tsl_tune_result *start = &tuned->results[tuned->start];
  all->cut_short = true;
  tuned->seconds = tsl_clock() - all->started;
  if (tuned->tried[tuned->start] && start->result == TSL_CASE_RIGHT)
    tuned->gain = start->seconds / tuned->results[tuned->best].seconds;
  tsl_tuned_rescale(tuned, all->space.count);
  all->kept = keep_wisdom(options, all);
  if (all->kept != TESELA_OK)
    tsl_status_save(&all->why_not_kept);
  return true;
}

tesela_status tsl_tuning_run(const tsl_tune_options *options, const char *device, tsl_devices *devices,
                             tsl_tuning *all) {
  TSL_TRY(choose_device(device, devices, all));
  TSL_TRY(tuning_make_space(options, all));
  const tsl_choice there = {
      .devices = devices, .device = all->device->name, .place = TSL_PLACE_DEVICE, .wisdom = all->wisdom};
  TSL_TRY(
      tsl_tune_find_start(&all->problem, &there, &all->space, &all->start, &all->known, &all->known_count));
  TSL_TRY(search_on_device(options, all));
  all->kept = keep_wisdom(options, all);
  if (all->kept != TESELA_OK)
    tsl_status_save(&all->why_not_kept);
  return TESELA_OK;
}
