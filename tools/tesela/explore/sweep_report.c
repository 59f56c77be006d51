/* Makes the report of a sweep. */
#include "cli/report.h"
#include "core/text.h"
#include "explore/reasons.h"
#include "explore/report.h"
#include "explore/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Draws curves with characters, for terminals and plain text. */
#define TSL_CURVE_POINTS_MAX 64
#define TSL_CURVE_LINES_MAX 8

/* Lines over common places of the horizontal axis. Places have equal distances, whatever their
 * labels. The vertical axis starts at 0. Values that are not finite leave a gap. */
typedef struct tsl_curve {
  const char *value_title; /* title above the vertical axis: "GFLOP/s" */
  const char *place_title; /* title right of the horizontal axis: "tile" */
  char labels[TSL_CURVE_POINTS_MAX][24];
  int places;
  struct {
    char name[64]; /* "" if there is only one line */
    double values[TSL_CURVE_POINTS_MAX];
  } lines[TSL_CURVE_LINES_MAX];
  int line_count;
} tsl_curve;

enum { ROWS = 13, COLUMNS_MAX = 160, AXIS_WIDTH = 9, STEP_MAX = 12 };

static const char marks[TSL_CURVE_LINES_MAX] = {'*', 'o', '+', 'x', '#', '@', '%', '&'};

/* The drawing. Row 0 is at the top; the last row is 0 of the vertical axis. */
typedef struct curve_picture {
  char cells[ROWS][COLUMNS_MAX + 1];
  int columns;
  int step; /* columns between places; the first place is at `left` */
  int left;
  double top; /* value of the top row */
} curve_picture;

static double curve_largest(const tsl_curve *curve) {
  double most = 0;
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i < curve->places; i++)
      if (isfinite(curve->lines[line].values[i]))
        most = fmax(most, curve->lines[line].values[i]);
  return most;
}

/* Rounds up to 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten, for a round end of the axis. */
static double curve_round_up(double value) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
  const double power = pow(10, floor(log10(value)));
  size_t i = 0;
  while (i + 1 < sizeof steps / sizeof *steps && steps[i] * power < value)
    i++;
  return steps[i] * power;
}

static int curve_row_of(const curve_picture *drawn, double value) {
  const int row = ROWS - 1 - (int)lround(value / drawn->top * (ROWS - 1));
  return row < 0 ? 0 : row;
}

static int curve_column_of(const curve_picture *drawn, int place) {
  return drawn->left + place * drawn->step;
}

/* Draws dots between two places, only on blank cells. */
static void connect(curve_picture *drawn, int place, double from, double end) {
  for (int c = 1; c < drawn->step; c++) {
    const int row = curve_row_of(drawn, from + (end - from) * c / drawn->step);
    char *cell = &drawn->cells[row][curve_column_of(drawn, place) + c];
    if (*cell == ' ')
      *cell = '.';
  }
}

static void curve_draw(const tsl_curve *curve, curve_picture *drawn) {
  for (int row = 0; row < ROWS; row++) {
    memset(drawn->cells[row], ' ', (size_t)drawn->columns);
    drawn->cells[row][drawn->columns] = '\0';
  }
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i + 1 < curve->places; i++) {
      const double *values = curve->lines[line].values;
      if (isfinite(values[i]) && isfinite(values[i + 1]))
        connect(drawn, i, values[i], values[i + 1]);
    }
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i < curve->places; i++)
      if (isfinite(curve->lines[line].values[i]))
        drawn->cells[curve_row_of(drawn, curve->lines[line].values[i])][curve_column_of(drawn, i)] =
            marks[line];
}

/* Appends labels centred at their places; leaves out labels that would touch their left neighbour. */
static void curve_add_labels(const tsl_curve *curve, const curve_picture *drawn, int indent, tsl_text *out) {
  char line[COLUMNS_MAX + 64];
  int used = 0;
  memset(line, ' ', sizeof line);
  for (int i = 0; i < curve->places; i++) {
    const int length = (int)strlen(curve->labels[i]);
    int start = curve_column_of(drawn, i) - (length - 1) / 2;
    start = start < 0 ? 0 : start;
    if (i > 0 && start <= used)
      continue;
    memcpy(line + start, curve->labels[i], (size_t)length);
    used = start + length;
  }
  tsl_text_add(out, "%*s%.*s  %s\n", indent + AXIS_WIDTH + 1, "", used, line, curve->place_title);
}

static void curve_add_rows(const curve_picture *drawn, int indent, tsl_text *out) {
  for (int row = 0; row < ROWS; row++) {
    char number[32] = "";
    int length = drawn->columns;
    while (length > 0 && drawn->cells[row][length - 1] == ' ')
      length--;
    if (row == 0 || row == ROWS - 1 || row == (ROWS - 1) / 2)
      tsl_format_number(drawn->top * (ROWS - 1 - row) / (ROWS - 1), number, sizeof number);
    tsl_text_add(out, "%*s%*s %c%.*s\n", indent, "", AXIS_WIDTH - 1, row == ROWS - 1 ? "0" : number,
                 *number ? '+' : '|', length, drawn->cells[row]);
  }
}

/* Appends the curve, at most `width` columns wide as far as the labels permit. Draws nothing for
 * fewer than two places or without a value. */
static void curve_add(const tsl_curve *curve, int indent, int width, tsl_text *out) {
  const double most = curve_largest(curve);
  const int space = (width > 0 ? width : 80) - indent - AXIS_WIDTH - 3 - (int)strlen(curve->place_title);
  if (curve->places < 2 || most <= 0)
    return;
  curve_picture drawn = {.top = curve_round_up(most), .left = 2};
  drawn.step = (space - 6) / (curve->places - 1);
  drawn.step = drawn.step > STEP_MAX ? STEP_MAX : drawn.step < 1 ? 1 : drawn.step;
  drawn.columns = drawn.left + (curve->places - 1) * drawn.step + 1;
  if (drawn.columns > COLUMNS_MAX)
    return;
  curve_draw(curve, &drawn);
  tsl_text_add(out, "%*s%*s", indent, "", AXIS_WIDTH - 1, curve->value_title);
  for (int line = 0; line < curve->line_count; line++)
    if (curve->lines[line].name[0])
      tsl_text_add(out, "   %c %s", marks[line], curve->lines[line].name);
  tsl_text_add(out, "\n");
  curve_add_rows(&drawn, indent, out);
  curve_add_labels(curve, &drawn, indent, out);
}

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
  TSL_TABLE_COLUMNS(&table, ">of best", ">model", ">time", ">spread", ">grade", "~");
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
  curve_add(&curve, form->markdown ? 0 : 2, form->width, &drawn);
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
