/* Division of grouped products among threads. All threads compute products that would keep threads waiting.
 * One thread each computes the others, the largest first, several small ones at a time. */
#include "api/grouped.h"

#include "dispatch/crossovers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All products of one member. */
typedef struct series {
  int64_t member, count;
  double work; /* f32 operations of one product */
} series;

/* Products of one thread: `count` from `first` of a series on, continued in the next series. */
typedef struct schedule_job {
  int64_t series, first, count;
} schedule_job;

typedef struct schedule {
  tsl_grouped *group;
  series *all; /* sorted by work, largest first */
  int64_t count;
  schedule_job *jobs;
} schedule;

/* Returns f32 operations, with overheads for the call and for memory. */
static double schedule_get_work(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  const double width = (double)tsl_type(tsl_type(problem->c.type)->component)->size / 4;
  return (double)tsl_crossovers.call_work + tsl_problem_flops(problem) * (width > 1 ? width : 1) +
         tsl_problem_bytes(problem) * (double)tsl_crossovers.byte_work;
}

static int schedule_compare(const void *x, const void *y) {
  const series *a = x, *b = y;
  return a->work != b->work ? (a->work < b->work ? 1 : -1) : a->member < b->member ? -1 : 1;
}

static void schedule_multiply(tsl_grouped *group, int64_t member, int64_t index) {
  if (atomic_load_explicit(&group->status, memory_order_relaxed) != TESELA_OK)
    return;
  tsl_grouped_note(group, tsl_products_multiply(&group->members[member], index, !group->begun));
  group->begun = true;
}

static void schedule_run_job(void *argument, int64_t index, int worker) {
  const schedule *state = argument;
  const schedule_job *job = &state->jobs[index];
  int64_t position = job->series, i = job->first;
  (void)worker;
  for (int64_t left = job->count;
       left > 0 && atomic_load_explicit(&state->group->status, memory_order_relaxed) == TESELA_OK;
       left--, i++) {
    while (i == state->all[position].count) {
      position++;
      i = 0;
    }
    tsl_grouped_note(state->group,
                     tsl_products_multiply(&state->group->members[state->all[position].member], i, false));
  }
}

typedef struct product_position {
  int64_t series, index; /* index of the next product in the series */
} product_position;

/* Advances by one product; after the last one position->series is the number of series. */
static void schedule_next_product(const schedule *state, product_position *position) {
  if (++position->index == state->all[position->series].count) {
    position->series++;
    position->index = 0;
  }
}

/* Returns the time, in f32 operations of one thread, if all threads compute the first `together` of `large`
 * products. Other large ones go to the first free thread; `small` operations fill the gaps. */
static double schedule_predict_time(const schedule *state, int threads, double *loads, int64_t large,
                                    int64_t together, double small) {
  product_position position = {0, 0};
  double by_all = 0, sum = small, longest = 0;
  for (int i = 0; i < threads; i++)
    loads[i] = 0;
  for (int64_t p = 0; p < large; p++, schedule_next_product(state, &position)) {
    const double work = state->all[position.series].work;
    if (p < together) {
      by_all += work / threads + (double)tsl_crossovers.team_work;
      continue;
    }
    int least_loaded = 0;
    for (int i = 1; i < threads; i++)
      least_loaded = loads[i] < loads[least_loaded] ? i : least_loaded;
    loads[least_loaded] += work;
    sum += work;
    longest = fmax(longest, loads[least_loaded]);
  }
  return by_all + fmax(longest, sum / threads);
}

/* Returns how many of the first products all threads compute: products above a thread's part of the remaining
 * work. If few remain, it adds as many as balance the threads best. */
static int64_t choose_together(const schedule *state, int threads, double *loads, double total) {
  int64_t large = 0, together = 0;
  double left = total, small = total;
  product_position position = {0, 0};
  bool leads = true;
  for (int64_t s = 0; s < state->count && state->all[s].work >= (double)tsl_crossovers.thread_product; s++) {
    large += state->all[s].count;
    small -= state->all[s].work * (double)state->all[s].count;
  }
  for (; leads && together < large; schedule_next_product(state, &position)) {
    const double work = state->all[position.series].work;
    leads = work >= (double)tsl_crossovers.thread_each || work * threads > left;
    together += leads;
    left -= work;
  }
  const int64_t rest = large - together;
  if (rest == 0 || rest >= tsl_crossovers_parts(INT64_MAX, threads))
    return together;
  const int64_t choices[] = {together + rest % threads, large};
  double best = schedule_predict_time(state, threads, loads, large, together, fmax(small, 0));
  for (int i = 0; i < 2; i++) {
    const double time = schedule_predict_time(state, threads, loads, large, choices[i], fmax(small, 0));
    if (time < best) {
      best = time;
      together = choices[i];
    }
  }
  return together;
}

/* Cuts the remaining products into jobs, small ones collected up to `job_work`. Returns their number. */
static int64_t schedule_make_jobs(schedule *state, product_position position, double job_work) {
  int64_t jobs = 0;
  while (position.series < state->count) {
    schedule_job *job = &state->jobs[jobs++];
    double sum = 0;
    *job = (schedule_job){position.series, position.index, 0};
    while (position.series < state->count && (job->count == 0 || sum < job_work)) {
      const series *member_series = &state->all[position.series];
      const double wanted = ceil((job_work - sum) / member_series->work);
      const int64_t left = member_series->count - position.index;
      const int64_t taken = wanted < 1 ? 1 : wanted < (double)left ? (int64_t)wanted : left;
      job->count += taken;
      sum += (double)taken * member_series->work;
      position.index += taken;
      if (position.index == member_series->count) {
        position.series++;
        position.index = 0;
      }
    }
  }
  return jobs;
}

static void schedule_run_all(schedule *state, tsl_team team, double *loads) {
  const int threads = tsl_team_threads(team);
  double total = 0;
  product_position position = {0, 0};
  for (int64_t s = 0; s < state->count; s++)
    total += state->all[s].work * (double)state->all[s].count;
  const bool shares = threads > 1 && total >= (double)tsl_crossovers.thread_batch;
  const int64_t together = shares ? choose_together(state, threads, loads, total) : 0;
  double left = total;
  for (int64_t p = 0; p < together || (!shares && position.series < state->count);
       p++, schedule_next_product(state, &position)) {
    schedule_multiply(state->group, state->all[position.series].member, position.index);
    left -= state->all[position.series].work;
  }
  if (position.series == state->count)
    return;
  const int64_t jobs =
      schedule_make_jobs(state, position, fmax(left, 0) / (double)tsl_crossovers_parts(INT64_MAX, threads));
  tsl_team_run(team, jobs, schedule_run_job, state);
}

tesela_status tsl_grouped_share(tsl_grouped *group) {
  schedule state = {.group = group};
  const tsl_device *device = NULL;
  int64_t products = 0;
  void *block;
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_grouped_on_host(group, i) && group->batches[i].count > 0) {
      device = group->members[i].plan->plan->work.device;
      products += group->batches[i].count;
      state.count++;
    }
  if (state.count == 0)
    return TESELA_OK;
  const tsl_team team = tsl_device_team(device);
  const int threads = tsl_team_threads(team);
  const int64_t jobs = tsl_crossovers_parts(products, threads) + 2; /* others round up */
  TSL_TRY(tsl_alloc((size_t)state.count * sizeof *state.all + (size_t)jobs * sizeof *state.jobs +
                        (size_t)threads * sizeof(double),
                    "a group's products in their order", &block));
  state.all = block;
  state.jobs = (schedule_job *)(state.all + state.count);
  double *loads = (double *)(state.jobs + jobs);
  int64_t position = 0;
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_grouped_on_host(group, i) && group->batches[i].count > 0)
      state.all[position++] =
          (series){i, group->batches[i].count, schedule_get_work(group->members[i].plan->plan)};
  qsort(state.all, (size_t)state.count, sizeof *state.all, schedule_compare);
  schedule_run_all(&state, team, loads);
  tsl_free(block);
  return tsl_grouped_told(group);
}
