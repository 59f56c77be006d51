#include "inventory/wisdom_records.h"

#include "cli/report.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* --- which records --- */

/* Reads strategy names without checking them: a removed strategy may still have records. */
static tesela_status read_strategies(tsl_wisdom_filter *out) {
  const char *rest = out->given->strategies;
  char *piece;
  while (rest) {
    TSL_TRY(tsl_list_next(&rest, &piece));
    if (!piece)
      break;
    if (out->strategy_count == TSL_SELECT_MAX) {
      free(piece);
      return tsl_fail(TESELA_BAD_CALL, "--strategy takes at most %d names", TSL_SELECT_MAX);
    }
    out->strategies[out->strategy_count++] = piece;
  }
  return TESELA_OK;
}

tesela_status tsl_wisdom_filter_begin(const tsl_wisdom_options *options, tsl_wisdom_filter *out) {
  *out = (tsl_wisdom_filter){.given = options};
  TSL_TRY(tsl_devices_create(&out->devices));
  if (options->devices)
    TSL_TRY(tsl_select_devices(out->devices, options->devices, &out->device_list));
  return read_strategies(out);
}

void tsl_wisdom_filter_end(tsl_wisdom_filter *filter) {
  for (int i = 0; i < filter->strategy_count; i++)
    free(filter->strategies[i]);
  tsl_devices_destroy(filter->devices);
}

const tsl_device *tsl_wisdom_device_of(const tsl_wisdom_filter *filter, const tsl_wisdom_record *record) {
  const tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(filter->devices, i)) != NULL; i++)
    if (tsl_wisdom_is_for(record, device))
      return device;
  return NULL;
}

static bool is_of_devices(const tsl_wisdom_filter *filter, const tsl_wisdom_record *record) {
  for (int i = 0; i < filter->device_list.count; i++)
    if (tsl_wisdom_is_for(record, filter->device_list.items[i]))
      return true;
  return !filter->given->devices;
}

static bool is_of_strategies(const tsl_wisdom_filter *filter, const tsl_wisdom_record *record) {
  for (int i = 0; i < filter->strategy_count; i++)
    if (strcmp(filter->strategies[i], record->name) == 0)
      return true;
  return filter->strategy_count == 0;
}

bool tsl_wisdom_filter_passes(const void *argument, const tsl_wisdom_line *line) {
  const tsl_wisdom_filter *one = argument;
  const tsl_wisdom_record *record = line->record;
  if (!record)
    return !one->given->devices && one->strategy_count == 0;
  return (!one->given->stale || record->stale[0]) && is_of_devices(one, record) &&
         is_of_strategies(one, record);
}

/* --- list --- */

typedef struct wisdom_records_listing {
  tsl_wisdom_filter filter;
  tsl_table table;
  json_t *entries;
  const char *origin;
  int count, used;
} wisdom_records_listing;

static void wisdom_records_add_types(const tsl_wisdom_class *problem, tsl_text *out) {
  const tesela_type *types = problem->types;
  if (types[0] == types[1] && types[1] == types[2])
    tsl_text_add(out, "%s", tsl_type(types[0])->name);
  else
    tsl_text_add(out, "%s,%s,%s", tsl_type(types[0])->name, tsl_type(types[1])->name,
                 tsl_type(types[2])->name);
}

/* Appends the plan's part of a record's line: all text before the key. */
static void add_plan(const tsl_wisdom_line *line, tsl_text *out) {
  const char *end = strstr(line->text, " key=");
  tsl_text_add_bytes(out, line->text, end ? (size_t)(end - line->text) : strlen(line->text));
}

static const char *wisdom_records_why_not(const wisdom_records_listing *list, const tsl_wisdom_line *line) {
  if (!line->record)
    return line->wrong;
  if (line->record->stale[0])
    return line->record->stale;
  return tsl_wisdom_device_of(&list->filter, line->record) ? "" : "of another device";
}

static void wisdom_records_add_row(wisdom_records_listing *list, const tsl_wisdom_line *line,
                                   const char *why) {
  const tsl_wisdom_record *record = line->record;
  const tsl_device *device = tsl_wisdom_device_of(&list->filter, record);
  char time[32];
  tsl_text text = {0};
  add_plan(line, &text);
  tsl_table_add(&list->table, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  tsl_table_add(&list->table, "%s", device ? device->name : record->key);
  tsl_table_add(&list->table, "%lld x %lld x %lld", (long long)record->problem.m,
                (long long)record->problem.n, (long long)record->problem.k);
  wisdom_records_add_types(&record->problem, &text);
  tsl_table_add(&list->table, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  tsl_table_add(&list->table, "%s%s%s", record->problem.layout, record->problem.beta ? " beta" : "",
                record->problem.in_place ? " in place" : "");
  tsl_table_add(&list->table, "%s", tsl_format_seconds(record->seconds, time, sizeof time));
  tsl_table_add(&list->table, "%.10s", record->date);
  tsl_table_add_painted(&list->table, *why ? TSL_PAINT_BAD : TSL_PAINT_NONE, "%s", *why ? why : list->origin);
}

static json_t *json_of(const wisdom_records_listing *list, const tsl_wisdom_line *line, const char *why) {
  const tsl_wisdom_record *record = line->record;
  const tsl_device *device = record ? tsl_wisdom_device_of(&list->filter, record) : NULL;
  json_t *unused = *why ? json_string(why) : json_null();
  if (!record)
    return json_pack("{s:s, s:s, s:o}", "record", line->text, "origin", list->origin, "unused", unused);
  return json_pack("{s:s, s:s, s:o, s:s, s:s, s:I, s:s, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:s}", "record",
                   line->text, "origin", list->origin, "unused", unused, "op",
                   tsl_op_name(record->problem.op), "strategy", record->name, "version",
                   (json_int_t)record->version, "key", record->key, "units", (json_int_t)record->units,
                   "device", device ? json_string(device->name) : json_null(), "m",
                   (json_int_t)record->problem.m, "n", (json_int_t)record->problem.n, "k",
                   (json_int_t)record->problem.k, "seconds", tsl_json_real(record->seconds), "spread",
                   tsl_json_real(record->spread), "date", record->date);
}

static tesela_status list_line(void *argument, const tsl_wisdom_line *line) {
  wisdom_records_listing *list = argument;
  const char *why = wisdom_records_why_not(list, line);
  if (!tsl_wisdom_filter_passes(&list->filter, line))
    return TESELA_OK;
  list->count++;
  list->used += !*why;
  json_array_append_new(list->entries, json_of(list, line, why));
  if (line->record) {
    wisdom_records_add_row(list, line, why);
    return TESELA_OK;
  }
  tsl_table_add(&list->table, "%s line %d", list->origin, line->number);
  for (int i = 0; i < 6; i++)
    tsl_table_add(&list->table, "%s", "");
  tsl_table_add_painted(&list->table, TSL_PAINT_BAD, "%s", why);
  return TESELA_OK;
}

static tesela_status print_list(const tsl_command_call *call, wisdom_records_listing *found,
                                const char *path) {
  const tsl_wisdom_options *given = call->options;
  tsl_text out = {0};
  if (given->json)
    return tsl_print_json(call, json_pack("{s:s, s:i, s:i, s:O}", "file", path, "count", found->count, "used",
                                          found->used, "entries", found->entries));
  if (found->count > 0) {
    tsl_table_text(&found->table, 0, tsl_output_width(), tsl_output_colour(), &out);
    tsl_text_add(&out, "\n");
  }
  tsl_text_add(&out, "%d record%s, %d of use on this machine; yours are in %s\n", found->count,
               found->count == 1 ? "" : "s", found->used, path);
  return tsl_print(&out);
}

tesela_status tsl_wisdom_print_list(const tsl_command_call *call, const char *path) {
  const tsl_wisdom_options *given = call->options;
  wisdom_records_listing found = {.entries = json_array()};
  tsl_text own = {0};
  tesela_status status;
  static const char *const left[] = {"plan", "device", "m x n x k", "types", "class"};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++)
    tsl_table_column(&found.table, left[i], TSL_ALIGN_LEFT, i == 0);
  tsl_table_column(&found.table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(&found.table, "date", TSL_ALIGN_LEFT, false);
  tsl_table_column(&found.table, "", TSL_ALIGN_LEFT, true);
  TSL_GO(tsl_wisdom_filter_begin(given, &found.filter));
  TSL_GO(tsl_wisdom_read_own(path, &own));
  found.origin = "yours";
  TSL_GO(tsl_wisdom_each(tsl_text_get(&own), list_line, &found));
  found.origin = "shipped";
  if (given->shipped)
    TSL_GO(tsl_wisdom_each(tsl_wisdom_shipped(), list_line, &found));
  TSL_GO(tsl_table_status(&found.table));
  status = print_list(call, &found, path);
out:
  tsl_wisdom_filter_end(&found.filter);
  tsl_table_free(&found.table);
  json_decref(found.entries);
  tsl_text_free(&own);
  return status;
}
