/* The section on the conditions: the machine, the call, the devices with their roofs, and missing
 * devices. */
#include "explore/report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void machine_add_row(tsl_text *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void machine_add_row(tsl_text *out, const char *name, const char *format, ...) {
  tsl_text value = {0};
  va_list arguments;
  va_start(arguments, format);
  tsl_text_add_arguments(&value, format, arguments);
  va_end(arguments);
  tsl_text_add(out, "<dt>%s</dt><dd>", name);
  tsl_html_add(out, tsl_text_get(&value));
  tsl_text_add(out, "</dd>\n");
  out->failed |= value.failed;
  tsl_text_free(&value);
}

static const char *compiler(void) {
#if defined(__clang__)
  return __VERSION__; /* contains the compiler's name */
#else
  return "gcc " __VERSION__;
#endif
}

static void add_load(const tsl_exploration *all, tsl_text *out) {
  if (!isnan(all->load_average[0]))
    machine_add_row(out, "load before", "%.2f, %.2f, %.2f (averages of 1, 5 and 15 minutes)",
                    all->load_average[0], all->load_average[1], all->load_average[2]);
}

static void add_conditions(const tsl_exploration *all, tsl_text *out) {
  const tsl_form plain = {.width = 0};
  tsl_text line = {0};
  tsl_explore_add_conditions(all, &plain, &line);
  if (line.length > 0)
    machine_add_row(out, "operands", "%.*s", (int)strcspn(line.data, "\n"), line.data);
  tsl_text_free(&line);
}

static void machine_add_run(const tsl_sheet *sheet, tsl_text *out) {
  const tsl_page *page = sheet->page;
  const tsl_race_options *options = &page->all->options;
  tsl_text_add(out, "<div class=\"card\">\n<h3>The run</h3>\n<dl>\n");
  machine_add_row(out, "command", "%s", page->command);
  machine_add_row(out, "started", "%s", page->all->date);
  machine_add_row(out, "tesela", "%s%s%s, %s", page->version, *page->revision ? ", revision " : "",
                  page->revision, compiler());
  machine_add_row(out, "host threads", "%d", page->all->threads);
  add_load(page->all, out);
  machine_add_row(out, "limits", "%g s an entry, noise goal %g %%, %g s a run at most, seed %llu",
                  options->seconds_max, 100 * options->noise, options->time_limit,
                  (unsigned long long)options->seed);
  add_conditions(page->all, out);
  tsl_text_add(out, "</dl>\n</div>\n");
}

/* Adds the clock rates read around a device's races, or the reason why there are none. */
static void add_clocks(const tsl_exploration *all, int device, tsl_text *out) {
  int least = 0, most = 0;
  const char *why = "";
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++) {
      const tsl_race_report *race = tsl_explore_race(all, t, s, device);
      const int clocks[] = {race->clock_mhz_before, race->clock_mhz_after};
      for (int i = 0; i < 2; i++) {
        if (clocks[i] <= 0)
          continue;
        least = least == 0 || clocks[i] < least ? clocks[i] : least;
        most = clocks[i] > most ? clocks[i] : most;
      }
      if (race->clock_why[0])
        why = race->clock_why;
    }
  const int highest = all->devices.items[device]->clock_mhz;
  if (most > 0 && most == least && most == highest)
    machine_add_row(out, "clock", "%d MHz", most);
  else if (most > 0 && most == least)
    machine_add_row(out, "clock", "%d MHz around the measurements, at most %d MHz", most, highest);
  else if (most > 0)
    machine_add_row(out, "clock", "%d to %d MHz around the measurements, at most %d MHz", least, most,
                    highest);
  else if (*why)
    machine_add_row(out, "clock", "at most %d MHz; not read: %s", highest, why);
  else if (highest > 0)
    machine_add_row(out, "clock", "at most %d MHz", highest);
}

static void machine_add_roofs(const tsl_sheet *sheet, int device, tsl_text *out) {
  const tsl_measured_times *one =
      tsl_measured_find(sheet->page->roofs, sheet->page->all->devices.items[device]);
  char bytes[32];
  if (!one)
    return;
  if (one->status != TESELA_OK) {
    machine_add_row(out, "measured roofs", "%s", one->failure);
    return;
  }
  static const char *const names[] = {[TSL_ROOF_COPY] = "memory, copied",
                                      [TSL_ROOF_READ] = "memory, read",
                                      [TSL_ROOF_LEVEL1] = "first-level caches, read",
                                      [TSL_ROOF_LEVEL2] = "second-level caches, read",
                                      [TSL_ROOF_LEVEL3] = "last cache, read",
                                      [TSL_ROOF_LOCAL] = "local memory, read",
                                      [TSL_ROOF_FMA_F32] = "multiply-adds, f32",
                                      [TSL_ROOF_FMA_F64] = "multiply-adds, f64"};
  for (int i = 0; i < TSL_ROOF_COUNT; i++) {
    char text[48];
    if (!isnan(one->roofs.roof[i].rate))
      machine_add_row(out, names[i], "%s (spread %.1f %%)",
                      tsl_measured_text(one, (tsl_roof_name)i, text, sizeof text),
                      100 * one->roofs.roof[i].spread);
  }
  if (one->roofs.bytes > 0)
    machine_add_row(out, "with arrays of", "%s", tsl_format_bytes(one->roofs.bytes, bytes, sizeof bytes));
  if (one->roofs.why[0])
    machine_add_row(out, "missing", "%s", one->roofs.why);
}

static void machine_add_device(const tsl_sheet *sheet, int index, tsl_text *out) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_device *device = all->devices.items[index];
  char bytes[32];
  tsl_text_add(out, "<div class=\"card\">\n<h3><code>%s</code> ", device->name);
  tsl_html_add(out, device->label);
  tsl_text_add(out, "</h3>\n<dl>\n");
  machine_add_row(out, "driver", "%s", device->platform);
  if (device->threads > 0)
    machine_add_row(out, "units", "%d, with %d thread%s", device->compute_units, device->threads,
                    device->threads == 1 ? "" : "s");
  else
    machine_add_row(out, "units", "%d", device->compute_units);
  add_clocks(all, index, out);
  machine_add_row(out, "memory", "%s", tsl_format_bytes(device->memory_bytes, bytes, sizeof bytes));
  if (device->cache_bytes > 0)
    machine_add_row(out, "last cache", "%s", tsl_format_bytes(device->cache_bytes, bytes, sizeof bytes));
  machine_add_roofs(sheet, index, out);
  tsl_text_add(out, "</dl>\n</div>\n");
}

static void machine_add_missing(const tsl_sheet *sheet, tsl_text *out) {
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const char *name, *what, *why;
    int count;
    if (tsl_devices_kind(sheet->page->devices, kind, &name, &what, &count, &why) != TESELA_OK || count > 0)
      continue;
    tsl_text_add(out, "<p class=\"missing\">No %s (", name);
    tsl_html_add(out, what);
    tsl_text_add(out, "): ");
    tsl_html_add(out, why);
    tsl_text_add(out, ".</p>\n");
  }
}

void tsl_sheet_add_machine(tsl_sheet *sheet) {
  tsl_sheet_begin(sheet, "machine", "The machine", NULL);
  tsl_text_add(&sheet->out, "<div class=\"cards\">\n");
  machine_add_run(sheet, &sheet->out);
  for (int d = 0; d < sheet->page->all->devices.count; d++)
    machine_add_device(sheet, d, &sheet->out);
  tsl_text_add(&sheet->out, "</div>\n");
  if (sheet->page->all->all_devices)
    machine_add_missing(sheet, &sheet->out);
  tsl_sheet_end(sheet);
}
