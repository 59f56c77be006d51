/* tesela check: every strategy on every device, judged. */
#include "base/clock.h"
#include "base/env.h"
#include "base/status.h"
#include "check/list.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/select.h"
#include "cli/terms.h"
#include "cli/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double quiet_budget = 20; /* seconds for random cases when nothing is said */

typedef struct check_options {
  const char *strategies, *devices, *types, *only;
  int64_t seed, cases, threads;
  double budget;
  bool json, peers;
} check_options;

static const tsl_option options[] = {
    TSL_OPTION(check_options, strategies, "strategy", STRATEGIES, NULL,
               "these strategies, such as element,\"tile_local tile=16\" (default: all)"),
    TSL_OPTION(check_options, peers, "peers", FLAG, NULL,
               "vendors' libraries as well, where they are installed: OpenBLAS, CLBlast, cuBLAS"),
    TSL_OPTION(check_options, devices, "device", DEVICES, NULL,
               "these devices, such as cpu,opencl:0 (default: all)"),
    TSL_OPTION(
        check_options, types, "type", TYPES, NULL,
        "where A has one of these types, or all three have, as in bf16:f32 or u8:i8:i32 (default: all that "
        "the strategies take)"),
    TSL_OPTION(check_options, seed, "seed", SEED, "1", "of the random cases"),
    TSL_OPTION(check_options, cases, "cases", COUNT, NULL,
               "so many random cases (default: 20 seconds of them)"),
    TSL_OPTION(check_options, budget, "budget", SECONDS, NULL,
               "start nothing after this long, neither cases nor compilations"),
    TSL_OPTION(check_options, only, "case", TEXT, NULL,
               "this case only, as a report names it: standard:17, random:3"),
    TSL_OPTION(check_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION_JSON(check_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela check", "everything: the standard cases, then random ones for 20 seconds"},
    {"tesela check --device opencl:0 --budget 2min --seed 7", "one device, other random cases, for longer"},
    {"tesela check --strategy \"tile_local tile=16\" --type f32 --case standard:17", "one case again"},
    {NULL, NULL},
};

/* --- running the list --- */

enum { TYPES_MAX = 64 };

typedef struct checking {
  const check_options *given;
  tsl_check_list list;
  tsl_types types[TYPES_MAX]; /* that some strategy takes and the user wants */
  int type_count;
  bool ops[TSL_OP_COUNT]; /* that some strategy has */
  tsl_progress *progress;
  double start, end; /* by tsl_clock(); end: start no case later */
  int64_t standard_done, standard_count, random_done;
  int counts[TSL_OP_COUNT]; /* of standard cases */
} checking;

/* Of the operation that has most. */
static int64_t count_standard(checking *job) {
  tsl_case unused;
  int most = 0;
  for (int op = 0; op < TSL_OP_COUNT; op++) {
    int *count = &job->counts[op];
    while (job->ops[op] && tsl_case_standard((tsl_op)op, *count, TESELA_F32, &unused))
      ++*count;
    most = *count > most ? *count : most;
  }
  return most;
}

static bool have_common_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a != 1;
}

/* The standard case whose turn is `turn`: all of them once, spread over the list, which begins with empty products; so
 * whatever is tried before a budget is over is a sample of all kinds. */
static int64_t in_turn(int count, int64_t turn) {
  int step = (int)(0.618 * count) + 1;
  if (turn >= count)
    return turn; /* past the end */
  while (have_common_divisor(step, count))
    step++;
  return (count / 2 + turn * step) % count;
}

static bool same_types(const tsl_types *a, const tsl_types *b) {
  return a->a == b->a && a->b == b->b && a->c == b->c;
}

/* A word alone is a type of A; with the others said, all must be the same. */
static bool is_wanted(const check_options *given, const tsl_type_list *list, const tsl_types *types) {
  for (int i = 0; i < list->count; i++) {
    const tsl_chosen_types *wanted = &list->items[i];
    if (strchr(given->types, ':') ? same_types(&wanted->types, types) : wanted->types.a == types->a)
      return true;
  }
  return list->count == 0;
}

static void add_types(checking *job, const tsl_strategy *strategy, const tsl_type_list *wanted) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++) {
    int known = 0;
    while (known < job->type_count && !same_types(&job->types[known], &types))
      known++;
    if (known == job->type_count && known < TYPES_MAX && is_wanted(job->given, wanted, &types))
      job->types[job->type_count++] = types;
  }
}

/* The types and operations of the cases. */
static tesela_status choose_cases(checking *job, const tsl_strategy_list *strategies) {
  tsl_type_list wanted = {.count = 0};
  if (job->given->types)
    TSL_TRY(tsl_select_types(TSL_OP_GEMM, job->given->types, &wanted));
  for (int i = 0; i < strategies->count; i++) {
    job->ops[strategies->items[i].strategy->op] = true;
    add_types(job, strategies->items[i].strategy, &wanted);
  }
  return TESELA_OK;
}

/* One case of an operation for every type, pair and config. Operations with fewer standard cases end earlier. */
static tesela_status check_op(checking *job, tsl_op op, bool random, int64_t index) {
  for (int t = 0; t < job->type_count; t++) {
    tsl_check_entry entry = {.random = random, .index = index, .seed = (uint64_t)job->given->seed};
    entry.types = job->types[t];
    if (random)
      tsl_case_random(op, entry.seed, (uint64_t)index, entry.types.c, &entry.what);
    else if (!tsl_case_standard(op, (int)index, entry.types.c, &entry.what))
      return TESELA_OK;
    tsl_case_set_types(&entry.what, &entry.types);
    TSL_TRY(tsl_check_list_run(&job->list, &entry));
  }
  return TESELA_OK;
}

static tesela_status check_index(checking *job, bool random, int64_t index) {
  if (!random && index >= job->standard_count)
    return tsl_fail(TESELA_BAD_CALL, "--case: there is no standard case %lld; the last is %lld",
                    (long long)index, (long long)job->standard_count - 1);
  for (int op = 0; op < TSL_OP_COUNT; op++)
    if (job->ops[op])
      TSL_TRY(check_op(job, (tsl_op)op, random, index));
  return TESELA_OK;
}

static bool time_is_over(const checking *job) {
  return tsl_clock() >= job->end;
}

/* Each pair with one config in its first type: with a budget, breadth comes first, since every config is a compilation. */
static tesela_status check_pairs(checking *job) {
  for (int i = 0; i < job->list.pair_count; i++) {
    tsl_check_pair *pair = &job->list.pairs[i];
    const tsl_op op = pair->chosen->strategy->op;
    tsl_check_entry entry = {.index = in_turn(job->counts[op], 0), .seed = (uint64_t)job->given->seed};
    tsl_progress_at(job->progress, "one case each", (double)i / (double)job->list.pair_count);
    for (int t = 0; t < job->type_count && pair->computed == 0; t++) {
      entry.types = job->types[t];
      if (!tsl_case_standard(op, (int)entry.index, entry.types.c, &entry.what))
        continue;
      tsl_case_set_types(&entry.what, &entry.types);
      if (tsl_check_takes(pair, &entry))
        TSL_TRY(tsl_check_list_try(&job->list, pair, &entry));
    }
  }
  return TESELA_OK;
}

static tesela_status check_standard(checking *job) {
  for (int64_t i = 0; i < job->standard_count; i++) {
    if (time_is_over(job))
      return TESELA_OK;
    tsl_progress_at(job->progress, "standard cases", (double)i / (double)job->standard_count);
    for (int op = 0; op < TSL_OP_COUNT; op++)
      if (job->ops[op])
        TSL_TRY(check_op(job, (tsl_op)op, false, in_turn(job->counts[op], i)));
    job->standard_done += !job->list.over;
  }
  return TESELA_OK;
}

static tesela_status check_random(checking *job) {
  const int64_t most = job->given->cases ? job->given->cases : INT64_MAX;
  if (!job->given->cases && !job->given->budget)
    job->end = job->list.end = tsl_clock() + quiet_budget;
  const double begin = tsl_clock();
  for (int64_t i = 0; i < most && !time_is_over(job); i++) {
    const double by_time = (tsl_clock() - begin) / (job->end - begin), by_count = (double)i / (double)most;
    tsl_progress_at(job->progress, "random cases", fmax(by_time, by_count));
    TSL_TRY(check_index(job, true, i));
    job->random_done += !job->list.over;
  }
  return TESELA_OK;
}

static tesela_status check_only(checking *job) {
  static const char *const kinds[] = {"standard:", "random:"};
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(kinds[i]);
    int64_t index;
    if (strncmp(job->given->only, kinds[i], length) == 0 &&
        tsl_parse_i64(job->given->only + length, &index) && index >= 0 && index < INT32_MAX)
      return check_index(job, i == 1, index);
  }
  return tsl_fail(TESELA_BAD_CALL, "--case: \"%s\" is neither standard:N nor random:N", job->given->only);
}

/* Whether any strategy may run on any device: twenty seconds of random cases for nobody would be a strange answer. */
static bool any_pair(const tsl_check_list *list) {
  for (int i = 0; i < list->pair_count; i++)
    if (!*list->pairs[i].missing)
      return true;
  return false;
}

static tesela_status check_all(checking *job) {
  job->start = tsl_clock();
  job->end = job->given->budget > 0 ? job->start + job->given->budget : INFINITY;
  job->list.end = job->end;
  job->standard_count = count_standard(job);
  if (!any_pair(&job->list))
    return TESELA_OK;
  if (job->given->only)
    return check_only(job);
  if (job->given->budget > 0)
    TSL_TRY(check_pairs(job));
  TSL_TRY(check_standard(job));
  return check_random(job);
}

/* --- the report --- */

static const char *share_of_bound(const tsl_check_pair *pair, char *out, size_t size) {
  return pair->right + pair->wrong > 0 ? tsl_format_number(pair->error_ratio, out, size) : "-";
}

static void pair_table(const tsl_check_list *list, tsl_table *table) {
  char grade[32], ratio[32];
  tsl_table_column(table, "op", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "strategy", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "device", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "right", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "wrong", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "refused", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "failed", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "grade", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "of bound", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "", TSL_ALIGN_LEFT, true);
  for (int i = 0; i < list->pair_count; i++) {
    const tsl_check_pair *pair = &list->pairs[i];
    tsl_table_add(table, "%s", tsl_op_name(pair->chosen->strategy->op));
    tsl_table_add(table, "%s", pair->chosen->strategy->name);
    tsl_table_add(table, "%s", pair->device->name);
    if (*pair->missing) {
      for (int blank = 0; blank < 6; blank++)
        tsl_table_add_painted(table, TSL_PAINT_FAINT, "-");
      tsl_table_add_painted(table, TSL_PAINT_FAINT, "needs: %s", pair->missing);
      continue;
    }
    tsl_table_add_painted(table, pair->right ? TSL_PAINT_GOOD : TSL_PAINT_NONE, "%lld",
                          (long long)pair->right);
    tsl_table_add_painted(table, pair->wrong ? TSL_PAINT_BAD : TSL_PAINT_NONE, "%lld",
                          (long long)pair->wrong);
    tsl_table_add(table, "%lld", (long long)pair->refused);
    tsl_table_add_painted(table, pair->failed ? TSL_PAINT_BAD : TSL_PAINT_NONE, "%lld",
                          (long long)pair->failed);
    tsl_table_add(table, "%s",
                  pair->right + pair->wrong > 0 ? tsl_format_number(pair->grade, grade, sizeof grade) : "-");
    tsl_table_add(table, "%s", share_of_bound(pair, ratio, sizeof ratio));
    const char *peer = tsl_strategy_peer(pair->chosen->strategy, pair->device);
    if (tsl_check_is_untried(list, pair))
      tsl_table_add_painted(table, TSL_PAINT_BAD, "not tried: the budget was over");
    else
      tsl_table_add(table, "%s%s%s", peer, *peer && *pair->refusal ? "; " : "", pair->refusal);
  }
}

/* What a bug report needs to say about the machine. */
static void add_machine(const checking *job, int width, tsl_text *out) {
  tsl_text_add(out, "tesela %s\n", tesela_version());
  for (int i = 0; i < job->list.devices.count; i++) {
    const tsl_device *device = job->list.devices.items[i];
    tsl_text line = {0};
    tsl_text_add(&line, "%s: %s, %s, %s", device->name, device->label, device->platform, device->key);
    tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 4, width);
    tsl_text_add(out, "\n");
    tsl_text_free(&line);
  }
  for (int i = 0; tsl_env_at(i); i++)
    if (strcmp(tsl_env_get((tsl_env)i), tsl_env_at(i)->fallback) != 0)
      tsl_text_add(out, "%s=%s\n", tsl_env_at(i)->name, tsl_env_get((tsl_env)i));
  tsl_text_add(out, "\n");
}

/* By a budget that was over before all standard cases were done. */
static bool was_cut_short(const checking *job) {
  return job->given->budget > 0 && !job->given->only && job->standard_done < job->standard_count;
}

static void add_extent(const checking *job, tsl_text *out) {
  const int untried = tsl_check_list_untried(&job->list);
  if (job->given->only)
    return;
  if (was_cut_short(job))
    tsl_text_add(out, "\nCUT SHORT by --budget: what follows is about a part of the cases and configs%s\n",
                 untried > 0 ? "" : ", but of all strategies above");
  if (untried > 0)
    tsl_text_add(out, "%d %s not tried at all: nothing is known about %s\n", untried,
                 untried == 1 ? "strategy was" : "strategies were", untried == 1 ? "it" : "them");
  tsl_text_add(
      out, "\n%lld of %lld standard cases and %lld random ones (seed %lld), each in every type and config\n",
      (long long)job->standard_done, (long long)job->standard_count, (long long)job->random_done,
      (long long)job->given->seed);
}

static void add_faults(const tsl_check_list *list, tsl_text *out) {
  for (int i = 0; i < list->fault_count; i++) {
    const tsl_check_fault *fault = &list->faults[i];
    tsl_text_add(out, "\n%s: %s on %s\n", fault->failed ? "FAILED" : "WRONG", fault->config, fault->device);
    tsl_text_add(out, "  %s\n  case   %s\n  again  %s\n", fault->why, fault->problem, fault->command);
  }
  const int64_t more = tsl_check_list_sum(list).wrong + tsl_check_list_sum(list).failed - list->fault_count;
  if (more > 0)
    tsl_text_add(out, "\nand %lld more\n", (long long)more);
}

static tesela_status print_text(const checking *job) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  const tsl_check_pair sum = tsl_check_list_sum(&job->list);
  char time[32];
  tsl_text out = {0};
  tsl_table table = {0};
  add_machine(job, width, &out);
  pair_table(&job->list, &table);
  tsl_table_text(&table, 0, width, colour, &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  add_faults(&job->list, &out);
  add_extent(job, &out);
  tsl_text_add(&out, "%lld right, %lld wrong, %lld refused", (long long)sum.right, (long long)sum.wrong,
               (long long)sum.refused);
  if (sum.failed > 0)
    tsl_text_add(&out, ", %lld failed", (long long)sum.failed);
  tsl_text_add(&out, " (%s)\n", tsl_format_seconds(tsl_clock() - job->start, time, sizeof time));
  return tsl_print(&out);
}

static json_t *json_pair(const tsl_check_pair *pair) {
  return json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:s}", "op",
                   tsl_op_name(pair->chosen->strategy->op), "strategy", pair->chosen->strategy->name,
                   "device", pair->device->name, "peer", tsl_json_peer(pair->chosen->strategy, pair->device),
                   "right", (json_int_t)pair->right, "wrong", (json_int_t)pair->wrong, "refused",
                   (json_int_t)pair->refused, "failed", (json_int_t)pair->failed, "grade",
                   tsl_json_real(pair->grade), "error_ratio", tsl_json_real(pair->error_ratio), "missing",
                   *pair->missing ? json_string(pair->missing) : json_null(), "refusal", pair->refusal);
}

static tesela_status print_json(const tsl_call *call, const checking *job) {
  const tsl_check_list *list = &job->list;
  const tsl_check_pair sum = tsl_check_list_sum(list);
  json_t *devices = json_array(), *pairs = json_array(), *faults = json_array();
  for (int i = 0; i < list->devices.count; i++)
    json_array_append_new(devices, tsl_json_device(list->devices.items[i], false));
  for (int i = 0; i < list->pair_count; i++)
    json_array_append_new(pairs, json_pair(&list->pairs[i]));
  for (int i = 0; i < list->fault_count; i++) {
    const tsl_check_fault *fault = &list->faults[i];
    json_array_append_new(faults, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "kind",
                                            fault->failed ? "failed" : "wrong", "config", fault->config,
                                            "device", fault->device, "why", fault->why, "problem",
                                            fault->problem, "command", fault->command));
  }
  return tsl_print_json(
      call, json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:i, s:o}", "devices",
                      devices, "right", (json_int_t)sum.right, "wrong", (json_int_t)sum.wrong, "refused",
                      (json_int_t)sum.refused, "failed", (json_int_t)sum.failed, "rows", pairs, "faults",
                      faults, "standard_cases", (json_int_t)job->standard_done, "standard_cases_in_all",
                      (json_int_t)job->standard_count, "random_cases", (json_int_t)job->random_done, "seed",
                      (json_int_t)job->given->seed, "cut_short", was_cut_short(job), "untried",
                      tsl_check_list_untried(list), "seconds", tsl_json_real(tsl_clock() - job->start)));
}

static tesela_status conclude(const checking *job) {
  const tsl_check_pair sum = tsl_check_list_sum(&job->list);
  if (sum.wrong > 0)
    return tsl_fail(TESELA_WRONG_RESULT, "%lld results are wrong; the report says how to see them again",
                    (long long)sum.wrong);
  if (sum.failed > 0)
    return tsl_fail(TESELA_DEVICE_FAILED, "%lld cases failed; the first: %s", (long long)sum.failed,
                    job->list.faults[0].why);
  if (sum.computed == 0 && job->list.over)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "nothing was checked: the budget is too short for the first compilation");
  if (sum.right == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "nothing was checked: no strategy takes these devices and types%s",
                    job->given->budget > 0 ? ", or the budget is too short" : "");
  return TESELA_OK;
}

static tesela_status run(const tsl_call *call) {
  const check_options *given = call->options;
  checking job = {.given = given};
  tsl_devices *devices = NULL;
  tsl_strategy_list strategies;
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_set_threads(given->threads));
  TSL_GO(tsl_select_strategies(TSL_OP_COUNT, given->strategies, given->peers, &strategies));
  TSL_GO(choose_cases(&job, &strategies));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_select_devices(devices, given->devices, &job.list.devices));
  TSL_GO(tsl_check_list_start(&job.list, &strategies));
  job.progress = tsl_progress_start();
  status = check_all(&job);
  tsl_progress_end(job.progress);
  TSL_GO(status);
  TSL_GO(given->json ? print_json(call, &job) : print_text(&job));
  status = conclude(&job);
out:
  tsl_check_list_free(&job.list);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_check = {
    .name = "check",
    .what = "verify every strategy on every device over standard and random problems",
    .arguments = "",
    .details = "Each case runs between guard bands, with NaN where C must not be read, and is judged against "
               "sums in higher "
               "precision, element by element. grade: the largest error in units of u (|alpha||A||B| + "
               "|beta||C0|); of "
               "bound: the largest error over what the strategy guarantees. A wrong result is printed with "
               "the command "
               "that repeats it. The report can be pasted into a bug report as it is.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(check_options),
    .run = run,
};
