#include "tune_report.h"

#include "base/status.h"
#include "report.h"

#include <math.h>

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

static void fill_table(const tsl_tuning *all, tsl_table *table) {
  const tsl_tuned *tuned = &all->tuned;
  char measured[32], predicted[32];
  tsl_table_column(table, "the fastest", TSL_ALIGN_LEFT, true);
  tsl_table_column(table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "spread", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "predicted", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "", TSL_ALIGN_LEFT, false);
  int point = next_fastest(all, -1);
  for (int row = 0; row < SHOWN && point >= 0; row++, point = next_fastest(all, point)) {
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
    tsl_table_add_painted(table, paint, "%s%s", point == tuned->best ? "best " : "",
                          point == tuned->start ? "start" : "");
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
    tsl_table_add_pair(&facts, "time", "%s, %s on %s",
                       tsl_format_seconds(tuned->best_seconds, time, sizeof time),
                       tsl_format_flops(flops / tuned->best_seconds, rate, sizeof rate), all->device->name);
  }
  if (tuned->best == tuned->start)
    tsl_table_add_pair(&facts, "gain", "none: %s stays", all->device ? "what would have run" : "the start");
  else
    tsl_table_add_pair(&facts, "gain", "%.2f times as fast as %s", tuned->gain,
                       all->device ? "what would have run" : "the start");
  tsl_table_add_pair(&facts, "search", "%s: %d of %d configs in %s, found after %d; %s", all->search->name,
                     tuned->tried_count, all->space.count,
                     tsl_format_seconds(tuned->seconds, time, sizeof time), tuned->found_at,
                     tuned->complete ? "there is no more to try" : "the limit ended it");
  if (tuned->wrong + tuned->failed + tuned->refused > 0)
    tsl_table_add_pair(&facts, "not timed", "%d wrong, %d failed, %d refused or left out", tuned->wrong,
                       tuned->failed, tuned->refused);
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

static json_t *json_point(const tsl_tuning *all, int point) {
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

static tesela_status print_json(const tsl_call *call, const tsl_tuning *all) {
  const tsl_tuned *tuned = &all->tuned;
  json_t *entries = json_array();
  tsl_text best = {0}, start = {0};
  for (int i = 0; i < all->space.count; i++)
    if (tuned->tried[i])
      json_array_append_new(entries, json_point(all, i));
  print_point(all, tuned->best, &best);
  print_point(all, tuned->start, &start);
  json_t *wisdom = json_null();
  if (all->wisdom_path)
    wisdom = json_pack("{s:s, s:i, s:i, s:i}", "file", all->wisdom_path, "added", all->merged.added,
                       "replaced", all->merged.replaced, "kept", all->merged.kept);
  const tesela_status status = tsl_print_json(
      call, json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o}", "device",
                      all->device ? json_string(all->device->name) : json_null(), "search", all->search->name,
                      "best", tsl_text_get(&best), "start", tsl_text_get(&start), "best_seconds",
                      tsl_json_real(tuned->best_seconds), "best_spread", tsl_json_real(tuned->spread), "gain",
                      tsl_json_real(tuned->gain), "legal", all->space.count, "tried", tuned->tried_count,
                      "found_at", tuned->found_at, "batches", tuned->batches, "complete", tuned->complete,
                      "seconds", tsl_json_real(tuned->seconds), "wisdom", wisdom, "entries", entries));
  tsl_text_free(&best);
  tsl_text_free(&start);
  return status;
}

tesela_status tsl_tune_print(const tsl_call *call, const tsl_tuning *all) {
  const tsl_tune_options *given = call->options;
  return given->json ? print_json(call, all) : print_text(all);
}
