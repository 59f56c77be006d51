#include "explore/reasons.h"

#include "core/status.h"
#include "explore/report.h"

#include <math.h>
#include <stdlib.h>

const char tsl_reasons_rule[] =
    "A reason is given where the measured and the predicted factor over the partner have one direction and "
    "differ by a factor of 2 at most; else the model is wrong.";

tesela_status tsl_reasons_make(const tsl_exploration *all, int type, int size, tsl_reasons *out) {
  const size_t most = (size_t)all->strategies.count * (size_t)all->devices.count + 1;
  *out = (tsl_reasons){.problem = tsl_explore_problem(all, type, size),
                       .is_sweep = all->sweep.count > 0,
                       .points = calloc(most, sizeof *out->points),
                       .reports = calloc(most, sizeof *out->reports)};
  if (!out->points || !out->reports) {
    tsl_reasons_free(out);
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the reasons of %zu measurements", most);
  }
  for (int s = 0; s < all->strategies.count; s++)
    for (int d = 0; d < all->devices.count; d++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, d);
      const tsl_measurement *timing = &point->entry.timing;
      if (point->entry.result != TSL_CASE_RIGHT || isnan(timing->median))
        continue;
      tsl_cost_report *report = &out->reports[out->count];
      *report = tsl_cost_report_make(&out->problem, point->entry.strategy, &point->entry.config,
                                     all->devices.items[d]);
      report->measured = (tsl_cost_measured){timing->median, timing->first_quartile, timing->third_quartile};
      out->points[out->count] = point;
      out->count += report->has_counts;
    }
  return TESELA_OK;
}

void tsl_reasons_free(tsl_reasons *reasons) {
  free(reasons->points);
  free(reasons->reports);
  *reasons = (tsl_reasons){.count = 0};
}

int tsl_reasons_find(const tsl_reasons *reasons, const tsl_point *point) {
  for (int i = 0; i < reasons->count; i++)
    if (reasons->points[i] == point)
      return i;
  return -1;
}

/* Returns the fastest config on the report's device; NULL: it is the fastest itself. */
static const tsl_cost_report *fastest_config(const tsl_reasons *reasons, const tsl_cost_report *report) {
  const tsl_cost_report *best = report;
  for (int i = 0; i < reasons->count; i++)
    if (reasons->reports[i].device == report->device &&
        reasons->reports[i].measured.seconds < best->measured.seconds)
      best = &reasons->reports[i];
  return best == report ? NULL : best;
}

tsl_cost_comparison tsl_reasons_compare(const tsl_reasons *reasons, int index) {
  const tsl_cost_report *report = &reasons->reports[index];
  return tsl_cost_report_compare(
      report, reasons->is_sweep ? fastest_config(reasons, report)
                                : tsl_cost_report_partner(reasons->reports, reasons->count, report));
}

void tsl_reasons_table(const tsl_exploration *all, const tsl_reasons *reasons, tsl_table *table) {
  const bool by_bytes = tsl_explore_by_bytes(all->op);
  char text[32];
  tsl_table_column(table, "strategy", TSL_ALIGN_LEFT, true);
  tsl_table_column(table, by_bytes ? "GB/s" : "GFLOP/s", TSL_ALIGN_RIGHT, false);
  TSL_TABLE_COLUMNS(table, ">factor", ">model", "~why");
  for (int i = 0; i < reasons->count; i++) {
    const tsl_point *point = reasons->points[i];
    const tsl_cost_report *report = &reasons->reports[i];
    const tsl_cost_comparison comparison = tsl_reasons_compare(reasons, i);
    const tsl_cost_report *partner = comparison.partner;
    tsl_text name = {0}, why = {0};
    if (!partner)
      continue;
    tsl_explore_add_strategy(all, point->strategy, &name);
    tsl_text_add(&why, "over %s%s%s: ", partner->strategy->name,
                 partner->device == report->device ? "" : " on ",
                 partner->device == report->device ? "" : partner->device->name);
    tsl_cost_comparison_factors(report, &comparison, &why);
    tsl_table_add(table, "%s on %s", tsl_text_get(&name), report->device->name);
    tsl_explore_add_result(point, (by_bytes ? tsl_point_bandwidth : tsl_point_flops)(point) / 1e9, table);
    tsl_table_add(table, "%s", tsl_format_number(comparison.measured, text, sizeof text));
    tsl_table_add(table, "%s", tsl_format_number(comparison.predicted, text, sizeof text));
    tsl_table_add_painted(table, comparison.agreement == TSL_AGREEMENT_WRONG ? TSL_PAINT_BAD : TSL_PAINT_NONE,
                          "%s", tsl_text_get(&why));
    table->failed |= name.failed || why.failed;
    tsl_text_free(&name);
    tsl_text_free(&why);
  }
}

json_t *tsl_reasons_json(const tsl_reasons *reasons, int index) {
  tsl_text text = {0};
  tsl_json json = {.out = &text};
  if (index < 0)
    return json_object();
  const tsl_cost_comparison comparison = tsl_reasons_compare(reasons, index);
  tsl_json_add(&json, "{account:");
  tsl_cost_report_json(&reasons->problem, &reasons->reports[index], &json);
  tsl_cost_comparison_json(&reasons->problem, &reasons->reports[index], &comparison, &json);
  tsl_json_add(&json, "}");
  return tsl_json_parse(&text);
}
