/* The tables: a summary, and for each type and size the rates and speed-ups. */
#include "explore/report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <string.h>

#define HOW_GLANCE                                                                                           \
  "The fastest strategy of each device and type at the largest size. <b>Of roof</b>: percent of the "        \
  "measured peak (of memory or arithmetic, whichever limits)."
static const char how_glance[] = HOW_GLANCE " A speed-up is relative to <code>sequential</code> on the cpu.";
static const char how_sweep_glance[] = HOW_GLANCE;
static const char how_tables[] =
    "Medians of the compute time, operands on the device; every entry was verified before its time "
    "counted. The fastest of each device is bold. <b>~</b> marks entries whose samples did not agree "
    "before the time limit. Rest the pointer on a number for its config, samples and spread.";
static const char how_errors[] =
    "<p class=\"how\"><b>Grade</b>: largest error in units of %s. <b>Of bound</b>: largest error divided by "
    "the guaranteed error. Both are of the worst device.</p>\n";

/* --- at a glance --- */

static const tsl_point *tables_fastest(const tsl_sheet *sheet, int type, int size, int device) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_point *best = NULL;
  for (int s = 0; s < all->strategies.count; s++) {
    const tsl_point *point = tsl_explore_at(all, type, size, s, device);
    const double value = tsl_sheet_value(sheet, point);
    if (!isnan(value) && !(best && tsl_sheet_value(sheet, best) >= value))
      best = point;
  }
  return best;
}

/* Returns the fastest point at the largest size (most work) at which something ran. */
static const tsl_point *tables_best_of(const tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_point *best = NULL;
  for (int size = 0; size < all->sizes.count; size++) {
    const tsl_point *point = tables_fastest(sheet, type, size, device);
    if (point && !(best && best->bytes > point->bytes))
      best = point;
  }
  return best;
}

typedef struct glance_columns {
  tsl_digits rate, speedup;
  bool has_speedup;
} glance_columns;

static void see_glance(const tsl_sheet *sheet, const tsl_point *point, glance_columns *columns) {
  tsl_digits_see(&columns->rate, tsl_sheet_value(sheet, point));
  tsl_digits_see(&columns->speedup, tsl_point_speedup(sheet->page->all, point));
  columns->has_speedup |= !isnan(tsl_point_speedup(sheet->page->all, point));
}

/* Appends a name that a narrow window may break after underscores. */
static void add_breakable(const char *name, tsl_text *out) {
  for (; *name; name++) {
    const char one[] = {*name, '\0'};
    tsl_html_add(out, one);
    if (*name == '_')
      tsl_text_add(out, "<wbr>");
  }
}

static void add_glance_row(tsl_sheet *sheet, const tsl_point *point, const glance_columns *columns) {
  const tsl_exploration *all = sheet->page->all;
  const double share = 100 * tsl_sheet_value(sheet, point) / tsl_sheet_roof(sheet, point);
  tsl_text *out = &sheet->out, name = {0}, size = {0};
  tsl_sheet_add_strategy(sheet, point->strategy, &name);
  tsl_sheet_add_size(sheet, point->size, &size);
  tsl_text_add(out, "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td><td class=\"text strong\">",
               all->devices.items[point->device]->name, all->types.items[point->type].name);
  add_breakable(tsl_text_get(&name), out);
  tsl_text_add(out, "</td><td class=\"strong\">");
  tsl_digits_add(&columns->rate, tsl_sheet_value(sheet, point), out);
  tsl_text_add(out, "</td><td>");
  if (isnan(share))
    tsl_text_add(out, "\xe2\x80\x93");
  else
    tsl_text_add(out, "%.*f\xe2\x80\xaf%%", share < 9.95 ? 1 : 0, share);
  if (columns->has_speedup) {
    tsl_text_add(out, "</td><td>");
    tsl_digits_add(&columns->speedup, tsl_point_speedup(all, point), out);
  }
  tsl_text_add(out, "</td><td class=\"quiet\">");
  tsl_html_add(out, tsl_text_get(&size));
  tsl_text_add(out, "</td></tr>\n");
  tsl_text_free(&name);
  tsl_text_free(&size);
}

static void add_glance_head(tsl_sheet *sheet, const glance_columns *columns_in) {
  const struct {
    const char *title, *class;
    bool left_out;
  } columns[] = {{"Device", "text", false},  {"Type", "text", false},
                 {"Fastest", "text", false}, {tsl_sheet_rate(sheet).unit, "", false},
                 {"Of roof", "", false},     {"Speed-up", "", !columns_in->has_speedup},
                 {"Size", "", false}};
  tsl_text_add(&sheet->out, "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"glance\">\n<thead><tr>");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (!columns[i].left_out)
      tsl_text_add(&sheet->out, "<th scope=\"col\" class=\"%s\">%s</th>", columns[i].class, columns[i].title);
  tsl_text_add(&sheet->out, "</tr></thead>\n<tbody>\n");
}

void tsl_sheet_add_glance(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  enum { ROWS_MAX = 8 * TSL_SELECT_MAX };
  const tsl_point *best[ROWS_MAX];
  glance_columns columns = {0};
  int count = 0;
  for (int d = 0; d < all->devices.count; d++)
    for (int t = 0; t < all->types.count && count < ROWS_MAX; t++) {
      best[count] = tables_best_of(sheet, t, d);
      if (best[count])
        see_glance(sheet, best[count++], &columns);
    }
  tsl_sheet_begin(sheet, "glance", "At a glance",
                  sheet->page->all->sweep.count > 0 ? how_sweep_glance : how_glance);
  if (count == 0)
    tsl_text_add(&sheet->out, "<p class=\"missing\">Nothing was measured: the tables below say why.</p>\n");
  else {
    add_glance_head(sheet, &columns);
    for (int i = 0; i < count; i++)
      add_glance_row(sheet, best[i], &columns);
    tsl_text_add(&sheet->out, "</tbody>\n</table>\n</div>\n");
  }
  tsl_sheet_end(sheet);
}

/* --- strategies down, devices across --- */

typedef double (*cell_value)(const tsl_sheet *sheet, const tsl_point *point);

static double speedup(const tsl_sheet *sheet, const tsl_point *point) {
  return tsl_point_speedup(sheet->page->all, point);
}

/* The state of a table under construction. */
typedef struct grid {
  int type, size;
  cell_value value;
  const char *title;
  bool has_errors;
} grid;

/* Adds the cell's title: the reason why there is no number, or how it was measured. */
static void add_hint(const tsl_point *point, tsl_text *out) {
  tsl_text hint = {0}, config = {0};
  if (point->entry.result == TSL_CASE_RIGHT) {
    tsl_config_print(point->entry.strategy, &point->entry.config, &config);
    tsl_text_add(&hint, "%s: %d samples, spread %.1f%%%s", tsl_text_get(&config), point->entry.timing.samples,
                 100 * point->entry.timing.spread, point->entry.timing.noisy ? ", noisy" : "");
  } else
    tsl_text_add(&hint, "%s: %s", tsl_point_result(point), point->entry.why);
  tsl_html_add(out, tsl_text_get(&hint));
  tsl_text_free(&hint);
  tsl_text_free(&config);
}

static void tables_add_cell(const tsl_point *point, double value, const tsl_digits *column, bool is_best,
                            tsl_text *out) {
  static const char *const classes[] = {[TSL_CASE_RIGHT] = "",
                                        [TSL_CASE_WRONG] = "bad",
                                        [TSL_CASE_REFUSED] = "faint",
                                        [TSL_CASE_FAILED] = "bad"};
  const tsl_case_result result = point->entry.result;
  tsl_text_add(out, "<td class=\"%s%s%s\" title=\"", classes[result], is_best ? " best" : "",
               result == TSL_CASE_RIGHT && point->entry.timing.noisy ? " noisy" : "");
  add_hint(point, out);
  tsl_text_add(out, "\">");
  if (result == TSL_CASE_WRONG)
    tsl_text_add(out, "WRONG");
  else if (result == TSL_CASE_FAILED)
    tsl_text_add(out, "failed");
  else if (isnan(value))
    tsl_text_add(out, "\xe2\x80\x93");
  else {
    tsl_text_add(out, "%s", point->entry.timing.noisy ? "~" : "");
    tsl_digits_add(column, value, out);
  }
  tsl_text_add(out, "</td>");
}

static void tables_add_errors(const tsl_sheet *sheet, const grid *grid_in, int strategy, tsl_text *out) {
  const tsl_exploration *all = sheet->page->all;
  double grade = NAN, ratio = NAN;
  char text[64];
  for (int d = 0; d < all->devices.count; d++) {
    const tsl_race_entry *entry = &tsl_explore_at(all, grid_in->type, grid_in->size, strategy, d)->entry;
    if (entry->result != TSL_CASE_RIGHT && entry->result != TSL_CASE_WRONG)
      continue;
    grade = fmax(grade, entry->verdict.grade);
    ratio = fmax(ratio, entry->verdict.error_ratio);
  }
  tsl_text_add(out, "<td class=\"quiet\">%s</td>", tsl_sheet_number(grade, text, sizeof text));
  tsl_text_add(out, "<td class=\"quiet\">%s</td>", tsl_sheet_number(ratio, text, sizeof text));
}

static void tables_add_head(const tsl_sheet *sheet, const grid *grid_in, tsl_text *out) {
  const tsl_exploration *all = sheet->page->all;
  tsl_text_add(out,
               "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>%s</caption>\n<thead><tr><th "
               "scope=\"col\" class=\"text\">"
               "Strategy</th>",
               grid_in->title);
  for (int d = 0; d < all->devices.count; d++)
    tsl_text_add(out, "<th scope=\"col\">%s</th>", all->devices.items[d]->name);
  if (grid_in->has_errors) {
    tsl_text_add(out, "<th scope=\"col\" class=\"quiet\" title=\"largest error in units of rounding, on the "
                      "worst device\">Grade</th>");
    tsl_text_add(out, "<th scope=\"col\" class=\"quiet\" title=\"largest error divided by the guaranteed "
                      "error\">Of bound</th>");
  }
  tsl_text_add(out, "</tr></thead>\n<tbody>\n");
}

/* Adds a row's name; only the first table shows a peer's version. */
static void add_row_name(const tsl_sheet *sheet, const grid *grid_in, int strategy, tsl_text *out) {
  tsl_text name = {0}, peer = {0};
  tsl_sheet_add_strategy(sheet, strategy, &name);
  tsl_explore_add_peer(sheet->page->all, strategy, &peer);
  tsl_text_add(out, "<tr><th scope=\"row\">");
  tsl_html_add(out, tsl_text_get(&name));
  if (grid_in->value == tsl_sheet_value && peer.length > 0) {
    tsl_text_add(out, "<small>");
    tsl_html_add(out, tsl_text_get(&peer));
    tsl_text_add(out, "</small>");
  }
  tsl_text_add(out, "</th>");
  tsl_text_free(&name);
  tsl_text_free(&peer);
}

static void add_grid(tsl_sheet *sheet, const grid *grid_in) {
  const tsl_exploration *all = sheet->page->all;
  tsl_digits columns[TSL_SELECT_MAX] = {{0}};
  double best[TSL_SELECT_MAX];
  tsl_text *out = &sheet->out;
  for (int d = 0; d < all->devices.count; d++) {
    best[d] = NAN;
    for (int s = 0; s < all->strategies.count; s++) {
      const double value = grid_in->value(sheet, tsl_explore_at(all, grid_in->type, grid_in->size, s, d));
      best[d] = fmax(best[d], value);
      tsl_digits_see(&columns[d], value);
    }
  }
  tables_add_head(sheet, grid_in, out);
  for (int s = 0; s < all->strategies.count; s++) {
    if (tsl_explore_is_left_out(all, grid_in->type, grid_in->size, s))
      continue;
    add_row_name(sheet, grid_in, s, out);
    for (int d = 0; d < all->devices.count; d++) {
      const tsl_point *point = tsl_explore_at(all, grid_in->type, grid_in->size, s, d);
      const double value = grid_in->value(sheet, point);
      tables_add_cell(point, value, &columns[d], value == best[d], out);
    }
    if (grid_in->has_errors)
      tables_add_errors(sheet, grid_in, s, out);
    tsl_text_add(out, "</tr>\n");
  }
  tsl_text_add(out, "</tbody>\n</table>\n</div>\n");
}

static void add_pair(tsl_sheet *sheet, int type, int size) {
  const tsl_exploration *all = sheet->page->all;
  tsl_text *out = &sheet->out, name = {0};
  tsl_sheet_add_size(sheet, size, &name);
  tsl_text_add(out, "<h3>");
  tsl_html_add(out, tsl_text_get(&name));
  tsl_text_add(out, "<span> \xc2\xb7 %s</span></h3>\n<div class=\"pair\">\n", all->types.items[type].name);
  add_grid(sheet,
           &(grid){type, size, tsl_sheet_value, tsl_sheet_rate(sheet).unit, tsl_sheet_has_errors(sheet)});
  if (!isnan(tsl_explore_baseline(all, type, size)))
    add_grid(sheet, &(grid){type, size, speedup, "Speed-up over sequential", false});
  tsl_text_add(out, "</div>\n");
  tsl_text_free(&name);
}

static void tables_add_reasons(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  tsl_text *out = &sheet->out;
  bool any = false;
  for (int i = 0; i < all->point_count; i++) {
    tsl_text line = {0};
    tsl_explore_add_reason(all, i, &line);
    if (line.length > 0) {
      tsl_text_add(out, "%s<li>", any ? "" : "<h3>Why entries have no number</h3>\n<ul class=\"reasons\">\n");
      tsl_html_add(out, tsl_text_get(&line));
      tsl_text_add(out, "</li>\n");
      any = true;
    }
    tsl_text_free(&line);
  }
  if (any)
    tsl_text_add(out, "</ul>\n");
}

static void tables_add_left_out(tsl_sheet *sheet) {
  tsl_text line = {0};
  tsl_explore_add_left_out(sheet->page->all, &line);
  if (line.length > 0) {
    tsl_text_add(&sheet->out, "<p>");
    tsl_html_add(&sheet->out, tsl_text_get(&line));
    tsl_text_add(&sheet->out, "</p>\n");
  }
  tsl_text_free(&line);
}

void tsl_sheet_add_tables(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  tsl_sheet_begin(sheet, "tables", all->sweep.count > 0 ? "Rates" : "Rates and speed-ups", how_tables);
  if (tsl_sheet_has_errors(sheet))
    tsl_text_add(&sheet->out, how_errors, tsl_sheet_error_unit(sheet));
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++)
      add_pair(sheet, t, s);
  tables_add_reasons(sheet);
  tables_add_left_out(sheet);
  tsl_sheet_end(sheet);
}
