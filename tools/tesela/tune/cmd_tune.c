/* tesela tune: find the fastest config of a product on a device, and keep it as wisdom. */
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "core/clock.h"
#include "core/pool.h"
#include "core/status.h"
#include "planner/planner.h"
#include "tune/log.h"
#include "tune/report.h"
#include "tune/search_seeds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tunes one problem: chooses the device, searches, saves the record. */
/* Configs that are measured together: as many as can be compiled together, and at least so many. */
enum { BATCH_MIN = 4 };

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
                            .batch = tsl_pool_default_threads() > BATCH_MIN ? tsl_pool_default_threads()
                                                                            : BATCH_MIN,
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

/* Saves the results so far when an interrupt ends a search within a batch; returns false if there
 * are none. */
static bool tuning_settle(const tsl_tune_options *options, tsl_tuning *all) {
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

/* Runs the search on `device`, else on the environment's device, else on the device that would run
 * the problem now. `all` has problem, budget, search and wisdom. A result that cannot be saved
 * remains in `all`, with the failure. */
static tesela_status tuning_run(const tsl_tune_options *options, const char *device, tsl_devices *devices,
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

/* Seconds: less than this and a search has not begun. */
static const double least_share = 2;

static const tsl_option options[] = {
    TSL_OPTION(tsl_tune_options, budget, "budget", SECONDS, "60s", "time to search"),
    TSL_OPTION(tsl_tune_options, points, "points", COUNT, NULL, "measure at most this many configs"),
    TSL_OPTION(tsl_tune_options, from_log, "from-log", FILE, NULL,
               "tune the calls of this log; written by TESELA_LOG=calls or tesela run --log. Calls that took "
               "most time come first, and M, N, K are omitted"),
    TSL_OPTION(tsl_tune_options, op, "op", OP, "gemm",
               "gemm (M N K), dot (N) or transpose (M N of the result)"),
    TSL_OPTION(tsl_tune_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(
        tsl_tune_options, device, "device", DEVICE, NULL,
        "tune for this device; the default is TESELA_DEVICE, else the device that would run the product now"),
    TSL_OPTION(tsl_tune_options, strategies, "strategy", STRATEGIES, NULL,
               "among these strategies (default: all); given parameters are kept"),
    TSL_OPTION(tsl_tune_options, transpose_a, "transpose-a", FLAG, NULL, "A is stored transposed"),
    TSL_OPTION(tsl_tune_options, transpose_b, "transpose-b", FLAG, NULL, "B is stored transposed"),
    TSL_OPTION(tsl_tune_options, beta, "beta", NUMBER, "0", "factor of C0; only zero or not zero counts"),
    TSL_OPTION(tsl_tune_options, search, "search", TEXT, "hill_climb", "hill_climb, exhaustive or random"),
    TSL_OPTION(tsl_tune_options, cache, "cache", FILE, NULL,
               "keep measurements in this file; measurements that the file has are not repeated"),
    TSL_OPTION(tsl_tune_options, replay, "replay", FILE, NULL,
               "search among the measurements of this file; no device is needed, and M, N, K are omitted"),
    TSL_OPTION(tsl_tune_options, seed, "seed", SEED, "1",
               "seed of the data, the order and the random search"),
    TSL_OPTION(tsl_tune_options, dry_run, "dry-run", FLAG, NULL, "do not save the results"),
    TSL_OPTION_JSON(tsl_tune_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela tune 1000 300 700 --budget 60s", "for C (1000 x 300) = A (1000 x 700) B (700 x 300)"},
    {"tesela tune 4096 4096 4096 --device cuda --strategy register_tile --cache tune.txt",
     "one strategy, to be gone on with another day"},
    {"tesela tune 1000000 --op dot --type f64", "a dot product of vectors of a million"},
    {"tesela run --log -- python3 solve.py 2>calls.txt; tesela tune --from-log calls.txt --budget 5min",
     "the calls of a program, each with its share of five minutes"},
    {"tesela tune --replay tune.txt --search random", "how another search would have done"},
    {NULL, NULL},
};

/* A minute of work is not thrown away in the end: whether wisdom can be written is tried before. */
static tesela_status check_place(const tsl_tune_options *settings) {
  tsl_text path = {0};
  if (settings->dry_run)
    return TESELA_OK;
  tesela_status status = tsl_wisdom_path(&path);
  if (status == TESELA_OK)
    status = tsl_wisdom_merge(tsl_text_get(&path), "", NULL);
  tsl_text_free(&path);
  return status == TESELA_OK
             ? status
             : tsl_fail_in(status, "the results cannot be saved (with --dry-run they are not saved)");
}

/* Returns the failure to save the results, after the results were printed. */
static tesela_status tune_conclude(const tsl_tuning *all) {
  if (all->kept != TESELA_OK)
    tsl_status_restore(&all->why_not_kept);
  return all->kept;
}

/* --- an interrupt --- */

/* Results that an interrupt may print; NULL: none of this kind. */
typedef struct tune_work {
  const tsl_command_call *call;
  tsl_tuning *one; /* the search in progress */
  const tsl_call_log *log;
  const tsl_tune_summary *rows; /* one result for each call of the log */
} tune_work;

/* Prints the results found before an interrupt, while a run takes too long to end. */
static void conclude_early(void *argument) {
  const tune_work *job = argument;
  const bool found = job->one && tuning_settle(job->call->options, job->one);
  tesela_status status = TESELA_OK;
  if (job->log)
    status = tsl_tune_print_log(job->call, job->log, job->rows);
  else if (found)
    status = tsl_tune_print(job->call, job->one);
  else
    status = tsl_fail(TESELA_UNSUPPORTED, "interrupted before anything was measured");
  if (status != TESELA_OK)
    fprintf(stderr, "tesela tune: %s\n", tesela_last_error());
}

/* --- the calls of a program --- */

/* Tunes the calls of a log, the longest time first. Each call has a share of the budget in proportion to its
 * time; unused time goes to the other calls. */
static tesela_status tune_log(const tsl_command_call *call, tsl_devices *devices, const tsl_tuning *like,
                              tune_work *job) {
  const tsl_tune_options *given = call->options;
  tsl_call_log log;
  tsl_tune_summary *rows = NULL;
  tsl_tuning kept = {.kept = TESELA_OK};
  tesela_status status;
  double total = 0, left = given->budget;
  if (call->word_count != 0 || given->replay)
    return tsl_fail(TESELA_BAD_CALL,
                    "--from-log reads the sizes from its file: leave out M N K and --replay");
  TSL_GO(tsl_call_log_read(given->from_log, &log));
  rows = calloc((size_t)log.count, sizeof *rows);
  if (!rows)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d results", log.count));
  for (int i = 0; i < log.count; i++)
    total += log.items[i].seconds;
  job->log = &log;
  job->rows = rows;
  for (int i = 0; i < log.count && left > 0 && !tsl_interrupted(); i++) {
    const tsl_logged *item = &log.items[i];
    const double start = tsl_clock(), share = total > 0 ? left * item->seconds / total : left;
    tsl_tuning one = *like;
    one.problem = item->problem;
    one.budget = fmax(share, fmin(left, least_share));
    job->one = &one;
    rows[i].status = tuning_run(given,
                                given->device   ? given->device
                                : *item->device ? item->device
                                                : NULL,
                                devices, &one);
    job->one = NULL;
    rows[i].tried = true;
    snprintf(rows[i].why, sizeof rows[i].why, "%s", rows[i].status == TESELA_OK ? "" : tesela_last_error());
    if (rows[i].status == TESELA_OK)
      tsl_tune_summarise(&one, &rows[i]);
    if (one.kept != TESELA_OK && kept.kept == TESELA_OK)
      kept = one;
    tsl_tuned_free(&one.tuned);
    tsl_space_free(&one.space);
    free(one.known);
    free(one.wisdom_path);
    total -= item->seconds;
    left -= tsl_clock() - start;
  }
  tsl_interrupt_concluding();
  status = tsl_tune_print_log(call, &log, rows);
  if (status == TESELA_OK)
    status = tune_conclude(&kept);
out:
  free(rows);
  tsl_call_log_free(&log);
  return status;
}

static tesela_status replay(const tsl_command_call *call, tsl_tuning *all) {
  const tsl_tune_options *given = call->options;
  tsl_tune_cache cache;
  if (call->word_count != 0)
    return tsl_fail(TESELA_BAD_CALL, "--replay takes the sizes from its file: leave M N K away");
  tesela_status status = tsl_tune_cache_read(given->replay, false, &cache);
  if (status == TESELA_IO_FAILED)
    status = TESELA_BAD_INPUT; /* an input that cannot be opened */
  if (status == TESELA_OK && cache.count == 0)
    status = tsl_fail(TESELA_BAD_INPUT, "%s: there is no measurement in it", given->replay);
  if (status == TESELA_OK)
    status = tsl_tune_cache_add_to_space(&cache, &all->space);
  tsl_space_sort(&all->space);
  const tsl_tune_job job = {.space = &all->space,
                            .search = all->search,
                            .start = -1,
                            .points_max = (int)given->points,
                            .seed = (uint64_t)given->seed,
                            .measure = tsl_tune_by_cache,
                            .argument = &cache};
  if (status == TESELA_OK)
    status = tsl_tune_run(&job, &all->tuned);
  if (status == TESELA_OK && all->tuned.best < 0)
    status = tsl_fail(TESELA_BAD_INPUT, "%s: no measurement in it is of a right result", given->replay);
  tsl_tune_cache_free(&cache);
  return status;
}

static tesela_status tune_run(const tsl_command_call *call) {
  const tsl_tune_options *given = call->options;
  tsl_tuning all = {.search = tsl_search_find(given->search), .budget = given->budget};
  tsl_devices *devices = NULL;
  tesela_status status = TESELA_OK;
  tune_work job = {.call = call, .one = given->from_log ? NULL : &all};
  if (!all.search)
    return tsl_fail(TESELA_BAD_CALL, "--search %s: there are hill_climb, exhaustive and random",
                    given->search);
  if (given->points > INT32_MAX)
    return tsl_fail(TESELA_BAD_CALL, "--points is at most %d", INT32_MAX);
  if (given->replay) {
    TSL_GO(replay(call, &all));
  } else {
    if (!given->from_log)
      TSL_GO(tsl_tune_read_problem(call, &all.problem));
    TSL_GO(check_place(given));
    TSL_GO(tsl_wisdom_open(&all.wisdom));
    TSL_GO(tsl_devices_create(&devices));
    tsl_interrupt_catch(conclude_early, &job);
    TSL_GO(given->from_log ? tune_log(call, devices, &all, &job)
                           : tuning_run(given, given->device, devices, &all));
  }
  tsl_interrupt_concluding();
  if (!given->from_log) {
    status = tsl_tune_print(call, &all);
    if (status == TESELA_OK)
      status = tune_conclude(&all);
  }
out:
  tsl_interrupt_concluding();
  tsl_tuned_free(&all.tuned);
  tsl_space_free(&all.space);
  tsl_wisdom_close(all.wisdom);
  free(all.known);
  free(all.wisdom_path);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_tune = {
    .name = "tune",
    .what = "search the fastest config of a product on a device, and save it as wisdom",
    .arguments = "M N K",
    .details = "Starts with the config that would run now and the configs that the strategies' models "
               "predict as fastest, then tries neighbours of the fastest. Each config is verified, then "
               "timed in turn with the fastest so far. A config that is faster by more than the noise "
               "becomes the fastest. The best measured config of each strategy becomes wisdom "
               "(docs/WISDOM.md), which the planner prefers to its models.",
    .options = options,
    .examples = examples,
    .words_min = 0,
    .words_max = 3,
    .options_bytes = sizeof(tsl_tune_options),
    .run = tune_run,
};
