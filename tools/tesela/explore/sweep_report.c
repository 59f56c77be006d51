/* Makes the report of a sweep. */
#include "cli/report.h"
#include "explore/curve.h"
#include "explore/reasons.h"
#include "explore/report.h"
#include "explore/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double sweep_report_rate(const tsl_exploration *all, const tsl_point *point) {
  return tsl_explore_by_bytes(all->op) ? tsl_point_bandwidth(point) : tsl_point_flops(point);
}

/* The points of one table: a type, a size and a device. */
typedef struct sweep_report_group {
  const tsl_exploration *all;
  int type, size, device;
  double best, unit;
  const char *unit_name;
  tsl_reasons reasons;
} sweep_report_group;

static const tsl_point *point_of(const sweep_report_group *group, int strategy) {
  return tsl_explore_at(group->all, group->type, group->size, strategy, group->device);
}

static sweep_report_group make_group(const tsl_exploration *all, int type, int size, int device) {
  sweep_report_group made = {.all = all, .type = type, .size = size, .device = device, .best = NAN};
  for (int s = 0; s < all->strategies.count; s++)
    made.best = fmax(made.best, sweep_report_rate(all, point_of(&made, s)));
  const bool is_small = made.best < 1e9;
  made.unit = is_small ? 1e6 : 1e9;
  made.unit_name = tsl_explore_by_bytes(all->op) ? is_small ? "MB/s" : "GB/s"
                   : is_small                    ? "MFLOP/s"
                                                 : "GFLOP/s";
  return made;
}

/* Returns true if all values have no result for one reason, such as a device that the strategy
 * cannot use. */
static bool sweep_report_is_hopeless(const sweep_report_group *group) {
  for (int s = 0; s < group->all->strategies.count; s++)
    if (point_of(group, s)->entry.result != TSL_CASE_REFUSED ||
        strcmp(point_of(group, s)->entry.why, point_of(group, 0)->entry.why) != 0)
      return false;
  return true;
}

/* --- the table --- */

static void sweep_report_add_point(const sweep_report_group *group, int strategy, tsl_table *table) {
  const tsl_point *point = point_of(group, strategy);
  const tsl_measurement *timing = &point->entry.timing;
  const double value = sweep_report_rate(group->all, point);
  char text[32];
  for (int p = 0; p < group->all->sweep.count; p++) {
    const int param = group->all->sweep.params[p].param;
    tsl_text said = {0};
    tsl_param_print_value(point->entry.strategy, param, point->entry.config.value[param], &said);
    tsl_table_add(table, "%s", tsl_text_get(&said));
    tsl_text_free(&said);
  }
  tsl_explore_add_result(point, value / group->unit, table);
  if (point->entry.result != TSL_CASE_RIGHT) {
    for (int blank = 0; blank < 5; blank++)
      tsl_table_add(table, "%s", "");
    tsl_table_add(table, "%s", point->entry.why);
    return;
  }
  tsl_table_add_painted(table, value == group->best ? TSL_PAINT_GOOD : TSL_PAINT_NONE, "%.0f%%",
                        100 * value / group->best);
  const int index = tsl_reasons_find(&group->reasons, point);
  const tsl_cost_comparison comparison =
      index < 0 ? (tsl_cost_comparison){.predicted = NAN} : tsl_reasons_compare(&group->reasons, index);
  tsl_text why = {0};
  if (comparison.partner) {
    tsl_table_add(table, "%.0f%%", 100 * comparison.predicted);
    tsl_text_add(&why, "%s",
                 comparison.reason < TSL_BOUND_COUNT            ? tsl_bound_name(comparison.reason)
                 : comparison.agreement == TSL_AGREEMENT_AGREES ? ""
                                                                : tsl_agreement_name(comparison.agreement));
  } else
    tsl_table_add(table, "%s", index < 0 ? "-" : "100%");
  tsl_table_add(table, "%s", tsl_format_seconds(timing->median, text, sizeof text));
  tsl_table_add(table, "%.1f%%", 100 * timing->spread);
  tsl_table_add(table, "%s", tsl_format_number(point->entry.verdict.grade, text, sizeof text));
  tsl_table_add(table, "%s", tsl_text_get(&why));
  table->failed |= why.failed;
  tsl_text_free(&why);
}

static void sweep_report_add_table(const sweep_report_group *group, const tsl_form *form, tsl_text *out) {
  const tsl_exploration *all = group->all;
  const tsl_strategy *strategy = all->strategies.items[0].strategy;
  tsl_table table = {0};
  tsl_text title = {0};
  for (int p = 0; p < all->sweep.count; p++)
    tsl_table_column(&table, strategy->params[all->sweep.params[p].param].name, TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, group->unit_name, TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "of best", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "model", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "spread", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "grade", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, "", TSL_ALIGN_LEFT, true);
  for (int s = 0; s < all->strategies.count; s++)
    sweep_report_add_point(group, s, &table);
  tsl_text_add(&title, "%s %s on %s, %s, ", tsl_op_name(all->op), strategy->name,
               all->devices.items[group->device]->name, all->types.items[group->type].name);
  tsl_explore_add_size(all, group->size, &title);
  tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  out->failed |= title.failed;
  tsl_text_free(&title);
  tsl_table_free(&table);
}

/* --- the curve --- */

/* Returns the parameter with the most values, for the axis; combinations of the others become
 * lines. */
static int axis_of(const tsl_sweep *sweep) {
  int axis = 0;
  for (int p = 1; p < sweep->count; p++)
    if (sweep->params[p].count > sweep->params[axis].count)
      axis = p;
  return axis;
}

/* Sets the place on the axis and the line of a combination. */
static void sweep_report_place_of(const tsl_sweep *sweep, int axis, int strategy, int *place, int *line) {
  int step = 1;
  *line = 0;
  for (int p = sweep->count - 1; p >= 0; p--) {
    const int index = strategy % sweep->params[p].count;
    strategy /= sweep->params[p].count;
    if (p == axis)
      *place = index;
    else {
      *line += step * index;
      step *= sweep->params[p].count;
    }
  }
}

static void name_line(const sweep_report_group *group, int axis, int strategy, char *name, size_t size) {
  const tsl_sweep *sweep = &group->all->sweep;
  const tsl_chosen_strategy *chosen = &group->all->strategies.items[strategy];
  tsl_text text = {0};
  for (int p = 0; p < sweep->count; p++)
    if (p != axis) {
      tsl_text_add(&text, "%s", text.length ? " " : "");
      tsl_config_print_one(chosen->strategy, sweep->params[p].param, &chosen->config, &text);
    }
  snprintf(name, size, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

static void add_curve(const sweep_report_group *group, const tsl_form *form, tsl_text *out) {
  const tsl_exploration *all = group->all;
  const int axis = axis_of(&all->sweep);
  const tsl_swept *along = &all->sweep.params[axis];
  tsl_curve curve = {.value_title = group->unit_name,
                     .place_title = all->strategies.items[0].strategy->params[along->param].name,
                     .places = along->count};
  for (int i = 0; i < along->count; i++) {
    tsl_text label = {0};
    tsl_param_print_value(all->strategies.items[0].strategy, along->param, along->values[i], &label);
    snprintf(curve.labels[i], sizeof curve.labels[i], "%s", tsl_text_get(&label));
    tsl_text_free(&label);
  }
  for (int s = 0; s < all->strategies.count; s++) {
    int place = 0, line;
    sweep_report_place_of(&all->sweep, axis, s, &place, &line);
    if (line >= TSL_CURVE_LINES_MAX)
      continue;
    curve.line_count = line >= curve.line_count ? line + 1 : curve.line_count;
    curve.lines[line].values[place] = sweep_report_rate(all, point_of(group, s)) / group->unit;
    name_line(group, axis, s, curve.lines[line].name, sizeof curve.lines[line].name);
  }
  tsl_text drawn = {0};
  tsl_curve_add(&curve, form->markdown ? 0 : 2, form->width, &drawn);
  if (drawn.length > 0)
    tsl_text_add(out, form->markdown ? "```\n%s```\n\n" : "%s\n", tsl_text_get(&drawn));
  tsl_text_free(&drawn);
}

/* --- all of it --- */

static const char legend[] =
    "Compute time by the device's clock, operands on the device, all values in "
    "turn. Every value was verified first. Model: percent of the fastest value, "
    "predicted; then the reason. Spread: interquartile range divided by the median. Grade: "
    "largest error in units of one rounding. ~: noisy.";

static void sweep_report_add_groups(const tsl_exploration *all, int type, int size, const tsl_form *form,
                                    tsl_text *out) {
  for (int d = 0; d < all->devices.count; d++) {
    sweep_report_group of = make_group(all, type, size, d);
    if (sweep_report_is_hopeless(&of))
      continue;
    out->failed |= tsl_reasons_make(all, type, size, &of.reasons) != TESELA_OK;
    sweep_report_add_table(&of, form, out);
    add_curve(&of, form, out);
    tsl_reasons_free(&of.reasons);
  }
}

static void add_hopeless(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  const size_t length = out->length;
  for (int d = 0; d < all->devices.count; d++) {
    const sweep_report_group of = make_group(all, 0, 0, d);
    tsl_text line = {0};
    if (!sweep_report_is_hopeless(&of))
      continue;
    tsl_text_add(&line, "Nothing on %s: %s", all->devices.items[d]->name, point_of(&of, 0)->entry.why);
    tsl_form_add_line(form, true, tsl_text_get(&line), out);
    tsl_text_free(&line);
  }
  if (out->length > length)
    tsl_text_add(out, "\n");
}

tesela_status tsl_sweep_report(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                               tsl_text *out) {
  tsl_explore_add_devices(all, devices, form, out);
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++)
      sweep_report_add_groups(all, t, s, form, out);
  add_hopeless(all, form, out);
  tsl_form_add_line(form, false, legend, out);
  tsl_explore_add_conditions(all, form, out);
  return TESELA_OK;
}
