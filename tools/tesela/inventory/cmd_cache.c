/* tesela cache: the compiled kernels on disk. */
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/tool.h"
#include "core/clock.h"
#include "core/pool.h"
#include "core/reserve.h"
#include "core/status.h"
#include "device/jit_cache.h"
#include "device/self_tests.h"
#include "inventory/select.h"
#include "io/output.h"
#include "planner/kernel_self_test.h"
#include "planner/subplan_choice.h"
#include "strategy/support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tesela cache prefill: compiles and tests kernels in advance. */
typedef struct tsl_cache_options {
  const char *devices, *types, *strategies;
  int64_t threads;
  bool json;
} tsl_cache_options;

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

static tesela_status cache_prefill(const tsl_command_call *call) {
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

static const tsl_option options[] = {
    TSL_OPTION(tsl_cache_options, devices, "device", DEVICES, NULL,
               "prefill, export: for these devices (default: all); devices such as opencl:0,cuda:0 that "
               "compile kernels"),
    TSL_OPTION(tsl_cache_options, strategies, "strategy", STRATEGIES, NULL,
               "prefill: these strategies (default: all)"),
    TSL_OPTION(tsl_cache_options, types, "type", TYPES, "f32,f64", "prefill: for these types"),
    TSL_OPTION(tsl_cache_options, threads, "threads", COUNT, NULL,
               "prefill: compile at most this many kernels at once"),
    TSL_OPTION_JSON(tsl_cache_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela cache list", "the kernels in the cache, and its folder"},
    {"tesela cache prefill --device opencl:0",
     "compile and self-test everything now, so that no later run waits"},
    {"tesela cache export kernels.cache",
     "write every entry to one file, which TESELA_CACHE may name on another machine"},
    {"tesela cache clear", "remove every entry"},
    {NULL, NULL},
};

/* --- list --- */

typedef struct listing {
  tsl_jit_entry *items;
  int count, capacity;
  bool failed; /* true: memory ran out */
  tsl_table table;
  json_t *entries;
  uint64_t bytes;
} listing;

static const char *format_age(double seconds, char *out, size_t size) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (seconds >= units[i].seconds || units[i].seconds == 1) {
      snprintf(out, size, "%.0f %s", seconds / units[i].seconds, units[i].unit);
      break;
    }
  return out;
}

static void keep_entry(void *argument, const tsl_jit_entry *entry) {
  listing *list = argument;
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 64;
    tsl_jit_entry *items = realloc(list->items, (size_t)capacity * sizeof *items);
    list->failed |= !items;
    if (!items)
      return;
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = *entry;
}

/* Orders entries by kernel, config and device. */
static int by_kernel(const void *a, const void *b) {
  const tsl_jit_entry *one = a, *other = b;
  const int name = strcmp(one->name, other->name), config = strverscmp(one->config, other->config);
  return name ? name : config ? config : strcmp(one->device, other->device);
}

static void add_entry(listing *list, const tsl_jit_entry *entry) {
  char bytes[32], age[32];
  tsl_table_add(&list->table, "%s", entry->name);
  tsl_table_add(&list->table, "%s", entry->config);
  tsl_table_add(&list->table, "%.8s", entry->hash);
  tsl_table_add(&list->table, "%s", tsl_format_bytes(entry->bytes, bytes, sizeof bytes));
  tsl_table_add(&list->table, "%s", format_age(entry->age, age, sizeof age));
  if (entry->damaged)
    tsl_table_add_painted(&list->table, TSL_PAINT_BAD, "damaged, will be rebuilt");
  else
    tsl_table_add(&list->table, "%s", entry->device);
  json_array_append_new(list->entries,
                        json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:b}", "name", entry->name, "config",
                                  entry->config, "hash", entry->hash, "device", entry->device, "bytes",
                                  (json_int_t)entry->bytes, "seconds_since_use", tsl_json_real(entry->age),
                                  "damaged", entry->damaged != 0));
  list->bytes += entry->bytes;
}

static tesela_status list(const tsl_command_call *call) {
  const tsl_cache_options *given = call->options;
  listing found = {.entries = json_array()};
  tsl_text folder = {0}, out = {0};
  char bytes[32];
  tesela_status status = TESELA_OK;
  const tsl_self_test_count self_tests = tsl_self_test_counts();
  TSL_TABLE_COLUMNS(&found.table, "kernel", "~config", "hash", ">size", ">last use", "~compiled for");
  TSL_GO(tsl_jit_folder(&folder));
  TSL_GO(tsl_jit_list(keep_entry, &found));
  if (found.failed)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to list %d kernels", found.count));
  if (found.count > 0)
    qsort(found.items, (size_t)found.count, sizeof *found.items, by_kernel);
  for (int i = 0; i < found.count; i++)
    add_entry(&found, &found.items[i]);
  TSL_GO(tsl_table_status(&found.table));
  if (given->json) {
    status = tsl_print_json(call, json_pack("{s:s, s:i, s:I, s:i, s:i, s:O}", "folder", tsl_text_get(&folder),
                                            "count", found.count, "bytes", (json_int_t)found.bytes,
                                            "self_tests_right", self_tests.right, "self_tests_wrong",
                                            self_tests.wrong, "entries", found.entries));
    goto out;
  }
  if (found.count > 0) {
    tsl_table_text(&found.table, 0, tsl_output_width(), tsl_output_colour(), &out);
    tsl_text_add(&out, "\n");
  }
  tsl_text_add(&out, "%d kernel%s, %s, in %s\n", found.count, found.count == 1 ? "" : "s",
               tsl_format_bytes(found.bytes, bytes, sizeof bytes), tsl_text_get(&folder));
  if (self_tests.right + self_tests.wrong > 0)
    tsl_text_add(&out, "%d self-test%s passed, %d failed\n", self_tests.right,
                 self_tests.right == 1 ? "" : "s", self_tests.wrong);
  status = tsl_print(&out);
out:
  free(found.items);
  tsl_table_free(&found.table);
  json_decref(found.entries);
  tsl_text_free(&folder);
  tsl_text_free(&out);
  return status;
}

/* --- clear --- */

static tesela_status clear(const tsl_command_call *call) {
  const tsl_cache_options *given = call->options;
  tsl_text out = {0};
  char size[32];
  int count;
  uint64_t bytes;
  TSL_TRY(tsl_jit_clear(&count, &bytes));
  if (given->json)
    return tsl_print_json(call, json_pack("{s:i, s:I}", "removed", count, "bytes", (json_int_t)bytes));
  tsl_text_add(&out, "removed %d kernel%s, %s\n", count, count == 1 ? "" : "s",
               tsl_format_bytes(bytes, size, sizeof size));
  return tsl_print(&out);
}

/* --- export --- */

static tesela_status write_bytes(void *argument, const void *bytes, size_t count) {
  return tsl_output_write(argument, bytes, count);
}

/* Fills `keys` with the keys of the devices that --device names; none if the option is missing. */
static tesela_status device_keys(const tsl_cache_options *cache_options, tsl_devices *devices,
                                 const char *keys[TSL_SELECT_MAX], int *count) {
  tsl_device_list where;
  *count = 0;
  if (!cache_options->devices || tsl_selects_all_devices(cache_options->devices))
    return TESELA_OK;
  TSL_TRY(tsl_select_devices(devices, cache_options->devices, &where));
  for (int i = 0; i < where.count; i++)
    keys[(*count)++] = where.items[i]->key;
  return TESELA_OK;
}

static tesela_status report_export(const tsl_command_call *call, int count, uint64_t bytes) {
  const tsl_cache_options *given = call->options;
  tsl_text out = {0};
  char size[32];
  if (given->json)
    return tsl_print_json(call, json_pack("{s:s, s:i, s:I}", "file", call->words[1], "exported", count,
                                          "bytes", (json_int_t)bytes));
  tsl_text_add(&out, "exported %d kernel%s, %s, to %s\n", count, count == 1 ? "" : "s",
               tsl_format_bytes(bytes, size, sizeof size), call->words[1]);
  return tsl_print(&out);
}

static tesela_status export(const tsl_command_call *call) {
  const char *keys[TSL_SELECT_MAX];
  tsl_output output = {0};
  tsl_devices *devices = NULL;
  int key_count, count;
  uint64_t bytes;
  tesela_status status;
  if (strcmp(call->words[1], "-") == 0)
    return tsl_fail(TESELA_BAD_CALL, "cache export writes a file, not standard output");
  TSL_TRY(tsl_devices_create(&devices));
  TSL_GO(device_keys(call->options, devices, keys, &key_count));
  TSL_GO(tsl_output_open(call->words[1], &output));
  TSL_GO(tsl_jit_export(keys, key_count, write_bytes, &output, &count, &bytes));
  TSL_GO(tsl_output_commit(&output));
  status = report_export(call, count, bytes);
out:
  tsl_output_close(&output);
  tsl_devices_destroy(devices);
  return status;
}

/* --- */

static const struct {
  const char *name;
  tesela_status (*run)(const tsl_command_call *call);
  int words; /* number of arguments, the action's name included */
} actions[] = {{"list", list, 1}, {"clear", clear, 1}, {"prefill", cache_prefill, 1}, {"export", export, 2}};

static const char *const action_names[] = {"list", "clear", "prefill", "export", NULL};

static tesela_status run(const tsl_command_call *call) {
  int action = 0;
  while (strcmp(actions[action].name, call->words[0]) != 0)
    action++;
  if (call->word_count == actions[action].words)
    return actions[action].run(call);
  return actions[action].words == 2
             ? tsl_fail(TESELA_BAD_CALL, "cache %s needs the name of the file to write", actions[action].name)
             : tsl_fail(TESELA_BAD_CALL, "cache %s takes no argument; \"%s\" is one", actions[action].name,
                        call->words[1]);
}

const tsl_command tsl_command_cache = {
    .name = "cache",
    .what = "list, remove, make or export the compiled kernels on disk",
    .arguments = "list | clear | prefill | export FILE",
    .details =
        "Kernels are compiled once and kept under TESELA_CACHE_DIR (default: ~/.cache/tesela). An "
        "entry is used only "
        "for the same source, options, compiler, driver and device. A file that export wrote is searched "
        "before that folder where TESELA_CACHE names it.",
    .options = options,
    .examples = examples,
    .choices = action_names,
    .words_min = 1,
    .words_max = 2,
    .options_bytes = sizeof(tsl_cache_options),
    .run = run,
};
