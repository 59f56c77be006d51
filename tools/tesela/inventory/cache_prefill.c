#include "inventory/cache_prefill.h"

#include "cli/progress.h"
#include "cli/report.h"
#include "core/clock.h"
#include "core/pool.h"
#include "core/reserve.h"
#include "core/status.h"
#include "inventory/select.h"
#include "planner/kernel_self_test.h"
#include "planner/subplan_choice.h"
#include "strategy/support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The problem size for which each kernel is prepared; kernels do not depend on it. */
enum { PREFILL_SIZE = 1024 };

typedef struct filling_job {
  const tsl_strategy *strategy;
  tsl_config config;
  tesela_type type;
  tsl_device *device;
  tesela_status status;
  double seconds; /* seconds of compiling; 0: the kernel was in the cache */
  double tried;   /* seconds of the self-test; 0: it passed earlier, or there is none */
  char why[512];
} filling_job;

typedef struct cache_prefill_filling {
  filling_job *jobs;
  int count, capacity;
  pthread_mutex_t lock; /* protects `done` */
  int done;
  tsl_progress *progress;
} cache_prefill_filling;

static tsl_problem cache_prefill_sample(tsl_op op, tesela_type type) {
  return tsl_problem_of(op, PREFILL_SIZE, PREFILL_SIZE, PREFILL_SIZE, type);
}

static void cache_prefill_build_one(void *argument, int64_t index, int worker) {
  (void)worker;
  cache_prefill_filling *all = argument;
  filling_job *job = &all->jobs[index];
  const tsl_problem problem = cache_prefill_sample(job->strategy->op, job->type);
  tsl_plan *plan;
  job->status =
      tsl_planner_create(&problem, job->strategy, &job->config, job->device, TSL_PLACE_DEVICE, &plan);
  if (job->status == TESELA_OK)
    job->status = tsl_self_test_plan(plan);
  if (plan) {
    job->seconds = plan->work.build_seconds;
    job->tried = plan->self_test_seconds;
  }
  if (job->status != TESELA_OK)
    snprintf(job->why, sizeof job->why, "%s", tesela_last_error());
  tsl_plan_destroy(plan);
  pthread_mutex_lock(&all->lock);
  all->done++;
  tsl_progress_at(all->progress, "compiling", (double)all->done / all->count);
  pthread_mutex_unlock(&all->lock);
}

static tesela_status add_job(cache_prefill_filling *all, const filling_job *job) {
  TSL_TRY(tsl_list_reserve(&all->jobs, all->count, &all->capacity, sizeof *all->jobs, "kernels"));
  all->jobs[all->count++] = *job;
  return TESELA_OK;
}

static tesela_status add_new(cache_prefill_filling *all, const filling_job *job) {
  for (int i = 0; i < all->count; i++) {
    const filling_job *other = &all->jobs[i];
    if (other->strategy == job->strategy && other->type == job->type && other->device == job->device &&
        memcmp(&other->config, &job->config, sizeof job->config) == 0)
      return TESELA_OK;
  }
  return add_job(all, job);
}

/* Adds the configs that the strategy's model prefers for squares of a few sizes, if there are too
 * many to compile all. */
static tesela_status add_family(cache_prefill_filling *all, const tsl_chosen_strategy *chosen,
                                filling_job job) {
  static const int64_t sizes[] = {64, 256, PREFILL_SIZE, 4 * PREFILL_SIZE};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const tsl_problem problem = tsl_problem_of(chosen->strategy->op, sizes[s], sizes[s], sizes[s], job.type);
    double best = INFINITY;
    for (tsl_walk walk = {.config = chosen->config, .fixed = chosen->given};
         tsl_strategy_walk(chosen->strategy, &problem, job.device, &walk);) {
      if (tsl_strategy_refuse(chosen->strategy, &problem, &walk.config, job.device))
        continue;
      const double seconds =
          tsl_strategy_seconds(chosen->strategy, &problem, &walk.config, job.device, tsl_strategy_at);
      if (seconds < best)
        job.config = walk.config;
      best = fmin(best, seconds);
    }
    if (best < INFINITY)
      TSL_TRY(add_new(all, &job));
  }
  return TESELA_OK;
}

/* Adds every config of one strategy that this device takes, or only the config that the user named. */
static tesela_status add_strategy(cache_prefill_filling *all, const tsl_chosen_strategy *chosen,
                                  tesela_type type, tsl_device *device) {
  const tsl_problem problem = cache_prefill_sample(chosen->strategy->op, type);
  filling_job job = {.strategy = chosen->strategy, .type = type, .device = device};
  if (chosen->strategy->testing.probes)
    return add_family(all, chosen, job);
  for (tsl_walk walk = {.config = chosen->config, .fixed = chosen->given};
       tsl_strategy_walk(chosen->strategy, &problem, device, &walk);) {
    job.config = walk.config;
    if (!tsl_strategy_refuse(chosen->strategy, &problem, &walk.config, device))
      TSL_TRY(add_job(all, &job));
  }
  return TESELA_OK;
}

static tesela_status cache_prefill_collect(const tsl_cache_options *options, tsl_devices *devices,
                                           cache_prefill_filling *all) {
  tsl_device_list where;
  tsl_strategy_list strategies;
  tsl_type_list types;
  TSL_TRY(tsl_select_devices(devices, options->devices, &where));
  TSL_TRY(tsl_select_strategies(TSL_OP_COUNT, options->strategies, false, &strategies));
  TSL_TRY(tsl_select_types(TSL_OP_COUNT, options->types, &types));
  for (int d = 0; d < where.count; d++)
    for (int s = 0; s < strategies.count; s++)
      for (int t = 0; t < types.count; t++)
        if (!(where.items[d]->capabilities & TSL_CAN_HOST) && !strategies.items[s].strategy->vendor.load)
          TSL_TRY(add_strategy(all, &strategies.items[s], types.items[t].types.a, where.items[d]));
  if (all->count > 0)
    return TESELA_OK;
  return tsl_fail(TESELA_UNSUPPORTED,
                  "there is nothing to compile: no such strategy has kernels for these devices and types");
}

static tesela_status report_prefill(const tsl_command_call *call, const cache_prefill_filling *all,
                                    double seconds) {
  const tsl_cache_options *given = call->options;
  int compiled = 0, kept = 0, failed = 0, tried = 0;
  double compiling = 0, trying = 0;
  tesela_status status = TESELA_OK;
  tsl_text out = {0}, first = {0};
  json_t *failures = json_array();
  char time[32], compile_time[32], try_time[32];
  for (int i = 0; i < all->count; i++) {
    const filling_job *job = &all->jobs[i];
    compiling += job->seconds;
    trying += job->tried;
    tried += job->tried > 0;
    compiled += job->status == TESELA_OK && job->seconds > 0;
    kept += job->status == TESELA_OK && job->seconds == 0;
    if (job->status == TESELA_OK)
      continue;
    json_array_append_new(failures,
                          json_pack("{s:s, s:s, s:s, s:s}", "strategy", job->strategy->name, "device",
                                    job->device->name, "type", tsl_type(job->type)->name, "why", job->why));
    if (failed++ == 0) {
      status = job->status;
      tsl_text_add(&first, "%s", job->why);
    }
  }
  tsl_text_add(&out, "%d compiled, %d there already, %d self-tested, %s\n", compiled, kept, tried,
               tsl_format_seconds(seconds, time, sizeof time));
  if (compiled > 0)
    tsl_text_add(&out,
                 "%s in compilers and %s in self-tests, side by side, that no first call waits for now\n",
                 tsl_format_seconds(compiling, compile_time, sizeof compile_time),
                 tsl_format_seconds(trying, try_time, sizeof try_time));
  const tesela_status printed =
      given->json ? tsl_print_json(call, json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:O}", "compiled",
                                                   compiled, "there_already", kept, "self_tested", tried,
                                                   "seconds", tsl_json_real(seconds), "compiler_seconds",
                                                   tsl_json_real(compiling), "self_test_seconds",
                                                   tsl_json_real(trying), "failures", failures))
                  : tsl_print(&out);
  if (printed != TESELA_OK)
    status = printed;
  else if (failed > 0)
    status =
        tsl_fail(status, "%d of %d kernels failed; the first: %s", failed, all->count, tsl_text_get(&first));
  json_decref(failures);
  tsl_text_free(&out);
  tsl_text_free(&first);
  return status;
}

tesela_status tsl_cache_prefill(const tsl_command_call *call) {
  const tsl_cache_options *given = call->options;
  cache_prefill_filling all = {.count = 0};
  tsl_devices *devices = NULL;
  tesela_status status = TESELA_OK;
  const double start = tsl_clock();
  pthread_mutex_init(&all.lock, NULL);
  TSL_GO(tsl_set_threads(given->threads));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(cache_prefill_collect(given, devices, &all));
  all.progress = tsl_progress_start(true);
  tsl_pool_run(tsl_pool_shared(), all.count, cache_prefill_build_one, &all);
  tsl_progress_end(all.progress);
  status = report_prefill(call, &all, tsl_clock() - start);
out:
  free(all.jobs);
  pthread_mutex_destroy(&all.lock);
  tsl_devices_destroy(devices);
  return status;
}
