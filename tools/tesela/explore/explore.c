#include "explore/explore.h"

#include "cli/interrupt.h"
#include "core/pool.h"
#include "core/status.h"
#include "planner/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const tsl_point *tsl_explore_at(const tsl_exploration *all, int type, int size, int strategy, int device) {
  return &all->points[((type * all->sizes.count + size) * all->strategies.count + strategy) *
                          all->devices.count +
                      device];
}

const tsl_race_report *tsl_explore_race(const tsl_exploration *all, int type, int size, int device) {
  return &all->races[(type * all->sizes.count + size) * all->devices.count + device];
}

tsl_problem tsl_explore_problem(const tsl_exploration *all, int type, int size) {
  const tsl_size *extent = &all->sizes.items[size];
  const tsl_types *types = &all->types.items[type].types;
  tsl_problem problem = tsl_problem_of(all->op, extent->m, extent->n, extent->k, types->a);
  problem.b.type = types->b;
  problem.c.type = types->c;
  problem.ask = all->ask;
  return problem;
}

const tsl_strategy *tsl_explore_lowest(tsl_op op) {
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (strategy->op == op)
      return strategy;
  return NULL;
}

/* Returns the seconds of tsl_explore_lowest() for this type and size; NaN if it was not measured. */
static double baseline_of(const tsl_exploration *all, int type, int size) {
  for (int s = 0; s < all->strategies.count; s++)
    for (int d = 0; d < all->devices.count; d++)
      if (all->strategies.items[s].strategy == tsl_explore_lowest(all->op) &&
          all->devices.items[d]->capabilities & TSL_CAN_HOST)
        return tsl_explore_at(all, type, size, s, d)->entry.timing.median;
  return NAN;
}

static double explore_rate(double amount, const tsl_point *point) {
  return amount > 0 ? amount / point->entry.timing.median : NAN;
}

bool tsl_explore_by_bytes(tsl_op op) {
  return op != TSL_OP_GEMM;
}

double tsl_point_flops(const tsl_point *point) {
  return explore_rate(point->flops, point);
}

double tsl_point_bandwidth(const tsl_point *point) {
  return explore_rate(point->bytes, point);
}

double tsl_point_speedup(const tsl_exploration *all, const tsl_point *point) {
  return baseline_of(all, point->type, point->size) / point->entry.timing.median;
}

const char *tsl_case_result_name(tsl_case_result result) {
  static const char *const names[] = {[TSL_CASE_RIGHT] = "right",
                                      [TSL_CASE_WRONG] = "wrong",
                                      [TSL_CASE_REFUSED] = "refused",
                                      [TSL_CASE_FAILED] = "failed"};
  return names[result];
}

const char *tsl_point_result(const tsl_point *point) {
  return tsl_case_result_name(point->entry.result);
}

void tsl_explore_add_strategy(const tsl_exploration *all, int strategy, tsl_text *out) {
  const tsl_chosen_strategy *chosen = &all->strategies.items[strategy];
  tsl_text_add(out, "%s", chosen->strategy->name);
  for (int i = 0; i < tsl_strategy_params(chosen->strategy); i++)
    if (chosen->given & 1u << i) {
      tsl_text_add(out, " ");
      tsl_config_print_one(chosen->strategy, i, &chosen->config, out);
    }
}

bool tsl_explore_has_times(const tsl_exploration *all) {
  for (int i = 0; i < all->point_count; i++)
    if (all->points[i].entry.result == TSL_CASE_RIGHT)
      return true;
  return false;
}

bool tsl_explore_is_cut_short(const tsl_exploration *all) {
  for (int i = 0; i < all->point_count; i++)
    if (strcmp(all->points[i].entry.why, tsl_race_cut_short) == 0)
      return true;
  return false;
}

/* --- the points --- */

/* Creates a point for every combination; the last list changes fastest. */
static void explore_number_points(tsl_exploration *all) {
  for (int i = 0; i < all->point_count; i++) {
    int left = i;
    tsl_point *point = &all->points[i];
    *point = (tsl_point){.entry = {.timing = tsl_not_measured, .predicted = INFINITY}};
    point->device = left % all->devices.count;
    left /= all->devices.count;
    point->strategy = left % all->strategies.count;
    left /= all->strategies.count;
    point->size = left % all->sizes.count;
    point->type = left / all->sizes.count;
    const tsl_problem problem = tsl_explore_problem(all, point->type, point->size);
    point->flops = tsl_problem_flops(&problem);
    point->bytes = tsl_problem_bytes(&problem);
  }
}

/* Sets the entry's config: the swept one, or the user's completed by the planner. */
static tesela_status explore_choose(const tsl_exploration *all, tsl_devices *devices,
                                    const tsl_wisdom *wisdom, tsl_point *point) {
  const tsl_chosen_strategy *chosen = &all->strategies.items[point->strategy];
  const tsl_problem problem = tsl_explore_problem(all, point->type, point->size);
  tsl_race_entry *entry = &point->entry;
  tsl_candidate *candidates;
  int count;
  tsl_text text = {0};
  entry->strategy = chosen->strategy;
  entry->config = chosen->config;
  if (all->sweep.count > 0)
    return TESELA_OK;
  tsl_explore_add_strategy(all, point->strategy, &text);
  const tsl_choice choice = {.devices = devices,
                             .device = all->devices.items[point->device]->name,
                             .strategy = tsl_text_get(&text),
                             .place = TSL_PLACE_DEVICE,
                             .wisdom = wisdom};
  const tesela_status status = tsl_planner_list(&problem, &choice, &candidates, &count);
  tsl_text_free(&text);
  if (status != TESELA_OK)
    return status;
  entry->config = candidates[0].config;
  entry->predicted = candidates[0].seconds;
  if (*candidates[0].refusal) {
    entry->result = TSL_CASE_REFUSED;
    snprintf(entry->why, sizeof entry->why, "%s", candidates[0].refusal);
  }
  free(candidates);
  return TESELA_OK;
}

/* --- the races --- */

/* Marks an entry that is not measured yet, so that an interrupt can print all entries at any time. */
static bool explore_is_waiting(const tsl_race_entry *entry) {
  return entry->result == TSL_CASE_REFUSED && strcmp(entry->why, tsl_race_cut_short) == 0;
}

static void set_result(tsl_race_entry *entry, tsl_case_result result, const char *why) {
  entry->result = result;
  snprintf(entry->why, sizeof entry->why, "%s", why);
}

static void mark_waiting(tsl_exploration *all) {
  for (int i = 0; i < all->point_count; i++)
    if (all->points[i].entry.result != TSL_CASE_REFUSED)
      set_result(&all->points[i].entry, TSL_CASE_REFUSED, tsl_race_cut_short);
}

/* Returns the approximate seconds of a race: some runs of each entry, and the verification. */
static double explore_weigh(const tsl_exploration *all, int type, int size, int device) {
  double seconds = 0;
  for (int s = 0; s < all->strategies.count; s++) {
    const tsl_point *point = tsl_explore_at(all, type, size, s, device);
    if (!explore_is_waiting(&point->entry) || !(point->entry.predicted <= all->options.time_limit))
      continue;
    seconds += 5 * point->entry.predicted + all->options.seconds_max / 2 + point->flops / 3e9 + 0.1;
  }
  return seconds;
}

/* The part of the whole work that the present race is. */
typedef struct explore_part {
  tsl_progress *progress;
  double before, own, whole;
} explore_part;

static void explore_tell(void *argument, const char *what, double fraction) {
  const explore_part *of = argument;
  tsl_progress_at(of->progress, what, of->whole > 0 ? (of->before + fraction * of->own) / of->whole : 0);
}

static tesela_status run_race(tsl_exploration *all, int type, int size, int device, explore_part *part) {
  tsl_race_entry *entries[TSL_SELECT_MAX], *const made = calloc((size_t)all->strategies.count, sizeof *made);
  tsl_race_report report;
  const tsl_problem problem = tsl_explore_problem(all, type, size);
  tsl_race_options options = all->options;
  if (!made)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d measurements", all->strategies.count);
  for (int s = 0; s < all->strategies.count; s++) {
    made[s] = tsl_explore_at(all, type, size, s, device)->entry;
    if (explore_is_waiting(&made[s]))
      set_result(&made[s], TSL_CASE_RIGHT, "");
    entries[s] = &made[s];
  }
  options.stop = tsl_interrupted;
  options.hardware = true;
  options.progress = explore_tell;
  options.argument = part;
  tsl_interrupt_wait_begin();
  const tesela_status status =
      tsl_race_run(&problem, all->devices.items[device], &options, entries, all->strategies.count, &report);
  tsl_interrupt_wait_end();
  for (int s = 0; s < all->strategies.count && status == TESELA_OK; s++)
    all->points[tsl_explore_at(all, type, size, s, device) - all->points].entry = made[s];
  all->races[tsl_explore_race(all, type, size, device) - all->races] = report;
  free(made);
  return status;
}

/* Runs all races in order; with `run` false only adds up their weights. */
static tesela_status each_race(tsl_exploration *all, explore_part *part, bool run) {
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++)
      for (int d = 0; d < all->devices.count; d++) {
        part->own = explore_weigh(all, t, s, d);
        if (run)
          TSL_TRY(run_race(all, t, s, d, part));
        part->before += part->own;
      }
  return TESELA_OK;
}

static tesela_status choose_all(tsl_exploration *all, tsl_devices *devices) {
  tsl_wisdom *wisdom;
  TSL_TRY(tsl_wisdom_open(&wisdom));
  tesela_status status = TESELA_OK;
  for (int i = 0; i < all->point_count && status == TESELA_OK; i++)
    status = explore_choose(all, devices, wisdom, &all->points[i]);
  tsl_wisdom_close(wisdom);
  return status;
}

void tsl_explore_look_at_machine(tsl_exploration *all) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(all->date, sizeof all->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  for (int i = getloadavg(all->load_average, 3); i < 3; i++)
    all->load_average[i < 0 ? 0 : i] = NAN;
  all->threads = tsl_pool_default_threads();
}

tesela_status tsl_explore_run(tsl_exploration *all, tsl_devices *devices, tsl_progress *progress) {
  const int races = all->types.count * all->sizes.count * all->devices.count;
  explore_part of = {.progress = progress};
  tsl_explore_look_at_machine(all);
  all->point_count = races * all->strategies.count;
  all->points = calloc((size_t)all->point_count + 1, sizeof *all->points);
  all->races = calloc((size_t)races + 1, sizeof *all->races);
  if (!all->points || !all->races)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d measurements", all->point_count);
  explore_number_points(all);
  TSL_TRY(choose_all(all, devices));
  mark_waiting(all);
  TSL_TRY(each_race(all, &of, false));
  of.whole = of.before;
  of.before = 0;
  return each_race(all, &of, true);
}

void tsl_explore_free(tsl_exploration *all) {
  free(all->points);
  free(all->races);
  all->points = NULL;
  all->races = NULL;
}
