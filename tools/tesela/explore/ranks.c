#include "explore/ranks.h"

#include "cli/progress.h"
#include "cli/ranks.h"
#include "comm/collective_status.h"
#include "core/pool.h"
#include "core/status.h"
#include "explore/ranks_race.h"
#include "explore/ranks_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Refuses options of one process. Each rank does so alone before MPI begins, since all have the
 * same options. */
static tesela_status ranks_refuse_options(const tsl_explore_options *options, const char *op,
                                          const char *strategies) {
  const struct {
    bool given;
    const char *name, *why;
  } alone[] = {
      {op && strcmp(op, "gemm") != 0, "--op", "several processes multiply, and nothing else"},
      {strategies != NULL, "--strategies",
       "ranks compute by the strategies that the planner chooses for each"},
      {options->devices != NULL, "--devices", "TESELA_DEVICE names the device of each rank"},
      {options->accuracy != NULL, "--accuracy", "several processes add up parts of sums"},
      {options->threads != 0, "--threads",
       "ranks divide the processors; TESELA_THREADS is the number of each"},
      {options->csv, "--csv", "--json has all of it"},
      {options->html != NULL, "--html", "--markdown and --json have all of it"},
  };
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (alone[i].given)
      return tsl_fail(TESELA_UNSUPPORTED, "%s is of one process: %s", alone[i].name, alone[i].why);
  if (options->json && options->markdown)
    return tsl_fail(TESELA_BAD_CALL, "--json and --markdown exclude each other");
  return TESELA_OK;
}

/* Returns a rank's threads, as the product chooses them: the processors it is bound to, or its
 * share of the host's. */
static int ranks_share_of(const tsl_ranks *ranks) {
  const int own = tsl_pool_default_threads(), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
  const int share = own < all || ranks->host_ranks < 1 ? own : own / ranks->host_ranks;
  return share > 0 ? share : 1;
}

static tesela_status ranks_prepare(const tsl_explore_options *options, tsl_ranks_exploration *out) {
  tsl_exploration *all = &out->all;
  all->op = TSL_OP_GEMM;
  TSL_TRY(tsl_select_sizes(all->op, options->sizes ? options->sizes : "512,1024,2048", &all->sizes));
  TSL_TRY(tsl_select_types(all->op, options->types, &all->types));
  all->options = (tsl_race_options){.seconds_max = options->seconds,
                                    .time_limit = options->time_limit,
                                    .noise = options->noise,
                                    .seed = (uint64_t)options->seed};
  tsl_explore_look_at_machine(all);
  all->point_count = all->types.count * all->sizes.count;
  out->points = calloc((size_t)all->point_count + 1, sizeof *out->points);
  return out->points ? TESELA_OK
                     : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d measurements", all->point_count);
}

static void ranks_number_points(tsl_ranks_exploration *exploration, const char *why_no_peer) {
  for (int i = 0; i < exploration->all.point_count; i++) {
    tsl_ranks_point *point = &exploration->points[i];
    point->type = i / exploration->all.sizes.count;
    point->size = i % exploration->all.sizes.count;
    const tsl_problem problem = tsl_explore_problem(&exploration->all, point->type, point->size);
    point->flops = tsl_problem_flops(&problem);
    for (int way = 0; way < TSL_RANKS_WAYS; way++)
      point->entries[way] = (tsl_ranks_entry){.result = TSL_CASE_RIGHT, .timing = tsl_not_measured};
    if (!why_no_peer)
      continue;
    point->entries[TSL_RANKS_WAY_PEER].result = TSL_CASE_REFUSED;
    snprintf(point->entries[TSL_RANKS_WAY_PEER].why, sizeof point->entries[0].why, "%.255s", why_no_peer);
  }
}

static tesela_status run_points(tsl_ranks_exploration *exploration, const tsl_pblas *pblas) {
  tsl_progress *progress = exploration->ranks->rank == 0 ? tsl_progress_start(true) : NULL;
  tesela_status status = TESELA_OK;
  for (int i = 0; status == TESELA_OK && i < exploration->all.point_count; i++) {
    tsl_progress_at(progress, "multiplying", (double)i / exploration->all.point_count);
    status = tsl_ranks_race(exploration, pblas, &exploration->points[i]);
  }
  tsl_progress_end(progress);
  return status;
}

static tesela_status ranks_run(tsl_ranks_exploration *exploration, bool peers) {
  tsl_pblas pblas = {.is_open = false};
  const char *why = NULL;
  tsl_status_saved saved;
  exploration->grid = tsl_process_grid_choose(exploration->ranks);
  exploration->threads = ranks_share_of(exploration->ranks);
  exploration->ways = peers ? TSL_RANKS_WAYS : TSL_RANKS_WAY_PEER;
  if (!peers)
    why = "not requested";
  else if (tsl_pblas_open(exploration->ranks, &exploration->grid, exploration->threads, &pblas) !=
           TESELA_OK) {
    tsl_status_save(&saved);
    why = saved.sentence;
  }
  snprintf(exploration->peer, sizeof exploration->peer, "%s", why ? "" : pblas.name);
  ranks_number_points(exploration, why);
  const tesela_status status = run_points(exploration, why ? NULL : &pblas);
  tsl_status_save(&saved);
  tsl_pblas_close(&pblas);
  tsl_status_restore(&saved);
  return status;
}

/* Returns a failure for wrong or failed entries, or for no entry; the result is equal on all ranks. */
static tesela_status ranks_conclude(const tsl_ranks_exploration *exploration) {
  int right = 0;
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways; way++) {
      const tsl_ranks_entry *entry = &exploration->points[i].entries[way];
      right += entry->result == TSL_CASE_RIGHT;
      if (entry->result == TSL_CASE_WRONG || entry->result == TSL_CASE_FAILED)
        return tsl_fail(entry->result == TSL_CASE_WRONG ? TESELA_WRONG_RESULT : TESELA_DEVICE_FAILED,
                        "%s: %s", tsl_ranks_way_name(way), entry->why);
    }
  return right > 0 ? TESELA_OK : tsl_fail(TESELA_UNSUPPORTED, "nothing was measured");
}

static tesela_status report(const tsl_command_call *call, const tsl_ranks_exploration *exploration,
                            const tsl_explore_options *options) {
  if (exploration->ranks->rank == 0)
    TSL_TRY(tsl_ranks_print(call, exploration, options));
  return ranks_conclude(exploration);
}

tesela_status tsl_explore_together(const tsl_command_call *call, const tsl_explore_options *options,
                                   const char *op, const char *strategies, bool peers) {
  enum { BLOCK = 128 };
  tsl_ranks_exploration exploration = {.block = BLOCK};
  TSL_TRY(ranks_refuse_options(options, op, strategies));
  tesela_status status = ranks_prepare(options, &exploration);
  if (status == TESELA_OK)
    status = tsl_ranks_join(&exploration.ranks);
  if (status == TESELA_OK)
    status = ranks_run(&exploration, peers);
  if (status == TESELA_OK)
    status = report(call, &exploration, options);
  free(exploration.points);
  return status;
}
