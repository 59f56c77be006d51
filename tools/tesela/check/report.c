/* The report of a check. */
#include "inventory/report.h"
#include "check/checking.h"
#include "core/clock.h"
#include "core/env.h"

#include <string.h>

static const char *share_of_bound(const tsl_check_pair *pair, char *out, size_t size) {
  return pair->right + pair->wrong > 0 ? tsl_format_number(pair->error_ratio, out, size) : "-";
}

static void pair_table(const tsl_check_list *list, tsl_table *table) {
  char grade[32], ratio[32];
  TSL_TABLE_COLUMNS(table, "op", "strategy", "device", ">right", ">wrong", ">refused", ">failed", ">grade",
                    ">of bound", "~");
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

/* Adds the version, the devices and the machine, for a bug report. */
static void add_machine(const tsl_checking *job, int width, tsl_text *out) {
  tsl_text_add(out, "tesela %s\n", tesela_version());
  for (int i = 0; i < job->list.devices.count; i++) {
    const tsl_device *device = job->list.devices.items[i];
    tsl_text line = {0};
    tsl_text_add(&line, "%s: %s, %s, %s", device->name, device->label, device->platform, device->key);
    tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 4, width);
    tsl_text_add(out, "\n");
    tsl_text_free(&line);
  }
  for (int i = 0; tsl_env_info_at(i); i++)
    if (strcmp(tsl_env_get((tsl_env)i), tsl_env_info_at(i)->fallback) != 0)
      tsl_text_add(out, "%s=%s\n", tsl_env_info_at(i)->name, tsl_env_get((tsl_env)i));
  tsl_text_add(out, "\n");
}

/* By a budget that was over before all standard cases were done. */
static bool was_cut_short(const tsl_checking *job) {
  return job->given->budget > 0 && !job->given->only && job->standard_done < job->standard_count;
}

static void add_extent(const tsl_checking *job, tsl_text *out) {
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

tesela_status tsl_checking_text(const tsl_checking *job) {
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

tesela_status tsl_checking_json(const tsl_command_call *call, const tsl_checking *job) {
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
