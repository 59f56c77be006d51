#include "page/page.h"

#include "cli/interrupt.h"
#include "cli/language.h"
#include "core/clock.h"
#include "core/status.h"
#include "explain/trace.h"
#include "explore/explore.h"
#include "explore/report.h"

#include <jansson.h>
#include <math.h>
#include <page_html.h>
#include <revision.h>
#include <stdlib.h>
#include <string.h>

/* Returns a strategy of the exploration. */
static const tsl_strategy *traces_find(const tsl_exploration *all, const char *name) {
  int i = 0;
  while (strcmp(all->strategies.items[i].strategy->name, name) != 0)
    i++;
  return all->strategies.items[i].strategy;
}

/* Adds `traces` of the data's `ideas`, by their names. `traces_why` is the reason why a rung has none, or "".
 */
static void page_add_traces(const tsl_exploration *all, json_t *data) {
  json_t *traces = json_object(), *idea;
  tsl_text why = {0};
  size_t i;
  json_array_foreach(json_object_get(data, "ideas"), i, idea) {
    const char *name = json_string_value(json_object_get(idea, "name"));
    const tsl_rung *rung = tsl_rung_of(traces_find(all, name));
    json_t *trace = NULL;
    if (!rung)
      continue;
    if (tsl_explore_is_cut_short(all))
      tsl_text_add(&why, "%s", why.length == 0 ? "the run was cut short" : "");
    else if (tsl_trace_small(rung, &trace) == TESELA_OK)
      json_object_set_new(traces, name, trace);
    else if (why.length == 0)
      tsl_text_add(&why, "%s: %s", name, tesela_last_error());
  }
  json_object_set_new(data, "traces_why", json_string(tsl_text_get(&why)));
  tsl_text_free(&why);
  json_object_set_new(data, "traces", traces);
}

/* The default time of measuring roofs, before the work and after it. */
static const double roofs_seconds = 0.5;

void tsl_page_escape(const char *text, tsl_text *out) {
  tsl_text clean = {0};
  tsl_page_clean(text, &clean);
  for (const char *at = tsl_text_get(&clean); *at; at++)
    if (*at == '&')
      tsl_text_add(out, "&amp;");
    else if (*at == '<')
      tsl_text_add(out, "&lt;");
    else
      tsl_text_add_bytes(out, at, 1);
  out->failed |= clean.failed;
  tsl_text_free(&clean);
}

/* --- the text of readers without scripts --- */

static void add_roofs(const tsl_page *page, tsl_text *out) {
  for (int d = 0; d < page->all->devices.count; d++) {
    const tsl_device *device = page->all->devices.items[d];
    const tsl_measured_times *one = tsl_measured_find(page->roofs, device);
    tsl_table table = tsl_table_of_pairs();
    if (!one)
      continue;
    tsl_text_add(out, "\nMeasured roofs of %s\n", device->name);
    if (one->status == TESELA_OK)
      tsl_measured_add(one, &table);
    else
      tsl_text_add(out, "  %s\n", one->failure);
    tsl_table_text(&table, 2, 0, false, out);
    out->failed |= table.failed;
    tsl_table_free(&table);
  }
}

static void add_comparisons(const json_t *data, tsl_text *out) {
  size_t i;
  json_t *entry;
  bool any = false;
  json_array_foreach(json_object_get(data, "entries"), i, entry) {
    int type, size, strategy, device;
    const char *comparison = json_string_value(json_object_get(entry, "comparison"));
    if (!comparison || !*comparison ||
        json_unpack(entry, "{s:[i, i, i, i]}", "at", &type, &size, &strategy, &device) != 0)
      continue;
    const json_t *chosen = json_array_get(json_object_get(data, "strategies"), (size_t)strategy);
    const json_t *extent = json_array_get(json_object_get(data, "sizes"), (size_t)size);
    tsl_text_add(out, "%s- %s on %s, %s, %s: it %s.\n", any ? "" : "\nWhy one beats another\n",
                 json_string_value(json_object_get(chosen, "label")),
                 json_string_value(json_object_get(entry, "device")),
                 json_string_value(json_object_get(entry, "type")),
                 json_string_value(json_object_get(extent, "name")), comparison);
    any = true;
  }
}

static void add_stories(const json_t *data, tsl_text *out) {
  size_t i;
  json_t *idea;
  json_array_foreach(json_object_get(data, "ideas"), i, idea)
      tsl_text_add(out, "\n%s\n\n%s", json_string_value(json_object_get(idea, "name")),
                   json_string_value(json_object_get(idea, "story")));
}

static void page_add_report(const tsl_page *page, const json_t *data, const char *report, tsl_text *out) {
  tsl_text_add(out, "%s\n\n%s\ntesela %s%s%s, %s\n\n%s", tsl_page_heading(page->all), page->command_line,
               page->version, *page->revision ? ", revision " : "", page->revision, page->all->date, report);
  add_comparisons(data, out);
  add_roofs(page, out);
  add_stories(data, out);
}

/* --- the template --- */

/* Appends the data; `<` occurs in strings only, and could end the element that holds the data. */
static void add_data(const json_t *data, tsl_text *out) {
  char *const dump = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
  out->failed |= !dump;
  for (const char *at = dump; at && *at; at++)
    if (*at == '<')
      tsl_text_add(out, "\\u003c");
    else
      tsl_text_add_bytes(out, at, 1);
  free(dump);
}

/* A place of the template: {{name}}. */
typedef struct page_place {
  const char *name, *text;
} page_place;

static void fill_template(const page_place *places, tsl_text *out) {
  const char *from = page_html, *open;
  while ((open = strstr(from, "{{")) != NULL) {
    const page_place *place = places;
    tsl_text_add_bytes(out, from, (size_t)(open - from));
    for (from = open + 2; strncmp(from, place->name, strlen(place->name)) != 0; place++)
      continue;
    tsl_text_add(out, "%s", place->text);
    from += strlen(place->name) + strlen("}}");
  }
  tsl_text_add(out, "%s", from);
}

/* Translates a sentence of an object; null stays. */
static void page_translate(json_t *object, const char *key) {
  const char *sentence = json_string_value(json_object_get(object, key));
  tsl_text text = {0};
  if (sentence) {
    tsl_tr_sentence(sentence, &text);
    json_object_set_new(object, key, json_string(tsl_text_get(&text)));
  }
  tsl_text_free(&text);
}

/* Translates the sentences of a kernel of the lab; the text of a fault is translated already. */
static void page_translate_kernel(json_t *kernel) {
  static const char *const keys[] = {"failure", "wrong", "undetected"};
  size_t i;
  json_t *fault;
  for (i = 0; i < sizeof keys / sizeof *keys; i++)
    page_translate(kernel, keys[i]);
  json_array_foreach(json_object_get(kernel, "faults"), i, fault) page_translate(fault, "kind");
  page_translate(json_object_get(kernel, "why"), "comparison");
}

/* Translates the sentences of a recorded program. */
static void page_translate_run(json_t *run) {
  size_t i;
  json_t *item, *notes = json_array();
  json_array_foreach(json_object_get(run, "advice"), i, item) page_translate(item, "text");
  json_array_foreach(json_object_get(run, "products"), i, item) page_translate(item, "why");
  json_array_foreach(json_object_get(run, "notes"), i, item) {
    tsl_text text = {0};
    tsl_tr_sentence(json_string_value(item), &text);
    json_array_append_new(notes, json_string(tsl_text_get(&text)));
    tsl_text_free(&text);
  }
  if (run)
    json_object_set(run, "notes", notes);
  json_decref(notes);
}

/* Translates the sentences of the data, and adds the words of the page's script. */
static void page_translate_data(json_t *data) {
  size_t i;
  json_t *object;
  page_translate(data, "heading");
  json_array_foreach(json_object_get(data, "entries"), i, object) page_translate(object, "comparison");
  json_array_foreach(json_object_get(data, "ideas"), i, object) {
    page_translate(object, "idea");
    page_translate(object, "lifts");
  }
  page_translate_kernel(json_object_get(data, "lab"));
  json_array_foreach(json_object_get(data, "class"), i, object) page_translate_kernel(object);
  page_translate_run(json_object_get(data, "run"));
  json_object_set_new(data, "words", tsl_locale_words("page.html"));
  json_object_set_new(data, "plurals", tsl_locale_plurals());
}

/* Appends the template filled with this data, whose `heading` is the title. Translates sentences of the data
 * to the locale; NULL: by the environment. `report`: the data as plain text, of the lab in the locale's
 * language, else English. */
static tesela_status page_fill(const char *version, const char *locale, json_t *data, const tsl_text *report,
                               tsl_text *out) {
  tsl_text name = {0}, text = {0}, json = {0};
  const char *const previous = tsl_locale_tag();
  const bool is_lab = json_object_get(data, "lab") || json_object_get(data, "class");
  tsl_locale_use(locale);
  page_translate_data(data);
  tsl_page_escape(json_string_value(json_object_get(data, "heading")), &name);
  tsl_page_escape(tsl_text_get(report), &text);
  add_data(data, &json);
  out->failed |= report->failed || name.failed || text.failed || json.failed;
  /* The last place is any other name. */
  fill_template(
      (const page_place[]){{"lang", tsl_locale_tag()},
                           {"title", tsl_text_get(&name)},
                           {"summary", tsl_tr("The report as text")},
                           {"noscript", tsl_tr("The pictures and the tables that sort need scripts, "
                                               "which are off here. The report below has the same "
                                               "numbers.")},
                           {"version", version},
                           {"report_lang", is_lab ? tsl_locale_tag() : "en"},
                           {"text", tsl_text_get(&text)},
                           {"data", tsl_text_get(&json)},
                           {"", ""}},
      out);
  tsl_locale_use(previous);
  tsl_text_free(&name);
  tsl_text_free(&text);
  tsl_text_free(&json);
  return tsl_text_status(out);
}

/* Appends the page: the template with its places filled. `report`: the exploration as plain text. */
static tesela_status page_make(const tsl_page *page, const char *report, tsl_text *out) {
  json_t *data = tsl_page_data(page);
  tsl_text plain = {0};
  if (!data)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to write the page");
  page_add_report(page, data, report, &plain);
  page_add_traces(page->all, data);
  const tesela_status status = page_fill(page->version, page->locale, data, &plain, out);
  json_decref(data);
  tsl_text_free(&plain);
  return status;
}

/* --- the file --- */

/* Returns the seconds for measuring a device's roofs, at most the time of an entry. */
static double seconds_for_roofs(const tsl_exploration *all) {
  return fmin(roofs_seconds, 10 * all->options.seconds_max);
}

tesela_status tsl_page_open(const char *path, tsl_output *output) {
  tsl_interrupt_hold();
  const tesela_status status = tsl_output_open(path, output);
  tsl_interrupt_guard(output->temporary);
  return status;
}

tesela_status tsl_page_begin(const char *path, const tsl_exploration *all, tsl_page_file *file) {
  if (!path)
    return TESELA_OK;
  TSL_TRY(tsl_page_open(path, &file->output));
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

tesela_status tsl_page_write(const tsl_text *text, tsl_output *output) {
  TSL_TRY(tsl_output_write(output, tsl_text_get(text), text->length));
  TSL_TRY(tsl_output_commit(output));
  tsl_interrupt_guard(NULL);
  return TESELA_OK;
}

tesela_status tsl_page_write_object(const tsl_command_call *call, const char *locale, const char *heading,
                                    const char *name, json_t *object, const tsl_text *report,
                                    tsl_output *output) {
  tsl_text command = {0}, clean = {0}, title = {0}, plain = {0}, page = {0};
  tesela_status status;
  tsl_call_add_line(call, &command);
  tsl_page_clean(tsl_text_get(&command), &clean);
  tsl_page_clean(heading, &title);
  tsl_text_add(&plain, "%s\n\n%s\n\n%s", heading, tsl_text_get(&command), tsl_text_get(report));
  plain.failed |= command.failed || report->failed;
  json_t *data = json_pack("{s:s, s:s, s:o}", "heading", tsl_text_get(&title), "command_line",
                           tsl_text_get(&clean), name, object);
  TSL_GO(data ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to write the page"));
  TSL_GO(page_fill(tesela_version(), locale, data, &plain, &page));
  TSL_GO(tsl_page_write(&page, output));
out:
  json_decref(data);
  tsl_text_free(&command);
  tsl_text_free(&clean);
  tsl_text_free(&title);
  tsl_text_free(&plain);
  tsl_text_free(&page);
  return status;
}

static tesela_status write_page(const tsl_page *page, const char *report, tsl_output *output) {
  tsl_text text = {0};
  tesela_status status;
  TSL_GO(page_make(page, report, &text));
  TSL_GO(tsl_page_write(&text, output));
out:
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_page_end(const tsl_command_call *call, const tsl_exploration *all, tsl_devices *devices,
                           const char *report, tsl_page_file *file) {
  tsl_text command = {0};
  tsl_status_saved sentence;
  if (!file->output.path)
    return tsl_explore_conclude(all);
  tsl_call_add_line(call, &command);
  const tsl_page page = {.all = all,
                         .devices = devices,
                         .roofs = &file->roofs,
                         .command_line = tsl_text_get(&command),
                         .locale = file->locale,
                         .version = tesela_version(),
                         .revision = TESELA_REVISION};
  const tesela_status status = write_page(&page, report, &file->output);
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
