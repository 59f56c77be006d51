/* The section on why one strategy is faster than another: each strategy's counts, and a comparison
 * with the rung below. */
#include "explain/cost_report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char how_why[] =
    "Counts from each strategy&rsquo;s own model, at the size with most work. <b>Global</b>: bytes loaded "
    "and stored in global memory, cached or not. <b>Local</b>: bytes of local memory, or of copies in a "
    "core&rsquo;s caches. <b>Memory</b>: bytes that main memory itself moves. <b>Op/byte</b>: operations per "
    "global byte, the place of the marks in the roofline. <b>Idle</b>: work-items that compute no element of "
    "C. <b>Limit</b>: the part of the model that takes longest.";

static void cost_section_add_cell(tsl_text *out, const char *text, bool is_text) {
  tsl_text_add(out, is_text ? "<td class=\"text\">" : "<td>");
  tsl_html_add(out, text);
  tsl_text_add(out, "</td>");
}

static void cost_section_add_bytes(tsl_text *out, double bytes) {
  char text[32];
  cost_section_add_cell(
      out, bytes > 0 ? tsl_format_bytes((uint64_t)bytes, text, sizeof text) : "\xe2\x80\x93", false);
}

static void cost_section_add_row(const tsl_sheet *sheet, const tsl_problem *problem, const tsl_point *point,
                                 const tsl_cost_report *counted, tsl_text *out) {
  const tsl_cost_counts *account = &counted->account;
  char text[64];
  tsl_text groups = {0};
  tsl_text_add(out, "<tr><th scope=\"row\">%s</th>", counted->strategy->name);
  cost_section_add_cell(out, tsl_sheet_number(tsl_sheet_value(sheet, point), text, sizeof text), false);
  cost_section_add_bytes(out, account->global.read + account->global.written);
  cost_section_add_bytes(out, account->local.read + account->local.written);
  cost_section_add_bytes(out, account->memory);
  cost_section_add_cell(out, tsl_sheet_number(tsl_cost_counts_intensity(problem, account), text, sizeof text),
                        false);
  tsl_cost_report_groups(counted, &groups);
  cost_section_add_cell(out, tsl_text_get(&groups), true);
  snprintf(text, sizeof text, "%.3g%%", account->items > 0 ? 100 * account->wasted / account->items : 0);
  cost_section_add_cell(out, account->items > 0 ? text : "\xe2\x80\x93", false);
  cost_section_add_cell(out, tsl_bound_name(counted->bounds.first), true);
  tsl_text_add(out, "</tr>\n");
  out->failed |= groups.failed;
  tsl_text_free(&groups);
}

static void cost_section_add_table(const tsl_sheet *sheet, const tsl_problem *problem,
                                   const tsl_point *const *points, const tsl_cost_report *counted, int count,
                                   tsl_text *out) {
  static const char *const titles[] = {"Global", "Local", "Memory", "Op/byte"};
  tsl_text_add(out,
               "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr><th scope=\"col\" "
               "class=\"text\">Strategy</th><th scope=\"col\">%s</th>",
               tsl_sheet_rate(sheet).unit);
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsl_text_add(out, "<th scope=\"col\">%s</th>", titles[i]);
  tsl_text_add(out, "<th scope=\"col\" class=\"text\">Work-groups</th><th scope=\"col\">Idle</th><th "
                    "scope=\"col\" class=\"text\">Limit</th></tr></thead>\n<tbody>\n");
  for (int i = 0; i < count; i++)
    cost_section_add_row(sheet, problem, points[i], &counted[i], out);
  tsl_text_add(out, "</tbody>\n</table>\n</div>\n");
}

/* Adds each rung's idea, and the difference of its counts from the rung below. */
static void add_sentences(const tsl_problem *problem, const tsl_cost_report *counted, int count,
                          tsl_text *out) {
  tsl_text_add(out, "<dl class=\"why\">\n");
  for (int i = 0; i < count; i++) {
    tsl_text sentence = {0};
    tsl_cost_report_compare(problem, &counted[i], tsl_cost_report_rung_below(counted, count, &counted[i]),
                            &sentence);
    const char *name = counted[i].strategy->name;
    if (counted[i].strategy->vendor.load)
      tsl_text_add(out, "<dt>%s</dt><dd>", name);
    else
      tsl_text_add(out, "<dt><a href=\"#idea-%s\">%s</a></dt><dd>", name, name);
    tsl_html_add(out, counted[i].strategy->idea);
    tsl_text_add(out, ".<br>It %s", strncmp(tsl_text_get(&sentence), "the ", 4) == 0 ? "is " : "");
    tsl_html_add(out, tsl_text_get(&sentence));
    tsl_text_add(out, ".</dd>\n");
    out->failed |= sentence.failed;
    tsl_text_free(&sentence);
  }
  tsl_text_add(out, "</dl>\n");
}

static void cost_section_add_device(tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  const int size = tsl_sheet_largest_size(sheet, type, device);
  const tsl_point *points[TSL_SELECT_MAX];
  tsl_cost_report counted[TSL_SELECT_MAX];
  int count = 0;
  tsl_text name = {0};
  if (size < 0)
    return;
  const tsl_problem problem = tsl_explore_problem(all, type, size);
  for (int s = 0; s < all->strategies.count; s++) {
    const tsl_point *point = tsl_explore_at(all, type, size, s, device);
    if (isnan(tsl_sheet_value(sheet, point)))
      continue;
    points[count] = point;
    counted[count] = tsl_cost_report_make(&problem, point->entry.strategy, &point->entry.config,
                                          all->devices.items[device]);
    count += counted[count].has_counts;
  }
  if (count == 0)
    return;
  tsl_sheet_add_size(sheet, size, &name);
  tsl_text_add(&sheet->out, "<h3>%s<span> \xc2\xb7 %s, %s</span></h3>\n", all->devices.items[device]->name,
               all->types.items[type].name, tsl_text_get(&name));
  cost_section_add_table(sheet, &problem, points, counted, count, &sheet->out);
  add_sentences(&problem, counted, count, &sheet->out);
  tsl_text_free(&name);
}

void tsl_sheet_add_why(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  if (all->sweep.count > 0 || !tsl_sheet_has_times(sheet))
    return;
  tsl_sheet_begin(sheet, "why", "Why one beats another", how_why);
  for (int d = 0; d < all->devices.count; d++)
    cost_section_add_device(sheet, 0, d);
  tsl_sheet_end(sheet);
}
