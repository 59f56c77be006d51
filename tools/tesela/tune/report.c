#include "tune/report.h"

#include "cli/report.h"
#include "core/status.h"
#include "strategy/params.h"

#include <math.h>
#include <stdio.h>

/* Rows of the table. */
enum { SHOWN = 10 };

static const char *const result_names[] = {[TSL_CASE_RIGHT] = "right",
                                           [TSL_CASE_WRONG] = "wrong",
                                           [TSL_CASE_REFUSED] = "refused",
                                           [TSL_CASE_FAILED] = "failed"};

static void print_point(const tsl_tuning *all, int point, tsl_text *out) {
  tsl_config_print(all->space.points[point].strategy, &all->space.points[point].config, out);
}

/* The next fastest point after `last` (-1: the fastest); -1: there is none. Equals go by their numbers. */
static int next_fastest(const tsl_tuning *all, int last) {
  const tsl_tuned *tuned = &all->tuned;
  const double from = last < 0 ? -1 : tuned->results[last].seconds;
  int best = -1;
  for (int i = 0; i < all->space.count; i++) {
    if (!tuned->tried[i] || tuned->results[i].result != TSL_CASE_RIGHT)
      continue;
    const double seconds = tuned->results[i].seconds;
    const bool later = seconds > from || (seconds == from && i > last);
    if (later && (best < 0 || seconds < tuned->results[best].seconds))
      best = i;
  }
  return best;
}

/* Returns the point of row `row` of the table: the best point, then the others sorted by time; -1: no such
 * row. The best point may not have the shortest time: a faster point replaces it only if the gain exceeds the
 * noise. */
static int row_point(const tsl_tuning *all, int row) {
  int point = -1;
  if (row == 0)
    return all->tuned.best;
  for (int found = 0; found < row;) {
    point = next_fastest(all, point);
    if (point < 0)
      return -1;
    found += point != all->tuned.best;
  }
  return point;
}

static const char *remark(const tsl_tuning *all, int point) {
  const tsl_tuned *tuned = &all->tuned;
  if (point == tuned->best)
    return point == tuned->start ? "best, start" : "best";
  if (point == tuned->start)
    return "start";
  return tuned->results[point].seconds < tuned->results[tuned->best].seconds ? "no faster beyond the noise"
                                                                             : "";
}

static void fill_table(const tsl_tuning *all, tsl_table *table) {
  const tsl_tuned *tuned = &all->tuned;
  char measured[32], predicted[32];
  TSL_TABLE_COLUMNS(table, "~the fastest", ">time", ">spread", ">predicted", "");
  int point = row_point(all, 0);
  for (int row = 0; row < SHOWN && point >= 0; point = row_point(all, ++row)) {
    tsl_text text = {0};
    const tsl_paint paint = point == tuned->best ? TSL_PAINT_GOOD : TSL_PAINT_NONE;
    print_point(all, point, &text);
    tsl_table_add_painted(table, paint, "%s", tsl_text_get(&text));
    tsl_text_free(&text);
    tsl_table_add_painted(table, paint, "%s",
                          tsl_format_seconds(tuned->results[point].seconds, measured, sizeof measured));
    tsl_table_add_painted(table, paint, "%.1f%%", 100 * tuned->results[point].spread);
    tsl_table_add_painted(
        table, paint, "%s",
        tsl_format_seconds(all->space.points[point].predicted, predicted, sizeof predicted));
    tsl_table_add_painted(table, paint, "%s", remark(all, point));
  }
}

static tesela_status print_text(const tsl_tuning *all) {
  const tsl_tuned *tuned = &all->tuned;
  tsl_text out = {0}, best = {0};
  tsl_table table = {0}, facts = tsl_table_of_pairs();
  char time[32], rate[32];
  print_point(all, tuned->best, &best);
  tsl_table_add_pair(&facts, "best", "%s", tsl_text_get(&best));
  if (all->device) {
    const double flops = tsl_problem_flops(&all->problem);
    const double bytes = tsl_problem_bytes(&all->problem);
    tsl_table_add_pair(
        &facts, "time", "%s, %s on %s", tsl_format_seconds(tuned->best_seconds, time, sizeof time),
        all->problem.op == TSL_OP_GEMM ? tsl_format_flops(flops / tuned->best_seconds, rate, sizeof rate)
                                       : tsl_format_bandwidth(bytes / tuned->best_seconds, rate, sizeof rate),
        all->device->name);
  }
  if (tuned->best == tuned->start)
    tsl_table_add_pair(&facts, "gain", "none: %s stays", all->device ? "what would have run" : "the start");
  else
    tsl_table_add_pair(&facts, "gain", "%.2f times as fast as %s", tuned->gain,
                       all->device ? "what would have run" : "the start");
  tsl_table_add_pair(&facts, "search", "%s: %d of %d configs in %s, found after %d; %s", all->search->name,
                     tuned->tried_count, all->space.count,
                     tsl_format_seconds(tuned->seconds, time, sizeof time), tuned->found_at,
                     all->cut_short    ? "CUT SHORT by an interrupt"
                     : tuned->complete ? "there is no more to try"
                                       : "the limit ended it");
  if (tuned->wrong + tuned->failed + tuned->refused > 0)
    tsl_table_add_pair(&facts, "not timed", "%d wrong, %d failed, %d refused or left out", tuned->wrong,
                       tuned->failed, tuned->refused);
  if (all->kept != TESELA_OK)
    tsl_table_add_pair(&facts, "wisdom", "NOT KEPT: %s", all->why_not_kept.sentence);
  if (all->wisdom_path)
    tsl_table_add_pair(&facts, "wisdom", "%s: %d added, %d replaced, %d kept", all->wisdom_path,
                       all->merged.added, all->merged.replaced, all->merged.kept);
  tsl_table_text(&facts, 0, tsl_output_width(), tsl_output_colour(), &out);
  tsl_text_add(&out, "\n");
  fill_table(all, &table);
  tsl_table_text(&table, 0, tsl_output_width(), tsl_output_colour(), &out);
  out.failed |= facts.failed || table.failed || best.failed;
  tsl_table_free(&facts);
  tsl_table_free(&table);
  tsl_text_free(&best);
  return tsl_print(&out);
}

static json_t *report_json_point(const tsl_tuning *all, int point) {
  const tsl_tune_result *result = &all->tuned.results[point];
  const bool right = result->result == TSL_CASE_RIGHT;
  tsl_text text = {0};
  print_point(all, point, &text);
  json_t *made = json_pack(
      "{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "strategy", all->space.points[point].strategy->name, "config",
      tsl_text_get(&text), "result", result_names[result->result], "why",
      right ? json_null() : json_string(result->why), "seconds", tsl_json_real(right ? result->seconds : NAN),
      "spread", tsl_json_real(right ? result->spread : NAN), "predicted_seconds",
      tsl_json_real(all->space.points[point].predicted));
  tsl_text_free(&text);
  return made;
}

static tesela_status print_json(const tsl_command_call *call, const tsl_tuning *all) {
  const tsl_tuned *tuned = &all->tuned;
  json_t *entries = json_array();
  tsl_text best = {0}, start = {0};
  for (int i = 0; i < all->space.count; i++)
    if (tuned->tried[i])
      json_array_append_new(entries, report_json_point(all, i));
  print_point(all, tuned->best, &best);
  print_point(all, tuned->start, &start);
  json_t *wisdom = json_null();
  if (all->wisdom_path)
    wisdom = json_pack("{s:s, s:i, s:i, s:i}", "file", all->wisdom_path, "added", all->merged.added,
                       "replaced", all->merged.replaced, "kept", all->merged.kept);
  const tesela_status status = tsl_print_json(
      call, json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b, s:b, s:o, s:o, s:o}",
                      "device", all->device ? json_string(all->device->name) : json_null(), "search",
                      all->search->name, "best", tsl_text_get(&best), "start", tsl_text_get(&start),
                      "best_seconds", tsl_json_real(tuned->best_seconds), "best_spread",
                      tsl_json_real(tuned->spread), "gain", tsl_json_real(tuned->gain), "legal",
                      all->space.count, "tried", tuned->tried_count, "found_at", tuned->found_at, "batches",
                      tuned->batches, "complete", tuned->complete, "cut_short", all->cut_short, "seconds",
                      tsl_json_real(tuned->seconds), "wisdom", wisdom, "entries", entries));
  tsl_text_free(&best);
  tsl_text_free(&start);
  return status;
}

tesela_status tsl_tune_print(const tsl_command_call *call, const tsl_tuning *all) {
  const tsl_tune_options *given = call->options;
  return given->json ? print_json(call, all) : print_text(all);
}

/* --- of a log --- */

void tsl_tune_summarise(const tsl_tuning *all, tsl_tune_summary *out) {
  tsl_text best = {0};
  print_point(all, all->tuned.best, &best);
  snprintf(out->best, sizeof out->best, "%s", tsl_text_get(&best));
  snprintf(out->device, sizeof out->device, "%s", all->device->name);
  out->best_seconds = all->tuned.best_seconds;
  out->gain = all->tuned.best == all->tuned.start ? 1 : all->tuned.gain;
  out->points = all->tuned.tried_count;
  tsl_text_free(&best);
}

static void add_summary(const tsl_logged *logged, const tsl_tune_summary *row, tsl_table *table) {
  char logged_time[32], time[32];
  tsl_text problem = {0};
  tsl_problem_print(&logged->problem, &problem);
  tsl_table_add(table, "%s %s", tsl_op_name(logged->problem.op), tsl_text_get(&problem));
  tsl_table_add(table, "%lld", (long long)logged->calls);
  tsl_table_add(table, "%s", tsl_format_seconds(logged->seconds, logged_time, sizeof logged_time));
  if (row->tried && row->status == TESELA_OK) {
    tsl_table_add(table, "%s", tsl_format_seconds(row->best_seconds, time, sizeof time));
    tsl_table_add_painted(table, row->gain > 1 ? TSL_PAINT_GOOD : TSL_PAINT_NONE, "%.2f", row->gain);
    tsl_table_add(table, "%s on %s", row->best, row->device);
  } else {
    tsl_table_add(table, "-");
    tsl_table_add(table, "-");
    tsl_table_add(table, "%s", row->tried ? row->why : "the budget was over");
  }
  tsl_text_free(&problem);
}

static tesela_status print_log_json(const tsl_command_call *call, const tsl_call_log *log,
                                    const tsl_tune_summary *rows) {
  json_t *list = json_array();
  for (int i = 0; i < log->count; i++) {
    const tsl_tune_summary *row = &rows[i];
    const bool good = row->tried && row->status == TESELA_OK;
    tsl_text problem = {0};
    tsl_problem_print(&log->items[i].problem, &problem);
    json_array_append_new(
        list,
        json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "op",
                  tsl_op_name(log->items[i].problem.op), "problem", tsl_text_get(&problem), "calls",
                  (json_int_t)log->items[i].calls, "logged_seconds", tsl_json_real(log->items[i].seconds),
                  "best", good ? json_string(row->best) : json_null(), "device",
                  good ? json_string(row->device) : json_null(), "best_seconds",
                  tsl_json_real(good ? row->best_seconds : NAN), "gain",
                  tsl_json_real(good ? row->gain : NAN), "tried", row->points, "why",
                  good ? json_null() : json_string(row->tried ? row->why : "the budget was over")));
    tsl_text_free(&problem);
  }
  return tsl_print_json(
      call, json_pack("{s:o, s:I}", "problems", list, "passed_over", (json_int_t)log->passed_over));
}

tesela_status tsl_tune_print_log(const tsl_command_call *call, const tsl_call_log *log,
                                 const tsl_tune_summary *rows) {
  const tsl_tune_options *given = call->options;
  tsl_text out = {0};
  tsl_table table = {0};
  if (given->json)
    return print_log_json(call, log, rows);
  TSL_TABLE_COLUMNS(&table, "~called", ">calls", ">took", ">a run", ">gain", "~best");
  for (int i = 0; i < log->count; i++)
    add_summary(&log->items[i], &rows[i], &table);
  tsl_table_text(&table, 0, tsl_output_width(), tsl_output_colour(), &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}
