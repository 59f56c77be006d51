/* The section on why one strategy is faster than another: each strategy's counts, and a comparison with its
 * partner. */
#include "explore/reasons.h"
#include "page/html.h"
#include "page/sections.h"

static const char how_why[] =
    "Counts from each strategy&rsquo;s own model, at the size with most work, and the measured time. "
    "<b>Measured</b>, <b>predicted</b>: the factor over its partner, the strategy that it improves. If the "
    "partner was not measured, its own partner takes its place. In a sweep the partner is the fastest value. "
    "A reason is given where both factors have "
    "one "
    "direction and differ by a factor of 2 at most; else the model is wrong, and the row is marked. "
    "<b>Global</b>: bytes loaded and stored in global memory, cached or not. <b>Local</b>: bytes of local "
    "memory, or of copies in a core&rsquo;s caches. <b>Memory</b>: bytes that main memory itself moves. "
    "<b>Op/byte</b>: operations per global byte, the place of the marks in the roofline. <b>Limit</b>: the "
    "counted limit that takes longest, and its share of the measured time. Above 100% the device is faster "
    "than its data sheet.";

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

static void cost_section_add_number(tsl_text *out, double value) {
  char text[64];
  cost_section_add_cell(out, tsl_sheet_number(value, text, sizeof text), false);
}

static void cost_section_add_row(const tsl_sheet *sheet, const tsl_reasons *reasons, int index,
                                 tsl_text *out) {
  const tsl_cost_report *counted = &reasons->reports[index];
  const tsl_cost_counts *account = &counted->account;
  const tsl_cost_comparison comparison = tsl_reasons_compare(reasons, index);
  tsl_text name = {0}, groups = {0}, limit = {0};
  tsl_sheet_add_strategy(sheet, reasons->points[index]->strategy, &name);
  tsl_text_add(out, "<tr%s><th scope=\"row\">",
               comparison.agreement == TSL_AGREEMENT_WRONG ? " class=\"wrong\"" : "");
  tsl_html_add(out, tsl_text_get(&name));
  tsl_text_add(out, "</th>");
  cost_section_add_number(out, tsl_sheet_value(sheet, reasons->points[index]));
  cost_section_add_number(out, comparison.measured);
  cost_section_add_number(out, comparison.predicted);
  cost_section_add_bytes(out, account->global.read + account->global.written);
  cost_section_add_bytes(out, account->local.read + account->local.written);
  cost_section_add_bytes(out, account->memory);
  cost_section_add_number(out, tsl_cost_counts_intensity(&reasons->problem, account));
  tsl_cost_report_groups(counted, &groups);
  cost_section_add_cell(out, tsl_text_get(&groups), true);
  tsl_reasons_add_limit(counted, &limit);
  cost_section_add_cell(out, tsl_text_get(&limit), true);
  tsl_text_add(out, "</tr>\n");
  out->failed |= name.failed || groups.failed || limit.failed;
  tsl_text_free(&name);
  tsl_text_free(&groups);
  tsl_text_free(&limit);
}

static void cost_section_add_table(const tsl_sheet *sheet, const tsl_reasons *reasons,
                                   const tsl_device *device, tsl_text *out) {
  static const char *const titles[] = {"Measured", "Predicted", "Global", "Local", "Memory", "Op/byte"};
  tsl_text_add(out,
               "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr><th scope=\"col\" "
               "class=\"text\">Strategy</th><th scope=\"col\">%s</th>",
               tsl_sheet_rate(sheet).unit);
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsl_text_add(out, "<th scope=\"col\">%s</th>", titles[i]);
  tsl_text_add(out, "<th scope=\"col\" class=\"text\">Work-groups</th><th scope=\"col\" "
                    "class=\"text\">Limit</th></tr></thead>\n<tbody>\n");
  for (int i = 0; i < reasons->count; i++)
    if (reasons->reports[i].device == device)
      cost_section_add_row(sheet, reasons, i, out);
  tsl_text_add(out, "</tbody>\n</table>\n</div>\n");
}

/* Adds each strategy's idea, its loads and its partner's, and the factors with their reason. */
static void add_sentences(const tsl_sheet *sheet, const tsl_reasons *reasons, const tsl_device *device,
                          tsl_text *out) {
  tsl_text_add(out, "<dl class=\"why\">\n");
  for (int i = 0; i < reasons->count; i++) {
    const tsl_cost_report *report = &reasons->reports[i];
    tsl_text sentence = {0}, counted = {0}, config = {0};
    if (report->device != device)
      continue;
    const tsl_cost_comparison comparison = tsl_reasons_compare(reasons, i);
    tsl_cost_comparison_print(&reasons->problem, report, &comparison, &sentence);
    tsl_sheet_add_strategy(sheet, reasons->points[i]->strategy, &config);
    tsl_text_add(out, "<dt>");
    if (!report->strategy->vendor.load)
      tsl_text_add(out, "<a href=\"#idea-%s\">", report->strategy->name);
    tsl_html_add(out, tsl_text_get(&config));
    tsl_text_add(out, report->strategy->vendor.load ? "</dt><dd>" : "</a></dt><dd>");
    if (!reasons->is_sweep) {
      tsl_html_add(out, report->strategy->idea);
      tsl_text_add(out, ".<br>");
    }
    tsl_text_add(out, "It ");
    tsl_html_add(out, tsl_text_get(&sentence));
    tsl_text_add(out, ".");
    tsl_reasons_add_hardware(reasons, i, &counted);
    if (counted.length > 0)
      tsl_text_add(out, "<br>Counted by the hardware: %s.", tsl_text_get(&counted));
    tsl_text_add(out, "</dd>\n");
    out->failed |= sentence.failed || counted.failed || config.failed;
    tsl_text_free(&sentence);
    tsl_text_free(&counted);
    tsl_text_free(&config);
  }
  tsl_text_add(out, "</dl>\n");
}

static void cost_section_add_device(tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  const int size = tsl_sheet_largest_size(sheet, type, device);
  tsl_reasons reasons;
  tsl_text name = {0};
  if (size < 0)
    return;
  if (tsl_reasons_make(all, type, size, &reasons) != TESELA_OK) {
    sheet->out.failed = true;
    return;
  }
  tsl_sheet_add_size(sheet, size, &name);
  tsl_text_add(&sheet->out, "<h3>%s<span> \xc2\xb7 %s, %s</span></h3>\n", all->devices.items[device]->name,
               all->types.items[type].name, tsl_text_get(&name));
  cost_section_add_table(sheet, &reasons, all->devices.items[device], &sheet->out);
  add_sentences(sheet, &reasons, all->devices.items[device], &sheet->out);
  const char *why = tsl_explore_race(all, type, size, device)->hardware_why;
  if (*why) {
    tsl_text_add(&sheet->out, "<p class=\"missing\">Hardware counters: ");
    tsl_html_add(&sheet->out, why);
    tsl_text_add(&sheet->out, ".</p>\n");
  }
  tsl_text_free(&name);
  tsl_reasons_free(&reasons);
}

void tsl_sheet_add_why(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  if (!tsl_sheet_has_times(sheet))
    return;
  tsl_sheet_begin(sheet, "why", "Why one beats another", how_why);
  for (int d = 0; d < all->devices.count; d++)
    cost_section_add_device(sheet, 0, d);
  tsl_sheet_end(sheet);
}
