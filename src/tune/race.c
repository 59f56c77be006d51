#include "tune/race.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/device_clock.h"
#include "planner/subplan_choice.h"
#include "tune/operand_sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MIN = 5, SAMPLES_MAX = 100, SAMPLES_FLOOR = 3, BATCH_MAX = 10000, DISCARDED_IN_A_ROW = 3 };
static const double default_seconds_max = 1, default_noise = 0.02;
/* Minimum seconds of a sample, to hide clocks (half a microsecond), sleeping threads and cold code. */
static const double sample_seconds_min = 1e-3;
/* Slack of a first run, which is slow for other reasons. */
static const double first_run_slack = 4;
/* Seconds from which the verified run is an entry's first run. */
static const double long_run_seconds = 0.25;
/* Ratio to the medians from which a round is disturbed, if all entries exceed it. */
static const double disturbed_ratio = 1.25;

typedef struct timed_entry {
  tsl_race_entry *entry;
  tsl_plan *plan;
  int runs_per_sample;
  double *compute, *wall; /* samples_max samples in seconds per run */
  int count;              /* samples so far */
  double median, spread;  /* statistics of the samples so far */
  double fastest;
  double sample_seconds, sample_wall_seconds; /* of the current round */
  double spent;                               /* seconds of all runs after the warm-up */
  double verified_seconds;                    /* seconds of the verified run */
  bool running;
} timed_entry;

typedef struct race {
  const tsl_problem *problem;
  tsl_device *device;
  tsl_race_options options; /* defaults filled in */
  tsl_race_entry *const *entries;
  int count;
  timed_entry *timed_entries; /* one for each entry */
  int *shuffled;
  double *sorted_samples;
  void *samples;
  tsl_operand_sets sets;
  int next_set;
  uint64_t draws;         /* random numbers used */
  int discarded_in_a_row; /* consecutive discarded rounds */
  tsl_race_report report;
} race;

const char tsl_race_cut_short[] = "cut short before it was measured";

static bool is_stopped(const race *job) {
  return (job->options.stop && job->options.stop()) ||
         (job->options.deadline > 0 && tsl_clock() >= job->options.deadline);
}

static tsl_race_options with_defaults(const tsl_race_options *options) {
  tsl_race_options defaults = options ? *options : (tsl_race_options){0};
  defaults.samples_max = defaults.samples_max > 0 ? defaults.samples_max : SAMPLES_MAX;
  defaults.samples_min = defaults.samples_min > 0 ? defaults.samples_min : SAMPLES_MIN;
  defaults.samples_min =
      defaults.samples_min < defaults.samples_max ? defaults.samples_min : defaults.samples_max;
  defaults.seconds_max = defaults.seconds_max > 0 ? defaults.seconds_max : default_seconds_max;
  defaults.noise = defaults.noise > 0 ? defaults.noise : default_noise;
  defaults.time_limit = defaults.time_limit > 0 ? defaults.time_limit : INFINITY;
  defaults.limit = defaults.limit > 0 ? defaults.limit : INFINITY;
  return defaults;
}

static void report_progress(const race *job, const char *name, double fraction) {
  char what[192];
  snprintf(what, sizeof what, "%s on %s", name, job->device->name);
  if (job->options.progress)
    job->options.progress(job->options.argument, what, fraction);
}

/* Verifies all entries; an entry that is not right does not run. Fails without host memory. */
static tesela_status verify_all(race *job) {
  const tsl_race_terms terms = {.problem = job->problem,
                                .device = job->device,
                                .time_limit = job->options.time_limit,
                                .operations_max = job->options.operations_max,
                                .seed = job->options.seed};
  for (int i = 0; i < job->count; i++) {
    tsl_race_entry *entry = job->entries[i];
    entry->timing = tsl_not_measured;
    entry->hardware = tsl_hardware_uncounted;
    entry->predicted = INFINITY;
    if (entry->result == TSL_CASE_REFUSED)
      continue;
    entry->result = TSL_CASE_RIGHT;
    report_progress(job, entry->strategy->name, 0.5 * i / job->count);
    if (is_stopped(job)) {
      tsl_race_conclude(entry, TSL_CASE_REFUSED, tsl_race_cut_short);
      continue;
    }
    TSL_TRY(tsl_race_admit(&terms, entry, &job->timed_entries[i].verified_seconds));
    job->timed_entries[i].running = entry->result == TSL_CASE_RIGHT;
  }
  return TESELA_OK;
}

static void race_end_entry(timed_entry *current, tsl_case_result result, const char *why) {
  tsl_race_conclude(current->entry, result, why);
  current->running = false;
}

/* Runs a batch on the next sets; *compute and *wall are per run. A failing entry leaves the race. */
static bool race_sample(race *job, timed_entry *current, double *compute, double *wall) {
  const tsl_batch batch = {job->sets.items, job->sets.count, job->next_set, current->runs_per_sample};
  tsl_phases phases;
  const tesela_status status = tsl_plan_run_batch(current->plan, &batch, &phases);
  if (status != TESELA_OK) {
    race_end_entry(current, TSL_CASE_FAILED, tesela_last_error());
    return false;
  }
  job->next_set = (job->next_set + current->runs_per_sample) % job->sets.count;
  *compute = phases.compute / current->runs_per_sample;
  *wall = phases.total / current->runs_per_sample;
  current->spent += fmax(phases.compute, phases.total);
  return true;
}

static void race_add_sample(race *job, timed_entry *current) {
  current->compute[current->count] = current->sample_seconds;
  current->wall[current->count++] = current->sample_wall_seconds;
  current->fastest =
      current->count == 1 ? current->sample_seconds : fmin(current->fastest, current->sample_seconds);
  memcpy(job->sorted_samples, current->compute, (size_t)current->count * sizeof *job->sorted_samples);
  current->median = tsl_measure_median(job->sorted_samples, current->count, &current->spread);
}

/* Does the run that does not count, and chooses the runs per sample. */
static void warm_up(race *job, timed_entry *current) {
  double compute, wall;
  const double most = fmin(job->options.time_limit, first_run_slack * job->options.limit);
  current->runs_per_sample = 1;
  if (!race_sample(job, current, &compute, &wall))
    return;
  /* may have been delayed by other programs */
  if (compute > most && compute < long_run_seconds && !race_sample(job, current, &compute, &wall))
    return;
  if (compute > most) {
    tsl_race_leave_out(current->entry, "takes", compute, most);
    current->running = false;
    return;
  }
  if (compute >= long_run_seconds && current->verified_seconds >= long_run_seconds) {
    current->sample_seconds = compute;
    current->sample_wall_seconds = wall;
    race_add_sample(job, current);
    return;
  }
  while (compute * current->runs_per_sample < sample_seconds_min && current->runs_per_sample < BATCH_MAX) {
    const double needed = compute > 0 ? sample_seconds_min / compute : BATCH_MAX;
    /* first runs are slow */
    current->runs_per_sample =
        needed > 8.0 * current->runs_per_sample ? 8 * current->runs_per_sample : (int)needed + 1;
    current->runs_per_sample = current->runs_per_sample < BATCH_MAX ? current->runs_per_sample : BATCH_MAX;
    if (!race_sample(job, current, &compute, &wall))
      return;
  }
  current->spent = 0;
}

/* Returns true if an entry needs no more samples: enough, stable, too slow, or out of time. */
static bool is_done(const race *job, const timed_entry *current) {
  const tsl_race_options *options = &job->options;
  if (current->count >= options->samples_max ||
      (current->count >= SAMPLES_FLOOR && current->fastest > options->limit))
    return true;
  if (current->spent >= options->seconds_max)
    return current->count >= SAMPLES_FLOOR;
  return current->count >= options->samples_min && current->spread <= options->noise;
}

/* Writes the running entries to job->shuffled, shuffled. Returns their number. */
static int shuffle_running(race *job) {
  int count = 0;
  for (int i = 0; i < job->count; i++)
    if (job->timed_entries[i].running)
      job->shuffled[count++] = i;
  for (int i = count - 1; i > 0; i--) { /* Fisher and Yates */
    const int other = (int)(tsl_random_u64(job->options.seed, job->draws++) % (uint64_t)(i + 1)),
              kept = job->shuffled[i];
    job->shuffled[i] = job->shuffled[other];
    job->shuffled[other] = kept;
  }
  return count;
}

/* Returns true if all of several entries were disturbed. After several rounds the slow speed is normal. */
static bool was_disturbed(const race *job, int count) {
  int racing = 0;
  for (int i = 0; i < count; i++) {
    const timed_entry *current = &job->timed_entries[job->shuffled[i]];
    if (!current->running)
      continue;
    racing++;
    if (current->count < SAMPLES_FLOOR || current->sample_seconds <= disturbed_ratio * current->median)
      return false;
  }
  return racing > 1 && job->discarded_in_a_row < DISCARDED_IN_A_ROW;
}

/* Returns the fraction done of the whole race, of which verification and warm-up are 0.6. */
static double progress_of(const race *job) {
  double sum = 0;
  for (int i = 0; i < job->count; i++) {
    const timed_entry *current = &job->timed_entries[i];
    sum += current->running ? fmin(1, fmax(current->spent / job->options.seconds_max,
                                           (double)current->count / job->options.samples_max))
                            : 1;
  }
  return 0.6 + 0.4 * sum / job->count;
}

/* Takes a sample of each of `count` running entries, discards a disturbed round, and ends done entries. */
static void run_round(race *job, int count) {
  for (int i = 0; i < count && !is_stopped(job); i++) {
    timed_entry *current = &job->timed_entries[job->shuffled[i]];
    report_progress(job, current->entry->strategy->name, progress_of(job));
    race_sample(job, current, &current->sample_seconds, &current->sample_wall_seconds);
  }
  if (is_stopped(job)) /* the round is incomplete */
    return;
  job->report.rounds++;
  const bool discard = was_disturbed(job, count);
  job->report.discarded += discard;
  job->discarded_in_a_row = discard ? job->discarded_in_a_row + 1 : 0;
  for (int i = 0; i < count; i++) {
    timed_entry *current = &job->timed_entries[job->shuffled[i]];
    if (current->running && !discard)
      race_add_sample(job, current);
    current->running = current->running && !is_done(job, current);
  }
}

static void warm_up_entries(race *job) {
  for (int i = 0; i < job->count; i++) {
    timed_entry *current = &job->timed_entries[i];
    if (!current->running || is_stopped(job))
      continue;
    report_progress(job, current->entry->strategy->name, 0.5 + 0.1 * i / job->count);
    if (tsl_planner_create(job->problem, current->entry->strategy, &current->entry->config, job->device,
                           TSL_PLACE_DEVICE, &current->plan) != TESELA_OK)
      race_end_entry(current, TSL_CASE_FAILED, tesela_last_error());
    else
      warm_up(job, current);
  }
}

/* Counts hardware events of a batch of each right entry. All threads exist by now. */
static void count_hardware(race *job) {
  double compute, wall;
  tsl_hardware_counters *counters;
  if (!job->options.hardware || !job->device->is_cpu ||
      !(counters = tsl_hardware_open(NULL, job->report.hardware_why, sizeof job->report.hardware_why)))
    return;
  for (int i = 0; i < job->count; i++) {
    timed_entry *current = &job->timed_entries[i];
    if (current->entry->result != TSL_CASE_RIGHT || is_stopped(job))
      continue;
    tsl_hardware_start(counters);
    const bool right = race_sample(job, current, &compute, &wall);
    const tsl_hardware_counts counts = tsl_hardware_stop(counters);
    for (int event = 0; right && event < TSL_HARDWARE_COUNT; event++)
      current->entry->hardware.value[event] = counts.value[event] / current->runs_per_sample;
  }
  tsl_hardware_close(counters);
}

/* Warms up, runs rounds until all entries have ended, and fills in their timings. */
static void race_time_all(race *job) {
  int count;
  warm_up_entries(job);
  job->report.clock_mhz_before =
      tsl_device_clock_now(job->device, job->report.clock_why, sizeof job->report.clock_why);
  while ((count = shuffle_running(job)) > 0 && !is_stopped(job))
    run_round(job, count);
  job->report.clock_mhz_after =
      tsl_device_clock_now(job->device, job->report.clock_why, sizeof job->report.clock_why);
  for (int i = 0; i < job->count; i++) {
    timed_entry *current = &job->timed_entries[i];
    if (current->entry->result != TSL_CASE_RIGHT)
      continue;
    if (current->running && current->count < SAMPLES_FLOOR) {
      race_end_entry(current, TSL_CASE_REFUSED, tsl_race_cut_short);
      continue;
    }
    tsl_measure_summarise(current->compute, current->wall, current->count, job->options.noise,
                          &current->entry->timing);
    current->entry->timing.batch = current->runs_per_sample;
  }
  count_hardware(job);
}

static tesela_status race_make(race *job) {
  const size_t entries = (size_t)job->count, most = (size_t)job->options.samples_max;
  job->timed_entries = calloc(entries + 1, sizeof *job->timed_entries);
  job->shuffled = calloc(entries + 1, sizeof *job->shuffled);
  TSL_TRY(tsl_alloc((2 * entries + 1) * most * sizeof *job->sorted_samples, "samples", &job->samples));
  if (!job->timed_entries || !job->shuffled)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to measure %d entries", job->count);
  job->sorted_samples = job->samples;
  for (int i = 0; i < job->count; i++) {
    job->timed_entries[i].entry = job->entries[i];
    job->timed_entries[i].compute = job->sorted_samples + (1 + 2 * (size_t)i) * most;
    job->timed_entries[i].wall = job->timed_entries[i].compute + most;
  }
  return TESELA_OK;
}

static bool any_running(const race *job) {
  for (int i = 0; i < job->count; i++)
    if (job->timed_entries[i].running)
      return true;
  return false;
}

/* Times all running entries. All fail if not a single set fits into the device's memory. */
static void time_on_sets(race *job) {
  const tsl_race_options *options = &job->options;
  if (tsl_operand_sets_create(job->problem, job->device, options->data, options->seed, options->warm,
                              &job->sets) != TESELA_OK) {
    for (int i = 0; i < job->count; i++)
      if (job->timed_entries[i].running)
        race_end_entry(&job->timed_entries[i], TSL_CASE_FAILED, tesela_last_error());
    return;
  }
  job->report.sets = job->sets.count;
  job->report.set_bytes = job->sets.set_bytes;
  job->report.cold = job->sets.cold;
  race_time_all(job);
}

static void race_release(race *job) {
  for (int i = 0; job->timed_entries && i < job->count; i++)
    tsl_plan_destroy(job->timed_entries[i].plan);
  tsl_operand_sets_free(&job->sets);
  tsl_free(job->samples);
  free(job->timed_entries);
  free(job->shuffled);
}

tesela_status tsl_race_run(const tsl_problem *problem, tsl_device *device, const tsl_race_options *options,
                           tsl_race_entry *const *entries, int count, tsl_race_report *report) {
  race job = {.problem = problem,
              .device = device,
              .options = with_defaults(options),
              .entries = entries,
              .count = count,
              .sets = {.device = device}};
  tesela_status status;
  const double start = tsl_clock();
  if (report)
    *report = (tsl_race_report){0};
  TSL_GO(tsl_problem_check(problem));
  TSL_GO(race_make(&job));
  TSL_GO(verify_all(&job));
  if (any_running(&job))
    time_on_sets(&job);
  job.report.seconds = tsl_clock() - start;
  if (report)
    *report = job.report;
out:
  race_release(&job);
  return status;
}
