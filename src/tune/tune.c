#include "tune/tune.h"

#include "core/clock.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gain_min = 0.02;
/* ratio to the incumbent above which exact measurement does not pay */
static const double slowdown_max = 1.5;

/* ratio to the start's prediction above which points are given up before any measurement */
static const double misprediction_max = 20;

typedef struct tuning_state {
  const tsl_tune_job *job;
  tsl_tuned *out;
  double *seconds; /* seconds by point, for the search */
  int incumbent;
  double started; /* by tsl_clock() */
} tuning_state;

void tsl_tuned_free(tsl_tuned *tuned) {
  free(tuned->results);
  free(tuned->tried);
  *tuned = (tsl_tuned){0};
}

static void tune_set_result(tuning_state *state, int point, const tsl_tune_result *result) {
  tsl_tuned *out = state->out;
  out->results[point] = *result;
  state->seconds[point] = result->result == TSL_CASE_RIGHT ? result->seconds : INFINITY;
  if (out->tried[point])
    return;
  out->tried[point] = true;
  out->tried_count++;
  out->wrong += result->result == TSL_CASE_WRONG;
  out->failed += result->result == TSL_CASE_FAILED;
  out->refused += result->result == TSL_CASE_REFUSED;
}

static void take_prior_results(tuning_state *state) {
  const tsl_space *space = state->job->space;
  for (int i = 0; state->job->prior && i < space->count; i++) {
    const tsl_tune_stored *stored =
        tsl_tune_cache_find(state->job->prior, space->points[i].strategy, &space->points[i].config);
    if (stored)
      tune_set_result(state, i,
                      &(tsl_tune_result){.result = stored->result,
                                         .seconds = stored->record.seconds,
                                         .spread = stored->record.spread});
  }
}

static bool has_right_time(const tuning_state *state, int point) {
  return point >= 0 && isfinite(state->seconds[point]);
}

/* Returns the fastest right point; -1: none is right. */
static int tune_fastest(const tuning_state *state) {
  int best = -1;
  for (int i = 0; i < state->job->space->count; i++)
    if (has_right_time(state, i) && (best < 0 || state->seconds[i] < state->seconds[best]))
      best = i;
  return best;
}

bool tsl_tune_beats(const tsl_tune_result *challenger, const tsl_tune_result *incumbent) {
  const bool is_known = challenger->more > 0 || incumbent->less > 0;
  const double more = is_known ? challenger->more : challenger->spread,
               less = is_known ? incumbent->less : incumbent->spread;
  return challenger->seconds * (1 + more) < incumbent->seconds * (1 - less) &&
         challenger->seconds < incumbent->seconds * (1 - gain_min);
}

/* Makes a point the incumbent and the best; `raw` is its last, unscaled measurement. */
static void set_incumbent(tuning_state *state, int point, const tsl_tune_result *raw) {
  if (point != state->incumbent || state->out->found_at == 0)
    state->out->found_at = state->out->tried_count;
  state->incumbent = point;
  state->out->best = point;
  state->out->best_seconds = raw->seconds;
  state->out->spread = raw->spread;
}

/* Returns true if time ran out before a point was measured. */
static bool is_cut_short(const tsl_tune_result *raw) {
  return raw->result == TSL_CASE_REFUSED && strcmp(raw->why, tsl_race_cut_short) == 0;
}

/* Evaluates a batch; the incumbent is first. */
static tesela_status evaluate_batch(tuning_state *state, const int *points, int count,
                                    const tsl_tune_result *raw) {
  const tsl_tune_job *job = state->job;
  const bool holds = raw[0].result == TSL_CASE_RIGHT;
  const bool known = has_right_time(state, points[0]);
  const double scale = holds && known ? state->seconds[points[0]] / raw[0].seconds : 1;
  int challenger = -1;
  if (is_cut_short(&raw[0]) && known) /* the others have no reference */
    return TESELA_OK;
  for (int i = 0; i < count; i++) {
    if ((i == 0 && known && holds) || is_cut_short(&raw[i])) /* its place on the scale remains */
      continue;
    tsl_tune_result scaled = raw[i];
    scaled.seconds *= scale;
    tune_set_result(state, points[i], &scaled);
    if (job->keep)
      TSL_TRY(job->keep(job->keep_argument, &job->space->points[points[i]], &scaled));
    if (i > 0 && raw[i].result == TSL_CASE_RIGHT &&
        (challenger < 0 || raw[i].seconds < raw[challenger].seconds))
      challenger = i;
  }
  if (challenger >= 0 && (!holds || tsl_tune_beats(&raw[challenger], &raw[0])))
    set_incumbent(state, points[challenger], &raw[challenger]);
  else if (holds)
    set_incumbent(state, points[0], &raw[0]);
  else
    state->incumbent = tune_fastest(state);
  return TESELA_OK;
}

/* Measures the points together with the incumbent and evaluates them. */
static tesela_status tune_run_batch(tuning_state *state, const int *next, int next_count) {
  int points[TSL_TUNE_BATCH + 1], count = 0;
  tsl_tune_result raw[TSL_TUNE_BATCH + 1];
  if (state->incumbent >= 0)
    points[count++] = state->incumbent;
  for (int i = 0; i < next_count; i++)
    if (next[i] != state->incumbent)
      points[count++] = next[i];
  if (count == 0)
    return TESELA_OK;
  memset(raw, 0, sizeof raw);
  const double limit =
      has_right_time(state, state->incumbent) ? slowdown_max * state->seconds[state->incumbent]
      : state->incumbent >= 0 ? misprediction_max * state->job->space->points[state->incumbent].predicted
                              : INFINITY;
  TSL_TRY(state->job->measure(state->job->argument, state->job->space, points, count, limit, raw));
  state->out->batches++;
  return evaluate_batch(state, points, count, raw);
}

static bool is_at_limit(const tuning_state *state) {
  const tsl_tune_job *job = state->job;
  return (job->stop && job->stop()) || (job->budget > 0 && tsl_clock() - state->started >= job->budget) ||
         (job->points_max > 0 && state->out->tried_count >= job->points_max);
}

static void report_progress(const tuning_state *state) {
  const tsl_tune_job *job = state->job;
  const double by_time = job->budget > 0 ? (tsl_clock() - state->started) / job->budget : 0,
               by_points = (double)state->out->tried_count /
                           (job->points_max > 0 ? job->points_max : job->space->count);
  char what[96];
  snprintf(what, sizeof what, "%d of %d configs", state->out->tried_count, job->space->count);
  if (job->progress)
    job->progress(job->progress_argument, what, fmin(1, fmax(by_time, by_points)));
}

/* Returns the next batch's number of points: full if there is time, because compilers run in parallel. */
static int batch_size(const tuning_state *state) {
  const tsl_tune_job *job = state->job;
  const double spent = tsl_clock() - state->started;
  int most = job->batch > 0 && job->batch < TSL_TUNE_BATCH ? job->batch : TSL_TUNE_BATCH;
  if (job->points_max > 0 && job->points_max - state->out->tried_count < most)
    most = job->points_max - state->out->tried_count;
  if (job->budget > 0 && state->out->batches > 0 && spent > 0)
    most = (int)fmax(1, most * fmin(1, (job->budget - spent) * state->out->batches / spent));
  return most;
}

/* Chooses untried known points, else the search's. The incumbent is in every batch. */
static int next_points(const tuning_state *state, int *next, int most) {
  const tsl_tune_job *job = state->job;
  const tsl_search_view view = {job->space, state->seconds, job->seed};
  int count = 0;
  for (int i = 0; i < job->known_count && count < most; i++)
    if (!state->out->tried[job->known[i]] && job->known[i] != state->incumbent)
      next[count++] = job->known[i];
  return count > 0 || most == 0 ? count : job->search->propose(&view, next, most);
}

static tesela_status run_batches(tuning_state *state) {
  int next[TSL_TUNE_BATCH];
  while (!is_at_limit(state)) {
    const bool is_new = state->incumbent >= 0 && !state->out->tried[state->incumbent];
    report_progress(state);
    const int count = next_points(state, next, batch_size(state) - is_new);
    state->out->complete = count == 0 && !is_new;
    if (state->out->complete)
      break;
    TSL_TRY(tune_run_batch(state, next, count));
  }
  return TESELA_OK;
}

tesela_status tsl_tune_run(const tsl_tune_job *job, tsl_tuned *tuned) {
  const size_t count = (size_t)job->space->count;
  tuning_state state = {.job = job, .out = tuned, .started = tsl_clock()};
  tesela_status status;
  *tuned = (tsl_tuned){.start = job->start >= 0 ? job->start : 0, .best = -1, .gain = NAN};
  tuned->results = calloc(count + 1, sizeof *tuned->results);
  tuned->tried = calloc(count + 1, sizeof *tuned->tried);
  state.seconds = malloc((count + 1) * sizeof *state.seconds);
  if (!tuned->results || !tuned->tried || !state.seconds)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to tune among %zu configs", count));
  for (size_t i = 0; i < count; i++)
    state.seconds[i] = NAN;
  take_prior_results(&state);
  /* A continued search starts from its best point. */
  state.incumbent = tune_fastest(&state);
  if (state.incumbent >= 0)
    set_incumbent(&state, state.incumbent, &tuned->results[state.incumbent]);
  else
    state.incumbent = tuned->start;
  status = run_batches(&state);
  if (has_right_time(&state, tuned->start) && tuned->best >= 0)
    tuned->gain = state.seconds[tuned->start] / state.seconds[tuned->best];
out:
  tuned->seconds = tsl_clock() - state.started;
  free(state.seconds);
  return status;
}

void tsl_tuned_rescale(tsl_tuned *tuned, int count) {
  if (tuned->best < 0)
    return;
  const double scale = tuned->best_seconds / tuned->results[tuned->best].seconds;
  for (int i = 0; i < count; i++)
    if (tuned->tried[i] && tuned->results[i].result == TSL_CASE_RIGHT)
      tuned->results[i].seconds *= scale;
  tuned->results[tuned->best].seconds = tuned->best_seconds;
  tuned->results[tuned->best].spread = tuned->spread;
}

static bool tune_point_is_right(const tsl_tuned *tuned, int point) {
  return tuned->tried[point] && tuned->results[point].result == TSL_CASE_RIGHT;
}

bool tsl_tuned_is_record(const tsl_tuned *tuned, const tsl_space *space, int point, double *seconds) {
  const tsl_tune_result *results = tuned->results;
  const bool won = point == tuned->best;
  if (!tune_point_is_right(tuned, point) || tuned->best < 0)
    return false;
  for (int other = 0; other < space->count; other++) {
    if (other == point || !tune_point_is_right(tuned, other) ||
        space->points[other].strategy != space->points[point].strategy)
      continue;
    if (!won && (other == tuned->best || results[other].seconds < results[point].seconds ||
                 (results[other].seconds == results[point].seconds && other < point)))
      return false;
  }
  const double scale = tuned->best_seconds / results[tuned->best].seconds;
  *seconds =
      won ? tuned->best_seconds : fmax((1 + gain_min) * tuned->best_seconds, scale * results[point].seconds);
  return true;
}
