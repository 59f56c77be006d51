/* Draws the strategies' rates against their bounds: the roofline, and error against speed. */
#include "explain/cost_report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <stdio.h>

static const char how_roofline[] =
    "Every strategy&rsquo;s rate, a mark for each size. The lines are measured: a slope for memory and for "
    "each "
    "cache or local memory that was measured, and the flat roof of arithmetic. A mark&rsquo;s place is its "
    "strategy&rsquo;s operations per byte loaded from or stored to global memory, cached or not. Tiles and "
    "micro-tiles move marks to the right, away from the slopes. A mark above a slope got its bytes from a "
    "nearer level; the list below the pictures names it. Above the flat roof: matrix units (tensor cores, "
    "AMX) "
    "were used, or the peak was measured on a busy machine. Far below all: waiting, or idle units. "
    "Vendors&rsquo; libraries do not report their traffic: each element counts once.";
static const char how_errors[] =
    "The largest error of a result, in units of one rounding of its terms (the tables&rsquo; grade), against "
    "the rate at the largest size. Further right is faster, further down more accurate. Errors grow with the "
    "number of products in one sum. They shrink if sums are split, kept in higher precision or computed with "
    "integers. A result that is rounded once, as by <code>exact</code>, stays below 1.";

/* --- roofline --- */

/* Returns the operations per byte of the strategy's traffic; if it does not count it, per byte of
 * reading every element once. */
static double intensity(const tsl_exploration *all, const tsl_point *point) {
  const tsl_problem problem = tsl_explore_problem(all, point->type, point->size);
  tsl_cost_counts account;
  if (tsl_cost_counts_get(point->entry.strategy, &problem, &point->entry.config,
                          all->devices.items[point->device], &account))
    return tsl_cost_counts_intensity(&problem, &account);
  return point->bytes > 0 ? point->flops / point->bytes : NAN;
}

typedef struct extent {
  double low, high;
} extent;

/* Returns the range of intensities of points with a time. */
static extent intensities(const tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  extent found = {INFINITY, 0};
  for (int size = 0; size < all->sizes.count; size++)
    for (int s = 0; s < all->strategies.count; s++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, device);
      if (isnan(tsl_sheet_value(sheet, point)))
        continue;
      found.low = fmin(found.low, intensity(all, point));
      found.high = fmax(found.high, intensity(all, point));
    }
  return found;
}

/* Adds the slope from the left edge to the ridge, and the flat roof after it. `slope` is a memory
 * bandwidth. */
static void add_roof(const char *name, double slope, double peak, extent x, int look, tsl_plot *plot) {
  const double ridge = fmin(fmax(peak / slope, x.low), x.high);
  tsl_chart_series *roof = &plot->series[plot->count];
  *roof = (tsl_chart_series){.roof = true, .look = look};
  snprintf(roof->name, sizeof roof->name, "%s", name);
  tsl_series_add(roof, x.low, fmin(peak, slope * x.low));
  tsl_series_add(roof, ridge, fmin(peak, slope * ridge));
  plot->count++;
}

/* The measured slopes, the slowest first. */
static const struct {
  tsl_roof_name roof;
  int look;
  const char *name;
} levels[] = {{TSL_ROOF_COPY, 1, "memory, copied"},
              {TSL_ROOF_LEVEL3, 2, "the last cache"},
              {TSL_ROOF_LEVEL2, 3, "second-level caches"},
              {TSL_ROOF_LEVEL1, 4, "first-level caches"},
              {TSL_ROOF_LOCAL, 5, "local memory"}};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };
_Static_assert(TSL_SERIES_MAX >= TSL_INK_LINES + LEVEL_COUNT + 1, "a plot has room for all roofs");

/* Returns the measured bytes per second of a level; of a processor's caches by any of its devices. */
static double level_rate(const tsl_sheet *sheet, int device, tsl_roof_name roof) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_measured_times *one = tsl_sheet_measured(sheet, device);
  double rate = one ? one->roofs.roof[roof].rate : NAN;
  for (int d = 0; d < all->devices.count && isnan(rate) && all->devices.items[device]->is_cpu; d++)
    if (all->devices.items[d]->is_cpu && (one = tsl_sheet_measured(sheet, d)) != NULL)
      rate = one->roofs.roof[roof].rate;
  return rate;
}

static void bounds_add_roofs(const tsl_sheet *sheet, int type, int device, extent x, tsl_plot *plot) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_measured_times *one = tsl_sheet_measured(sheet, device);
  const tsl_roof_name fma =
      all->types.items[type].types.c == TESELA_F64 ? TSL_ROOF_FMA_F64 : TSL_ROOF_FMA_F32;
  char name[96], text[48];
  if (!one || isnan(one->roofs.roof[fma].rate))
    return;
  const double scale = tsl_sheet_rate(sheet).scale, peak = one->roofs.roof[fma].rate / scale;
  double fastest = NAN; /* slope */
  for (int i = 0; i < LEVEL_COUNT; i++)
    fastest = fmax(fastest, level_rate(sheet, device, levels[i].roof) / scale);
  tsl_chart_series *flat = &plot->series[plot->count++];
  *flat = (tsl_chart_series){.roof = true, .look = 0};
  snprintf(flat->name, sizeof flat->name, "roof: %s", tsl_measured_text(one, fma, text, sizeof text));
  tsl_series_add(flat, isnan(fastest) ? x.low : fmin(fmax(peak / fastest, x.low), x.high), peak);
  tsl_series_add(flat, x.high, peak);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    const double rate = level_rate(sheet, device, levels[i].roof);
    if (isnan(rate))
      continue;
    tsl_format_bandwidth(rate, text, sizeof text);
    snprintf(name, sizeof name, "roof: %s %s", text, levels[i].name);
    add_roof(name, rate / scale, peak, x, levels[i].look, plot);
  }
}

/* Appends the marks above memory's slope, and the nearest slower level whose slope is above them. */
static void add_marks_above(const tsl_sheet *sheet, int type, int device, tsl_text *out) {
  const tsl_exploration *all = sheet->page->all;
  const double memory = level_rate(sheet, device, TSL_ROOF_COPY);
  char asked[32], given[32];
  for (int size = 0; size < all->sizes.count; size++)
    for (int s = 0; s < all->strategies.count; s++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, device);
      tsl_text name = {0};
      int level = 0;
      if (isnan(tsl_sheet_value(sheet, point)))
        continue;
      const double bytes = tsl_point_flops(point) / intensity(all, point);
      if (!(bytes > memory))
        continue;
      while (level < LEVEL_COUNT && !(level_rate(sheet, device, levels[level].roof) >= bytes))
        level++;
      tsl_sheet_add_strategy(sheet, s, &name);
      tsl_text_add(&name, ", ");
      tsl_sheet_add_size(sheet, size, &name);
      tsl_text_add(out, "<li>");
      tsl_html_add(out, tsl_text_get(&name));
      tsl_text_add(out, ": %s, ", tsl_format_bandwidth(bytes, asked, sizeof asked));
      if (level < LEVEL_COUNT)
        tsl_text_add(
            out, "below the slope of %s (%s)", levels[level].name,
            tsl_format_bandwidth(level_rate(sheet, device, levels[level].roof), given, sizeof given));
      else
        tsl_text_add(out, "above every slope: registers and broadcasts serve several loads at once");
      tsl_text_add(out, "</li>\n");
      out->failed |= name.failed;
      tsl_text_free(&name);
    }
}

static void add_roofline_of(tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  int ranked[TSL_SELECT_MAX];
  const int count = tsl_sheet_rank(sheet, type, device, ranked);
  extent x = intensities(sheet, type, device);
  if (!(x.low > 0) || !(x.high >= x.low))
    return;
  x.low /= 4;
  x.high *= 4;
  for (int first = 0; first < count; first += TSL_INK_LINES) {
    tsl_plot plot = {.x = {.label = "operations per byte asked for", .log = true},
                     .y = {.label = tsl_sheet_rate(sheet).unit, .log = true}};
    bounds_add_roofs(sheet, type, device, x, &plot);
    for (int i = first; i < count && i < first + TSL_INK_LINES; i++) {
      tsl_chart_series *series = &plot.series[plot.count++];
      tsl_series_begin(sheet, ranked[i], series);
      for (int size = 0; size < all->sizes.count; size++) {
        const tsl_point *point = tsl_explore_at(all, type, size, ranked[i], device);
        tsl_series_add(series, intensity(all, point), tsl_sheet_value(sheet, point));
      }
    }
    plot.x.low = x.low;
    plot.x.high = x.high;
    snprintf(plot.title, sizeof plot.title, "%s, %s%s", all->devices.items[device]->name,
             all->types.items[type].name,
             count <= TSL_INK_LINES ? ""
             : first == 0           ? ": the fastest"
                                    : ": the others");
    snprintf(plot.about, sizeof plot.about,
             "Each strategy\xe2\x80\x99s rate over its own operations per byte, under the "
             "measured roofs of the "
             "device. The tables of this page have the numbers.");
    tsl_sheet_add_plot(sheet, &plot);
  }
}

void tsl_sheet_add_roofline(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  if (all->op == TSL_OP_TRANSPOSE || !tsl_sheet_has_times(sheet))
    return; /* the operation computes nothing */
  tsl_sheet_begin(sheet, "roofline", "Roofline", how_roofline);
  tsl_sheet_figures(sheet, true);
  for (int d = 0; d < all->devices.count; d++)
    for (int t = 0; t < all->types.count; t++)
      add_roofline_of(sheet, t, d);
  tsl_sheet_figures(sheet, false);
  for (int d = 0; d < all->devices.count; d++) {
    tsl_text above = {0};
    add_marks_above(sheet, 0, d, &above);
    if (above.length > 0)
      tsl_text_add(
          &sheet->out,
          "<details><summary>Marks above memory&rsquo;s slope on %s, %s</summary>\n<ul>\n%s</ul></details>\n",
          all->devices.items[d]->name, all->types.items[0].name, tsl_text_get(&above));
    sheet->out.failed |= above.failed;
    tsl_text_free(&above);
  }
  for (int d = 0; d < all->devices.count; d++) {
    const tsl_measured_times *one = tsl_measured_find(sheet->page->roofs, all->devices.items[d]);
    const char *why = !one ? "" : one->status != TESELA_OK ? one->failure : one->roofs.why;
    if (*why) {
      tsl_text_add(&sheet->out, "<p class=\"missing\">Roofs that are missing: ");
      tsl_html_add(&sheet->out, why);
      tsl_text_add(&sheet->out, ".</p>\n");
    }
  }
  tsl_sheet_end(sheet);
}

/* --- error against speed --- */

/* The grade drawn for an exact result, since a logarithmic axis has no 0. */
static const double least_grade = 1e-3;

static void add_errors_of(tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  const int size = tsl_sheet_largest_size(sheet, type, device);
  int ranked[TSL_SELECT_MAX];
  const int count = size < 0 ? 0 : tsl_sheet_rank(sheet, type, device, ranked);
  for (int first = 0; first < count; first += TSL_INK_LINES) {
    tsl_plot plot = {.x = {.label = tsl_sheet_rate(sheet).unit, .log = true},
                     .y = {.label = "grade", .log = true}};
    tsl_text extent_text = {0};
    for (int i = first; i < count && i < first + TSL_INK_LINES; i++) {
      const tsl_point *point = tsl_explore_at(all, type, size, ranked[i], device);
      tsl_chart_series *series = &plot.series[plot.count];
      tsl_series_begin(sheet, ranked[i], series);
      tsl_series_add(series, tsl_sheet_value(sheet, point), fmax(point->entry.verdict.grade, least_grade));
      plot.count += series->count > 0;
    }
    tsl_sheet_add_size(sheet, size, &extent_text);
    snprintf(plot.title, sizeof plot.title, "%s, %s, %s", all->devices.items[device]->name,
             all->types.items[type].name, tsl_text_get(&extent_text));
    tsl_text_free(&extent_text);
    snprintf(plot.about, sizeof plot.about, "Each strategy\xe2\x80\x99s largest error over its rate.");
    tsl_sheet_add_plot(sheet, &plot);
  }
}

void tsl_sheet_add_errors(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  if (!tsl_sheet_has_errors(sheet) || !tsl_sheet_has_times(sheet))
    return;
  tsl_sheet_begin(sheet, "errors", "Error against speed", how_errors);
  tsl_sheet_figures(sheet, true);
  for (int d = 0; d < all->devices.count; d++)
    for (int t = 0; t < all->types.count; t++)
      add_errors_of(sheet, t, d);
  tsl_sheet_figures(sheet, false);
  tsl_sheet_end(sheet);
}
