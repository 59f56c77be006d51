#include "explore/ranks_report.h"

#include "cli/report.h"
#include "explore/report.h"

#include <math.h>
#include <string.h>

static double ranks_report_rate_of(const tsl_ranks_point *point, int way) {
  return point->flops / point->entries[way].timing.median;
}

static bool is_judged(const tsl_ranks_entry *entry) {
  return entry->result == TSL_CASE_RIGHT || entry->result == TSL_CASE_WRONG;
}

static void ranks_report_add_row(const tsl_ranks_point *point, int way, tsl_table *table) {
  const tsl_ranks_entry *entry = &point->entries[way];
  const tsl_point shown = {.entry = {.result = entry->result, .timing = entry->timing}};
  const double theirs = ranks_report_rate_of(point, TSL_RANKS_WAY_PEER);
  char text[32];
  tsl_table_add(table, "%s", tsl_ranks_way_name(way));
  tsl_explore_add_result(&shown, ranks_report_rate_of(point, way) / 1e9, table);
  tsl_table_add(table, "%s",
                isfinite(entry->timing.median) ? tsl_format_seconds(entry->timing.median, text, sizeof text)
                                               : "-");
  tsl_table_add(table, "%s", tsl_format_number(ranks_report_rate_of(point, way) / theirs, text, sizeof text));
  tsl_table_add(table, "%s",
                tsl_format_number(is_judged(entry) ? entry->verdict.grade : NAN, text, sizeof text));
  tsl_table_add(table, "%s",
                tsl_format_number(is_judged(entry) ? entry->verdict.error_ratio : NAN, text, sizeof text));
  tsl_table_add(table, "%s", entry->plan);
}

static void ranks_report_add_point(const tsl_ranks_exploration *exploration, const tsl_ranks_point *point,
                                   const tsl_form *form, tsl_text *out) {
  tsl_table table = {0};
  tsl_text title = {0};
  tsl_table_column(&table, "by", TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, "GFLOP/s", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "times peer", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "grade", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "of bound", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "plan", TSL_ALIGN_LEFT, true);
  for (int way = 0; way < exploration->ways; way++)
    ranks_report_add_row(point, way, &table);
  tsl_text_add(&title, "%s, ", exploration->all.types.items[point->type].name);
  tsl_explore_add_size(&exploration->all, point->size, &title);
  tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  tsl_text_free(&title);
  tsl_table_free(&table);
}

/* Appends the reasons why entries have no time; equal reasons once. */
static void ranks_report_add_reasons(const tsl_ranks_exploration *exploration, const tsl_form *form,
                                     tsl_text *out) {
  const char *last = "";
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways; way++) {
      const tsl_ranks_entry *entry = &exploration->points[i].entries[way];
      tsl_text line = {0};
      if (entry->result == TSL_CASE_RIGHT || strcmp(last, entry->why) == 0)
        continue;
      last = entry->why;
      tsl_text_add(&line, "%s: %s", tsl_ranks_way_name(way), entry->why);
      tsl_form_add_line(form, true, tsl_text_get(&line), out);
      tsl_text_free(&line);
    }
}

static tesela_status ranks_report_print_text(const tsl_ranks_exploration *exploration, bool markdown) {
  const tsl_form form = tsl_form_for(markdown);
  tsl_text out = {0}, line = {0};
  tsl_text_add(&line,
               "%d ranks as %d x %d, %d thread%s each; matrices in blocks of %lld x %lld, as ScaLAPACK deals "
               "them out.",
               exploration->ranks->size, exploration->grid.rows, exploration->grid.cols, exploration->threads,
               exploration->threads == 1 ? "" : "s", (long long)exploration->block,
               (long long)exploration->block);
  if (*exploration->peer)
    tsl_text_add(&line, " %s is %s.", tsl_ranks_way_name(TSL_RANKS_WAY_PEER), exploration->peer);
  tsl_form_add_line(&form, false, tsl_text_get(&line), &out);
  tsl_text_add(&out, "\n");
  for (int i = 0; i < exploration->all.point_count; i++)
    ranks_report_add_point(exploration, &exploration->points[i], &form, &out);
  ranks_report_add_reasons(exploration, &form, &out);
  tsl_form_add_line(&form, false,
                    "Median time from the start of all ranks to the end of the last rank, measured in turn. "
                    "Every entry was verified first, by a sample of each rank. ~: noisy. grade: largest "
                    "error in u |A||B|; of bound: largest error divided by the guaranteed error.",
                    &out);
  tsl_text_free(&line);
  return tsl_print(&out);
}

static json_t *json_entry(const tsl_ranks_exploration *exploration, const tsl_ranks_point *point, int way) {
  const tsl_ranks_entry *entry = &point->entries[way];
  const tsl_size *size = &exploration->all.sizes.items[point->size];
  const tsl_measurement *timing = &entry->timing;
  const bool is_peer = way == TSL_RANKS_WAY_PEER;
  json_t *object = json_pack(
      "{s:s, s:o, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:I, s:o}", "strategy", tsl_ranks_way_name(way),
      "peer", is_peer && *exploration->peer ? json_string(exploration->peer) : json_null(), "type",
      exploration->all.types.items[point->type].name, "m", (json_int_t)size->m, "n", (json_int_t)size->n, "k",
      (json_int_t)size->k, "result", tsl_case_result_name(entry->result), "why", entry->why, "grade",
      tsl_json_real(is_judged(entry) ? entry->verdict.grade : NAN), "error_ratio",
      tsl_json_real(is_judged(entry) ? entry->verdict.error_ratio : NAN), "elements_checked",
      (json_int_t)entry->verdict.checked, "flops", tsl_json_real(point->flops));
  if (!object || entry->result != TSL_CASE_RIGHT)
    return object;
  json_object_update_new(
      object,
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "plan", entry->plan, "flops_per_second",
                tsl_json_real(ranks_report_rate_of(point, way)), "seconds", tsl_json_real(timing->median),
                "fastest", tsl_json_real(timing->fastest), "first_quartile",
                tsl_json_real(timing->first_quartile), "third_quartile",
                tsl_json_real(timing->third_quartile), "slowest", tsl_json_real(timing->slowest), "spread",
                tsl_json_real(timing->spread), "samples", timing->samples, "noisy", timing->noisy));
  return object;
}

static tesela_status ranks_report_print_json(const tsl_command_call *call,
                                             const tsl_ranks_exploration *exploration) {
  json_t *entries = json_array();
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways; way++)
      json_array_append_new(entries, json_entry(exploration, &exploration->points[i], way));
  return tsl_print_json(
      call, json_pack("{s:s, s:s, s:{s:i, s:[i, i], s:I, s:i}, s:o, s:o, s:o}", "date", exploration->all.date,
                      "op", "gemm", "ranks", "count", exploration->ranks->size, "grid",
                      exploration->grid.rows, exploration->grid.cols, "block", (json_int_t)exploration->block,
                      "threads", exploration->threads, "machine", tsl_explore_json_machine(&exploration->all),
                      "options", tsl_explore_json_options(&exploration->all), "entries", entries));
}

tesela_status tsl_ranks_print(const tsl_command_call *call, const tsl_ranks_exploration *exploration,
                              const tsl_explore_options *options) {
  return options->json ? ranks_report_print_json(call, exploration)
                       : ranks_report_print_text(exploration, options->markdown);
}
