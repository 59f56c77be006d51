#include "page/page.h"

#include "cli/interrupt.h"
#include "core/clock.h"
#include "core/status.h"
#include "explore/report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <page_css.h>
#include <revision.h>
#include <stdio.h>
#include <string.h>

/* The default time of measuring roofs, before the work and after it. */
static const double roofs_seconds = 0.5;

/* The sections with their anchors; the links at the top use this list, too. */
static const struct {
  const char *id, *link;
  void (*add)(tsl_sheet *sheet);
} sections[] = {
    {"glance", "At a glance", tsl_sheet_add_glance},
    {"parameters", "Against a parameter", tsl_sheet_add_sweeps},
    {"sizes", "Against size", tsl_sheet_add_curves},
    {"why", "Why", tsl_sheet_add_why},
    {"ideas", "The ideas", tsl_sheet_add_ideas},
    {"roofline", "Roofline", tsl_sheet_add_roofline},
    {"errors", "Error against speed", tsl_sheet_add_errors},
    {"tables", "Rates", tsl_sheet_add_tables},
    {"machine", "The machine", tsl_sheet_add_machine},
};

static const char *page_heading(const tsl_exploration *all) {
  static const char *const names[] = {[TSL_OP_GEMM] = "Matrix multiplication",
                                      [TSL_OP_DOT] = "Dot products",
                                      [TSL_OP_TRANSPOSE] = "Transposes",
                                      [TSL_OP_SOLVE] = "Triangular solves"};
  return names[all->op];
}

/* Appends "2026-11-21 12:30 UTC" for "2026-11-21T12:30:05Z". */
static void add_date(const char *date, tsl_text *out) {
  if (strlen(date) >= 16)
    tsl_text_add(out, "<time datetime=\"%s\">%.10s %.5s UTC</time>", date, date, date + 11);
}

/* Returns true if a label contains another device's label, as PoCL's contains the processor's. */
static bool contains_label(const tsl_exploration *all, int device) {
  const char *label = all->devices.items[device]->label;
  for (int d = 0; d < all->devices.count; d++)
    if (strcmp(all->devices.items[d]->label, label) != 0 && strstr(label, all->devices.items[d]->label))
      return true;
  return false;
}

/* Appends the devices' labels, each once. */
static void page_add_labels(const tsl_exploration *all, tsl_text *out) {
  bool any = false;
  for (int d = 0; d < all->devices.count; d++) {
    bool is_new = !contains_label(all, d);
    for (int k = 0; k < d && is_new; k++)
      is_new = strcmp(all->devices.items[d]->label, all->devices.items[k]->label) != 0;
    if (!is_new)
      continue;
    tsl_text_add(out, "%s", any ? " \xc2\xb7 " : "");
    tsl_html_add(out, all->devices.items[d]->label);
    any = true;
  }
}

static void add_count(int count, const char *item, const char *several, tsl_text *out) {
  tsl_text_add(out, "%d %s \xc2\xb7 ", count, count == 1 ? item : several);
}

static void page_add_facts(const tsl_sheet *sheet, tsl_text *out) {
  const tsl_exploration *all = sheet->page->all;
  tsl_text_add(out, "<p class=\"facts\">");
  add_count(all->devices.count, "device", "devices", out);
  if (all->sweep.count > 0)
    tsl_text_add(out, "%d configs of <code>%s</code> \xc2\xb7 ", all->strategies.count,
                 all->strategies.items[0].strategy->name);
  else
    add_count(all->strategies.count, "strategy", "strategies", out);
  add_count(all->types.count, "type", "types", out);
  add_count(all->sizes.count, "size", "sizes", out);
  add_date(all->date, out);
  if (*sheet->page->revision) {
    tsl_text_add(out, " \xc2\xb7 revision <code>");
    tsl_html_add(out, sheet->page->revision);
    tsl_text_add(out, "</code>");
  }
  tsl_text_add(out, "</p>\n");
}

static void add_header(tsl_sheet *sheet) {
  const tsl_exploration *all = sheet->page->all;
  tsl_text *out = &sheet->out;
  tsl_text_add(out, "<header>\n<p class=\"eyebrow\">tesela %s</p>\n<h1>%s</h1>\n<p class=\"lead\">",
               all->sweep.count > 0 ? "sweep" : "explore", page_heading(all));
  page_add_labels(all, out);
  tsl_text_add(out, "</p>\n");
  page_add_facts(sheet, out);
  tsl_text_add(out, "</header>\n");
}

/* Appends links to the sections that the page has. */
static void page_add_links(const char *body, tsl_text *out) {
  tsl_text_add(out, "<nav aria-label=\"Sections\">\n");
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    char anchor[64];
    snprintf(anchor, sizeof anchor, "<section id=\"%s\">", sections[i].id);
    if (strstr(body, anchor))
      tsl_text_add(out, "<a href=\"#%s\">%s</a>\n", sections[i].id, sections[i].link);
  }
  tsl_text_add(out, "</nav>\n");
}

static void page_add_head(const tsl_sheet *sheet, tsl_text *out) {
  tsl_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  tsl_text_add(
      out,
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"tesela %s\">\n"
      "<title>%s \xe2\x80\x93 tesela</title>\n<style>\n",
      sheet->page->version, page_heading(sheet->page->all));
  tsl_text_add_bytes(out, tsl_page_css, sizeof tsl_page_css - 1);
  tsl_text_add(out, "</style>\n</head>\n<body>\n<main>\n");
}

tesela_status tsl_page_make(const tsl_page *page, tsl_text *out) {
  tsl_sheet sheet = {.page = page, .status = TESELA_OK};
  tsl_text body = {0};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    sections[i].add(&sheet);
  body = sheet.out;
  sheet.out = (tsl_text){0};
  page_add_head(&sheet, out);
  add_header(&sheet);
  tsl_text_add_bytes(out, tsl_text_get(&sheet.out), sheet.out.length);
  page_add_links(tsl_text_get(&body), out);
  tsl_text_add_bytes(out, tsl_text_get(&body), body.length);
  tsl_text_add(out, "</main>\n</body>\n</html>\n");
  out->failed |= body.failed | sheet.out.failed;
  tsl_text_free(&sheet.out);
  tsl_text_free(&body);
  TSL_TRY(tsl_text_status(out));
  return sheet.status == TESELA_OK ? TESELA_OK : tsl_fail(sheet.status, "%s", sheet.failure);
}

/* Returns the seconds for measuring a device's roofs, at most the time of an entry. */
static double seconds_for_roofs(const tsl_exploration *all) {
  return fmin(roofs_seconds, 10 * all->options.seconds_max);
}

tesela_status tsl_page_begin(const char *path, const tsl_exploration *all, tsl_page_file *file) {
  if (!path)
    return TESELA_OK;
  tsl_interrupt_hold();
  const tesela_status status = tsl_output_open(path, &file->output);
  tsl_interrupt_guard(file->output.temporary);
  TSL_TRY(status);
  tsl_interrupt_wait_begin();
  const tesela_status measured = tsl_measured_take(&all->devices, seconds_for_roofs(all), &file->roofs);
  tsl_interrupt_wait_end();
  TSL_TRY(measured);
  file->measured = tsl_clock();
  return TESELA_OK;
}

tesela_status tsl_page_measure(const tsl_exploration *all, tsl_page_file *file) {
  const bool is_recent = tsl_clock() - file->measured < roofs_seconds * all->devices.count;
  return file->output.path && !is_recent
             ? tsl_measured_take(&all->devices, seconds_for_roofs(all), &file->roofs)
             : TESELA_OK;
}

static tesela_status write_page(const tsl_page *page, tsl_output *output) {
  tsl_text text = {0};
  tsl_status_saved sentence;
  const tesela_status drawn = tsl_page_make(page, &text);
  tesela_status status;
  tsl_status_save(&sentence);
  if (!text.failed) {
    TSL_GO(tsl_output_write(output, tsl_text_get(&text), text.length));
    TSL_GO(tsl_output_commit(output));
    tsl_interrupt_guard(NULL);
  }
  status = drawn;
  tsl_status_restore(&sentence);
out:
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_page_end(const tsl_command_call *call, const tsl_exploration *all, tsl_devices *devices,
                           tsl_page_file *file) {
  tsl_text command = {0};
  tsl_status_saved sentence;
  if (!file->output.path)
    return tsl_explore_conclude(all);
  tsl_call_add_line(call, &command);
  const tsl_page page = {.all = all,
                         .devices = devices,
                         .roofs = &file->roofs,
                         .command = tsl_text_get(&command),
                         .version = tesela_version(),
                         .revision = TESELA_REVISION};
  const tesela_status status = write_page(&page, &file->output);
  tsl_status_save(&sentence);
  const tesela_status concluded = tsl_explore_conclude(all);
  if (concluded == TESELA_OK)
    tsl_status_restore(&sentence);
  tsl_text_free(&command);
  return concluded == TESELA_OK ? status : concluded;
}

void tsl_page_close(tsl_page_file *file) {
  tsl_output_close(&file->output);
  tsl_measured_free(&file->roofs);
  tsl_interrupt_guard(NULL);
}
