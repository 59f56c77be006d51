/* Draws rates against size, and against a parameter. */
#include "page/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char how_sizes[] =
    "A line for each strategy, both axes logarithmic. A line that still climbs at the right has not reached "
    "its peak. A line that falls no longer fits a cache. Far left, starting a run costs more than the run. "
    "Grey dashes: the measured peak of the device.";
static const char how_parameters[] =
    "The same strategy with one parameter changed, all else equal. The axis of rates starts at zero, so "
    "heights compare as they look. A flat line: the parameter does not matter here. A value without a mark "
    "was refused; the tables show the reason.";

/* --- sizes --- */

/* Returns the edge of the cube (or square) with as many products (or elements) as the size. */
static double edge_of(tsl_op op, const tsl_size *size) {
  if (op == TSL_OP_DOT)
    return (double)size->k;
  const double area = (double)size->m * (double)size->n;
  return op == TSL_OP_TRANSPOSE ? sqrt(area) : cbrt(area * (double)size->k);
}

static bool are_cubes(const tsl_exploration *all) {
  for (int i = 0; i < all->sizes.count; i++) {
    const tsl_size *size = &all->sizes.items[i];
    if (all->op != TSL_OP_DOT && (size->m != size->n || (all->op == TSL_OP_GEMM && size->n != size->k)))
      return false;
  }
  return true;
}

/* Orders the sizes by their edge; returns their number. */
static int order_sizes(const tsl_exploration *all, int *order) {
  int count = 0;
  for (int i = 0; i < all->sizes.count; i++) {
    int at = count++;
    for (; at > 0 &&
           edge_of(all->op, &all->sizes.items[order[at - 1]]) > edge_of(all->op, &all->sizes.items[i]);
         at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  return count;
}

static void add_size_axis(const tsl_exploration *all, const int *order, tsl_axis *axis) {
  static const char *const cubes[] = {[TSL_OP_GEMM] = "size n (n \xc3\x97 n \xc3\x97 n)",
                                      [TSL_OP_DOT] = "elements",
                                      [TSL_OP_TRANSPOSE] = "size n (n \xc3\x97 n)",
                                      [TSL_OP_SOLVE] = "size n (n \xc3\x97 n)"};
  static const char *const others[] = {[TSL_OP_GEMM] = "cube root of m n k",
                                       [TSL_OP_DOT] = "elements",
                                       [TSL_OP_TRANSPOSE] = "square root of m n",
                                       [TSL_OP_SOLVE] = "cube root of m m n"};
  const bool cubic = are_cubes(all);
  axis->log = true;
  axis->label = cubic ? cubes[all->op] : others[all->op];
  for (int i = 0; cubic && i < all->sizes.count; i++) {
    const double edge = edge_of(all->op, &all->sizes.items[order[i]]);
    axis->ticks[axis->tick_count++] = (tsl_spot){edge, edge};
  }
}

/* Adds the roofs over the sizes. */
static void add_limit(const tsl_sheet *sheet, int type, int device, const int *order, tsl_chart_series *out) {
  const tsl_exploration *all = sheet->page->all;
  *out = (tsl_chart_series){.roof = true, .look = 1};
  snprintf(out->name, sizeof out->name, "measured roof");
  for (int i = 0; i < all->sizes.count; i++)
    tsl_series_add(out, edge_of(all->op, &all->sizes.items[order[i]]),
                   tsl_sheet_roof(sheet, tsl_explore_at(all, type, order[i], 0, device)));
}

static void curves_add_line(const tsl_sheet *sheet, int type, int device, int strategy, const int *order,
                            tsl_plot *plot) {
  const tsl_exploration *all = sheet->page->all;
  tsl_chart_series *line = &plot->series[plot->count++];
  tsl_series_begin(sheet, strategy, line);
  for (int i = 0; i < all->sizes.count; i++)
    tsl_series_add(line, edge_of(all->op, &all->sizes.items[order[i]]),
                   tsl_sheet_value(sheet, tsl_explore_at(all, type, order[i], strategy, device)));
}

static void curves_describe(const tsl_sheet *sheet, tsl_plot *plot) {
  const tsl_chart_series *best = NULL;
  for (int s = 0; s < plot->count; s++)
    if (!plot->series[s].roof && plot->series[s].count > 0 && !best)
      best = &plot->series[s];
  if (best)
    snprintf(plot->about, sizeof plot->about,
             "One line for each strategy. At its last point, %.90s reaches %.3g %s. The tables of this page "
             "have the numbers.",
             best->name, best->spots[best->count - 1].y, tsl_sheet_rate(sheet).unit);
}

/* Adds the figures of one device and type; a figure has at most nine lines. */
static void add_curves_of(tsl_sheet *sheet, int type, int device, const int *order) {
  const tsl_exploration *all = sheet->page->all;
  int ranked[TSL_SELECT_MAX];
  const int count = tsl_sheet_rank(sheet, type, device, ranked);
  for (int first = 0; first < count; first += TSL_INK_LINES) {
    tsl_plot plot = {.lines = true, .y = {.label = tsl_sheet_rate(sheet).unit, .log = true}};
    const int here = count - first < TSL_INK_LINES ? count - first : TSL_INK_LINES;
    add_size_axis(all, order, &plot.x);
    for (int i = 0; i < here; i++)
      curves_add_line(sheet, type, device, ranked[first + i], order, &plot);
    add_limit(sheet, type, device, order, &plot.series[plot.count]);
    plot.count += plot.series[plot.count].count > 0;
    snprintf(plot.title, sizeof plot.title, "%s, %s%s", all->devices.items[device]->name,
             all->types.items[type].name,
             count <= TSL_INK_LINES ? ""
             : first == 0           ? ": the fastest"
                                    : ": the others");
    curves_describe(sheet, &plot);
    tsl_sheet_add_plot(sheet, &plot);
  }
}

void tsl_sheet_add_curves(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  int order[TSL_SELECT_MAX] = {0};
  if (!tsl_sheet_has_times(sheet) || (all->sweep.count > 0 && all->sizes.count < 2))
    return;
  tsl_sheet_begin(sheet, "sizes", "Rate against size", how_sizes);
  if (all->sizes.count < 2) {
    tsl_text_add(
        &sheet->out,
        "<p class=\"missing\">A curve needs several sizes, such as <code>--sizes 256,512,1024</code>.</p>\n");
    tsl_sheet_end(sheet);
    return;
  }
  order_sizes(all, order);
  tsl_sheet_figures(sheet, true);
  for (int d = 0; d < all->devices.count; d++)
    for (int t = 0; t < all->types.count; t++)
      add_curves_of(sheet, t, d, order);
  tsl_sheet_figures(sheet, false);
  tsl_sheet_end(sheet);
}

/* --- parameters --- */

/* Configs of one strategy that differ in some parameters. */
typedef struct variants {
  int members[TSL_SELECT_MAX], count;
  int along; /* the parameter with the most values, for the axis */
} variants;

static int64_t curves_value_of(const tsl_exploration *all, int strategy, int param) {
  return all->strategies.items[strategy].config.value[param];
}

/* Returns the number of different values of a parameter. */
static int count_values(const tsl_exploration *all, const variants *variants_in, int param) {
  int count = 0;
  for (int i = 0; i < variants_in->count; i++) {
    bool is_new = true;
    for (int k = 0; k < i && is_new; k++)
      is_new = curves_value_of(all, variants_in->members[i], param) !=
               curves_value_of(all, variants_in->members[k], param);
    count += is_new;
  }
  return count;
}

/* Finds the variants whose first member is this strategy; returns false if there are no others, or
 * if no named parameter differs. */
static bool find_variants(const tsl_exploration *all, int first, variants *out) {
  const tsl_chosen_strategy *items = all->strategies.items;
  *out = (variants){.along = -1};
  for (int s = 0; s < all->strategies.count; s++)
    if (items[s].strategy == items[first].strategy && items[s].given == items[first].given) {
      if (s < first)
        return false; /* an earlier group contains it */
      out->members[out->count++] = s;
    }
  int most = 1;
  for (int p = 0; p < tsl_strategy_params(items[first].strategy); p++)
    if (items[first].given & 1u << p && count_values(all, out, p) > most) {
      most = count_values(all, out, p);
      out->along = p;
    }
  return out->along >= 0;
}

/* Appends the other swept parameters as a name: "lanes=4 ". */
static void curves_add_others(const tsl_exploration *all, const variants *variants_in, int strategy,
                              tsl_text *out) {
  const tsl_chosen_strategy *chosen = &all->strategies.items[strategy];
  for (int p = 0; p < tsl_strategy_params(chosen->strategy); p++)
    if (p != variants_in->along && chosen->given & 1u << p && count_values(all, variants_in, p) > 1) {
      tsl_text_add(out, "%s", out->length ? " " : "");
      tsl_config_print_one(chosen->strategy, p, &chosen->config, out);
    }
}

/* Returns the series of this name, which it creates if needed; NULL if the figure is full. */
static tsl_chart_series *series_named(tsl_plot *plot, const char *name) {
  for (int s = 0; s < plot->count; s++)
    if (strcmp(plot->series[s].name, name) == 0)
      return &plot->series[s];
  if (plot->count == TSL_INK_LINES)
    return NULL;
  tsl_chart_series *made = &plot->series[plot->count];
  *made = (tsl_chart_series){.look = plot->count};
  snprintf(made->name, sizeof made->name, "%.90s", name);
  plot->count++;
  return made;
}

static void sort_spots(tsl_chart_series *series) {
  for (int i = 1; i < series->count; i++) {
    const tsl_spot spot = series->spots[i];
    int at = i;
    for (; at > 0 && series->spots[at - 1].x > spot.x; at--)
      series->spots[at] = series->spots[at - 1];
    series->spots[at] = spot;
  }
}

static void add_param_axis(const tsl_exploration *all, const variants *variants_in, tsl_axis *axis) {
  const tsl_strategy *strategy = all->strategies.items[variants_in->members[0]].strategy;
  tsl_chart_series values = {.count = 0};
  axis->label = strategy->params[variants_in->along].name;
  for (int i = 0; i < variants_in->count; i++) {
    const double value = (double)curves_value_of(all, variants_in->members[i], variants_in->along);
    bool is_new = true;
    for (int k = 0; k < values.count && is_new; k++)
      is_new = values.spots[k].x != value;
    if (is_new)
      tsl_series_add(&values, value, value);
  }
  sort_spots(&values);
  memcpy(axis->ticks, values.spots, sizeof axis->ticks);
  axis->tick_count = values.count;
  axis->log = values.spots[0].x > 0 && values.spots[values.count - 1].x >= 4 * values.spots[0].x;
}

/* Adds the figure of one type and size: a line for each device and each value of the other
 * parameters. */
static void add_sweep_of(tsl_sheet *sheet, const variants *variants_in, int type, int size) {
  const tsl_exploration *all = sheet->page->all;
  tsl_plot plot = {.lines = true, .y = {.label = tsl_sheet_rate(sheet).unit, .from_zero = true}};
  tsl_text extent = {0};
  add_param_axis(all, variants_in, &plot.x);
  for (int d = 0; d < all->devices.count; d++)
    for (int i = 0; i < variants_in->count; i++) {
      tsl_text others = {0}, name = {0};
      curves_add_others(all, variants_in, variants_in->members[i], &others);
      tsl_text_add(&name, "%s%s%s", all->devices.items[d]->name, others.length ? ", " : "",
                   tsl_text_get(&others));
      const double value =
          tsl_sheet_value(sheet, tsl_explore_at(all, type, size, variants_in->members[i], d));
      tsl_chart_series *series = isnan(value) ? NULL : series_named(&plot, tsl_text_get(&name));
      if (series)
        tsl_series_add(series, (double)curves_value_of(all, variants_in->members[i], variants_in->along),
                       value);
      tsl_text_free(&others);
      tsl_text_free(&name);
    }
  for (int s = 0; s < plot.count; s++)
    sort_spots(&plot.series[s]);
  tsl_sheet_add_size(sheet, size, &extent);
  snprintf(plot.title, sizeof plot.title, "%s, %s, %s",
           all->strategies.items[variants_in->members[0]].strategy->name, all->types.items[type].name,
           tsl_text_get(&extent));
  tsl_text_free(&extent);
  snprintf(plot.about, sizeof plot.about, "The rate over the parameter %s, one line for each device.",
           plot.x.label);
  tsl_sheet_add_plot(sheet, &plot);
}

void tsl_sheet_add_sweeps(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  bool any = false;
  for (int s = 0; s < all->strategies.count; s++) {
    variants of;
    if (!tsl_sheet_has_times(sheet) || !find_variants(all, s, &of))
      continue;
    if (!any) {
      tsl_sheet_begin(sheet, "parameters", "Rate against a parameter", how_parameters);
      tsl_sheet_figures(sheet, true);
    }
    any = true;
    for (int t = 0; t < all->types.count; t++)
      for (int size = 0; size < all->sizes.count; size++)
        add_sweep_of(sheet, &of, t, size);
  }
  if (!any)
    return;
  tsl_sheet_figures(sheet, false);
  tsl_sheet_end(sheet);
}
