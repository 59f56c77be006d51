#include "tune/tune.h"

#include "base/clock.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* minimum relative gain that is no noise */
static const double least_noise = 0.02;
/* ratio to the incumbent above which exact measurement does not pay */
static const double not_worth_it = 1.5;

/* ratio to the start's prediction above which points are given up before any measurement */
static const double beyond_belief = 20;

typedef struct tuning {
  const tsl_tune_job *job;
  tsl_tuned *out;
  double *seconds; /* by point, for the search */
  int incumbent;
  double started;
} tuning;

void tsl_tuned_free(tsl_tuned *tuned) {
  free(tuned->results);
  free(tuned->tried);
  *tuned = (tsl_tuned){0};
}

/* Records a result on the common scale. */
static void tune_note(tuning *all, int point, const tsl_tune_result *result) {
  tsl_tuned *out = all->out;
  out->results[point] = *result;
  all->seconds[point] = result->result == TSL_CASE_RIGHT ? result->seconds : INFINITY;
  if (out->tried[point])
    return;
  out->tried[point] = true;
  out->tried_count++;
  out->wrong += result->result == TSL_CASE_WRONG;
  out->failed += result->result == TSL_CASE_FAILED;
  out->refused += result->result == TSL_CASE_REFUSED;
}

static void note_known(tuning *all) {
  const tsl_space *space = all->job->space;
  for (int i = 0; all->job->prior && i < space->count; i++) {
    const tsl_tune_kept *kept =
        tsl_tune_cache_find(all->job->prior, space->points[i].strategy, &space->points[i].config);
    if (kept)
      tune_note(all, i,
                &(tsl_tune_result){
                    .result = kept->result, .seconds = kept->record.seconds, .spread = kept->record.spread});
  }
}

static bool is_right(const tuning *all, int point) {
  return point >= 0 && isfinite(all->seconds[point]);
}

static int tune_fastest(const tuning *all) {
  int best = -1;
  for (int i = 0; i < all->job->space->count; i++)
    if (is_right(all, i) && (best < 0 || all->seconds[i] < all->seconds[best]))
      best = i;
  return best;
}

bool tsl_tune_beats(const tsl_tune_result *challenger, const tsl_tune_result *incumbent) {
  const bool told = challenger->more > 0 || incumbent->less > 0;
  const double more = told ? challenger->more : challenger->spread,
               less = told ? incumbent->less : incumbent->spread;
  return challenger->seconds * (1 + more) < incumbent->seconds * (1 - less) &&
         challenger->seconds < incumbent->seconds * (1 - least_noise);
}

static void crown(tuning *all, int point, const tsl_tune_result *raw) {
  if (point != all->incumbent || all->out->found_at == 0)
    all->out->found_at = all->out->tried_count;
  all->incumbent = point;
  all->out->best = point;
  all->out->best_seconds = raw->seconds;
  all->out->spread = raw->spread;
}

/* Returns true if time ran out before a point was measured. */
static bool is_cut_short(const tsl_tune_result *raw) {
  return raw->result == TSL_CASE_REFUSED && strcmp(raw->why, tsl_race_cut_short) == 0;
}

/* Evaluates the results of a batch; the incumbent is first. */
static tesela_status judge_batch(tuning *all, const int *points, int count, const tsl_tune_result *raw) {
  const tsl_tune_job *job = all->job;
  const bool holds = raw[0].result == TSL_CASE_RIGHT;
  const bool known = is_right(all, points[0]);
  const double scale = holds && known ? all->seconds[points[0]] / raw[0].seconds : 1;
  int challenger = -1;
  if (is_cut_short(&raw[0]) && known) /* the others have no reference */
    return TESELA_OK;
  for (int i = 0; i < count; i++) {
    if ((i == 0 && known && holds) || is_cut_short(&raw[i])) /* its place on the scale remains */
      continue;
    tsl_tune_result scaled = raw[i];
    scaled.seconds *= scale;
    tune_note(all, points[i], &scaled);
    if (job->keep)
      TSL_TRY(job->keep(job->keep_argument, &job->space->points[points[i]], &scaled));
    if (i > 0 && raw[i].result == TSL_CASE_RIGHT &&
        (challenger < 0 || raw[i].seconds < raw[challenger].seconds))
      challenger = i;
  }
  if (challenger >= 0 && (!holds || tsl_tune_beats(&raw[challenger], &raw[0])))
    crown(all, points[challenger], &raw[challenger]);
  else if (holds)
    crown(all, points[0], &raw[0]);
  else
    all->incumbent = tune_fastest(all);
  return TESELA_OK;
}

static tesela_status tune_run_batch(tuning *all, const int *next, int next_count) {
  int points[TSL_TUNE_BATCH + 1], count = 0;
  tsl_tune_result raw[TSL_TUNE_BATCH + 1];
  if (all->incumbent >= 0)
    points[count++] = all->incumbent;
  for (int i = 0; i < next_count; i++)
    if (next[i] != all->incumbent)
      points[count++] = next[i];
  if (count == 0)
    return TESELA_OK;
  memset(raw, 0, sizeof raw);
  const double limit = is_right(all, all->incumbent) ? not_worth_it * all->seconds[all->incumbent]
                       : all->incumbent >= 0
                           ? beyond_belief * all->job->space->points[all->incumbent].predicted
                           : INFINITY;
  TSL_TRY(all->job->measure(all->job->argument, all->job->space, points, count, limit, raw));
  all->out->batches++;
  return judge_batch(all, points, count, raw);
}

static bool is_over(const tuning *all) {
  const tsl_tune_job *job = all->job;
  return (job->stop && job->stop()) || (job->budget > 0 && tsl_clock() - all->started >= job->budget) ||
         (job->points_max > 0 && all->out->tried_count >= job->points_max);
}

static void tune_tell(const tuning *all) {
  const tsl_tune_job *job = all->job;
  const double by_time = job->budget > 0 ? (tsl_clock() - all->started) / job->budget : 0,
               by_points = (double)all->out->tried_count /
                           (job->points_max > 0 ? job->points_max : job->space->count);
  char what[96];
  snprintf(what, sizeof what, "%d of %d configs", all->out->tried_count, job->space->count);
  if (job->progress)
    job->progress(job->progress_argument, what, fmin(1, fmax(by_time, by_points)));
}

/* Returns the number of points for the next batch within the limits. Compilers, which take longest,
 * run in parallel. So a full batch is begun if there is time for one, else a part of one. */
static int batch_size(const tuning *all) {
  const tsl_tune_job *job = all->job;
  const double spent = tsl_clock() - all->started;
  int most = job->batch > 0 && job->batch < TSL_TUNE_BATCH ? job->batch : TSL_TUNE_BATCH;
  if (job->points_max > 0 && job->points_max - all->out->tried_count < most)
    most = job->points_max - all->out->tried_count;
  if (job->budget > 0 && all->out->batches > 0 && spent > 0)
    most = (int)fmax(1, most * fmin(1, (job->budget - spent) * all->out->batches / spent));
  return most;
}

/* Chooses untried known points, else the search's proposals. The incumbent is in every batch. */
static int next_points(const tuning *all, int *next, int most) {
  const tsl_tune_job *job = all->job;
  const tsl_search_view view = {job->space, all->seconds, job->seed};
  int count = 0;
  for (int i = 0; i < job->known_count && count < most; i++)
    if (!all->out->tried[job->known[i]] && job->known[i] != all->incumbent)
      next[count++] = job->known[i];
  return count > 0 || most == 0 ? count : job->search->propose(&view, next, most);
}

static tesela_status climb(tuning *all) {
  int next[TSL_TUNE_BATCH];
  while (!is_over(all)) {
    const bool is_new = all->incumbent >= 0 && !all->out->tried[all->incumbent];
    tune_tell(all);
    const int count = next_points(all, next, batch_size(all) - is_new);
    all->out->complete = count == 0 && !is_new;
    if (all->out->complete)
      break;
    TSL_TRY(tune_run_batch(all, next, count));
  }
  return TESELA_OK;
}

tesela_status tsl_tune_run(const tsl_tune_job *job, tsl_tuned *tuned) {
  const size_t count = (size_t)job->space->count;
  tuning all = {.job = job, .out = tuned, .started = tsl_clock()};
  tesela_status status;
  *tuned = (tsl_tuned){.start = job->start >= 0 ? job->start : 0, .best = -1, .gain = NAN};
  tuned->results = calloc(count + 1, sizeof *tuned->results);
  tuned->tried = calloc(count + 1, sizeof *tuned->tried);
  all.seconds = malloc((count + 1) * sizeof *all.seconds);
  if (!tuned->results || !tuned->tried || !all.seconds)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to tune among %zu configs", count));
  for (size_t i = 0; i < count; i++)
    all.seconds[i] = NAN;
  note_known(&all);
  /* A continued search starts from its best point. */
  all.incumbent = tune_fastest(&all);
  if (all.incumbent >= 0)
    crown(&all, all.incumbent, &tuned->results[all.incumbent]);
  else
    all.incumbent = tuned->start;
  status = climb(&all);
  if (is_right(&all, tuned->start) && tuned->best >= 0)
    tuned->gain = all.seconds[tuned->start] / all.seconds[tuned->best];
out:
  tuned->seconds = tsl_clock() - all.started;
  free(all.seconds);
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

static bool tune_is_good(const tsl_tuned *tuned, int point) {
  return tuned->tried[point] && tuned->results[point].result == TSL_CASE_RIGHT;
}

bool tsl_tuned_is_record(const tsl_tuned *tuned, const tsl_space *space, int point, double *seconds) {
  const tsl_tune_result *results = tuned->results;
  const bool won = point == tuned->best;
  if (!tune_is_good(tuned, point) || tuned->best < 0)
    return false;
  for (int other = 0; other < space->count; other++) {
    if (other == point || !tune_is_good(tuned, other) ||
        space->points[other].strategy != space->points[point].strategy)
      continue;
    if (!won && (other == tuned->best || results[other].seconds < results[point].seconds ||
                 (results[other].seconds == results[point].seconds && other < point)))
      return false;
  }
  const double scale = tuned->best_seconds / results[tuned->best].seconds;
  *seconds = won ? tuned->best_seconds
                 : fmax((1 + least_noise) * tuned->best_seconds, scale * results[point].seconds);
  return true;
}
