/* Division of grouped products among threads. Products that would keep the other threads waiting, or
 * would unbalance them, are computed by all threads, one after another. The others are computed by one
 * thread each, the largest first, several small ones at a time. */
#include "api/grouped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits of work, in f32 operations. Below shared_product one thread computes a product. From
 * whole_product on all threads compute it, which is as fast as in parallel with others and needs no
 * memory for each thread. Below shared_group one thread computes the group. */
static const double shared_product = 4e6, whole_product = 4e9, shared_group = 2e5;
/* Overheads in f32 operations: of a call, of a byte, and of starting and ending all threads for one
 * product. */
static const double call_work = 400, byte_work = 2, team_work = 4e5;
enum { JOBS_OF_A_THREAD = 8 };

/* Products of one member that the cpu computes. */
typedef struct series {
  int64_t member, count;
  double work; /* work of one product */
} series;

/* Job of one thread: `count` products from product `first` of a series on, continued in the next
 * series. */
typedef struct grouped_schedule_job {
  int64_t series, first, count;
} grouped_schedule_job;

typedef struct schedule {
  tsl_grouped *group;
  series *all; /* sorted by work, largest first */
  int64_t count;
  grouped_schedule_job *jobs;
} schedule;

static double grouped_schedule_work_of(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  const double width = (double)tsl_type(tsl_type(problem->c.type)->component)->size / 4;
  return call_work + tsl_problem_flops(problem) * (width > 1 ? width : 1) +
         tsl_problem_bytes(problem) * byte_work;
}

static int grouped_schedule_compare(const void *x, const void *y) {
  const series *a = x, *b = y;
  return a->work != b->work ? (a->work < b->work ? 1 : -1) : a->member < b->member ? -1 : 1;
}

/* Computes one product on the calling thread. If the group's first product fails, every C is unchanged. */
static void grouped_schedule_multiply(tsl_grouped *group, int64_t member, int64_t index) {
  if (atomic_load_explicit(&group->status, memory_order_relaxed) != TESELA_OK)
    return;
  tsl_grouped_note(group, tsl_products_multiply(&group->members[member], index, !group->begun));
  group->begun = true;
}

static void grouped_schedule_run_job(void *argument, int64_t index, int worker) {
  const schedule *of = argument;
  const grouped_schedule_job *one = &of->jobs[index];
  int64_t at = one->series, i = one->first;
  (void)worker;
  for (int64_t left = one->count;
       left > 0 && atomic_load_explicit(&of->group->status, memory_order_relaxed) == TESELA_OK; left--, i++) {
    while (i == of->all[at].count) {
      at++;
      i = 0;
    }
    tsl_grouped_note(of->group, tsl_products_multiply(&of->group->members[of->all[at].member], i, false));
  }
}

/* --- products that all threads compute --- */

typedef struct place {
  int64_t series, index; /* index of the next product in the series */
} place;

static void grouped_schedule_go_on(const schedule *schedule_in, place *place_in) {
  if (++place_in->index == schedule_in->all[place_in->series].count) {
    place_in->series++;
    place_in->index = 0;
  }
}

/* Returns the time in operations of one thread if all threads compute the first `together` of `large`
 * products. The other large ones go to the first free thread, and `small` operations fill the gaps. */
static double grouped_schedule_takes(const schedule *schedule_in, int threads, double *loads, int64_t large,
                                     int64_t together, double small) {
  place at = {0, 0};
  double by_all = 0, sum = small, longest = 0;
  for (int i = 0; i < threads; i++)
    loads[i] = 0;
  for (int64_t p = 0; p < large; p++, grouped_schedule_go_on(schedule_in, &at)) {
    const double work = schedule_in->all[at.series].work;
    if (p < together) {
      by_all += work / threads + team_work;
      continue;
    }
    int least = 0;
    for (int i = 1; i < threads; i++)
      least = loads[i] < loads[least] ? i : least;
    loads[least] += work;
    sum += work;
    longest = fmax(longest, loads[least]);
  }
  return by_all + fmax(longest, sum / threads);
}

/* Returns how many of the first products all threads compute together. These are products above a
 * thread's part of the remaining work, and, if few remain, as many more as balance the threads best. */
static int64_t choose_together(const schedule *schedule_in, int threads, double *loads, double total) {
  int64_t large = 0, together = 0;
  double left = total, small = total;
  place at = {0, 0};
  bool leads = true;
  for (int64_t s = 0; s < schedule_in->count && schedule_in->all[s].work >= shared_product; s++) {
    large += schedule_in->all[s].count;
    small -= schedule_in->all[s].work * (double)schedule_in->all[s].count;
  }
  for (; leads && together < large; grouped_schedule_go_on(schedule_in, &at)) {
    const double work = schedule_in->all[at.series].work;
    leads = work >= whole_product || work * threads > left;
    together += leads;
    left -= work;
  }
  const int64_t rest = large - together;
  if (rest == 0 || rest >= (int64_t)JOBS_OF_A_THREAD * threads)
    return together;
  const int64_t choices[] = {together + rest % threads, large};
  double best = grouped_schedule_takes(schedule_in, threads, loads, large, together, fmax(small, 0));
  for (int i = 0; i < 2; i++) {
    const double its = grouped_schedule_takes(schedule_in, threads, loads, large, choices[i], fmax(small, 0));
    if (its < best) {
      best = its;
      together = choices[i];
    }
  }
  return together;
}

/* --- jobs for the other products --- */

/* Cuts the remaining products into jobs. A large product is a job; small ones are collected up to
 * `much` work. Returns the number of jobs. */
static int64_t grouped_schedule_cut(schedule *schedule_in, place place_in, double much) {
  int64_t jobs = 0;
  while (place_in.series < schedule_in->count) {
    grouped_schedule_job *one = &schedule_in->jobs[jobs++];
    double sum = 0;
    *one = (grouped_schedule_job){place_in.series, place_in.index, 0};
    while (place_in.series < schedule_in->count && (one->count == 0 || sum < much)) {
      const series *its = &schedule_in->all[place_in.series];
      const double wanted = ceil((much - sum) / its->work);
      const int64_t left = its->count - place_in.index;
      const int64_t taken = wanted < 1 ? 1 : wanted < (double)left ? (int64_t)wanted : left;
      one->count += taken;
      sum += (double)taken * its->work;
      place_in.index += taken;
      if (place_in.index == its->count) {
        place_in.series++;
        place_in.index = 0;
      }
    }
  }
  return jobs;
}

static void grouped_schedule_run_all(schedule *schedule_in, tsl_team team, double *loads) {
  const int threads = tsl_team_threads(team);
  double total = 0;
  place at = {0, 0};
  for (int64_t s = 0; s < schedule_in->count; s++)
    total += schedule_in->all[s].work * (double)schedule_in->all[s].count;
  const bool shares = threads > 1 && total >= shared_group;
  const int64_t together = shares ? choose_together(schedule_in, threads, loads, total) : 0;
  double left = total;
  for (int64_t p = 0; p < together || (!shares && at.series < schedule_in->count);
       p++, grouped_schedule_go_on(schedule_in, &at)) {
    grouped_schedule_multiply(schedule_in->group, schedule_in->all[at.series].member, at.index);
    left -= schedule_in->all[at.series].work;
  }
  if (at.series == schedule_in->count)
    return;
  const int64_t jobs =
      grouped_schedule_cut(schedule_in, at, fmax(left, 0) / (double)(JOBS_OF_A_THREAD * threads));
  tsl_team_run(team, jobs, grouped_schedule_run_job, schedule_in);
}

/* Returns the maximum number of jobs: not more than products, and a bounded number for each thread. */
static int64_t most_jobs(int threads, int64_t products) {
  const int64_t most = (int64_t)JOBS_OF_A_THREAD * threads + 2;
  return products < most ? products : most;
}

tesela_status tsl_grouped_share(tsl_grouped *group) {
  schedule of = {.group = group};
  const tsl_device *device = NULL;
  int64_t products = 0;
  void *block;
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_grouped_on_host(group, i) && group->batches[i].count > 0) {
      device = group->members[i].plan->plan->work.device;
      products += group->batches[i].count;
      of.count++;
    }
  if (of.count == 0)
    return TESELA_OK;
  const tsl_team team = tsl_device_team(device);
  const int threads = tsl_team_threads(team);
  const int64_t jobs = most_jobs(threads, products);
  TSL_TRY(tsl_alloc((size_t)of.count * sizeof *of.all + (size_t)jobs * sizeof *of.jobs +
                        (size_t)threads * sizeof(double),
                    "a group's products in their order", &block));
  of.all = block;
  of.jobs = (grouped_schedule_job *)(of.all + of.count);
  double *loads = (double *)(of.jobs + jobs);
  int64_t at = 0;
  for (int64_t i = 0; i < group->count; i++)
    if (tsl_grouped_on_host(group, i) && group->batches[i].count > 0)
      of.all[at++] =
          (series){i, group->batches[i].count, grouped_schedule_work_of(group->members[i].plan->plan)};
  qsort(of.all, (size_t)of.count, sizeof *of.all, grouped_schedule_compare);
  grouped_schedule_run_all(&of, team, loads);
  tsl_free(block);
  return tsl_grouped_told(group);
}
