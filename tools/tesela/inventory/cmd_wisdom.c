/* tesela wisdom: measurements on file, which are not repeated. */
#include "cli/report.h"
#include "cli/tool.h"
#include "core/status.h"
#include "core/warnings.h"
#include "inventory/select.h"
#include "io/output.h"
#include "planner/planner_wisdom.h"

#include <stdlib.h>
#include <string.h>

/* Selection and listing of the wisdom records of a tesela wisdom call. */
typedef struct tsl_wisdom_options {
  const char *devices, *strategies;
  bool shipped, stale, all, json;
} tsl_wisdom_options;

typedef struct tsl_wisdom_filter {
  const tsl_wisdom_options *given;
  tsl_devices *devices;
  tsl_device_list device_list;
  char *strategies[TSL_SELECT_MAX]; /* names */
  int strategy_count;
} tsl_wisdom_filter;

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

/* Reads the options into a filter. The caller ends the filter with wisdom_filter_end(), also after a
 * failure. */
static tesela_status wisdom_filter_begin(const tsl_wisdom_options *options, tsl_wisdom_filter *out) {
  *out = (tsl_wisdom_filter){.given = options};
  TSL_TRY(tsl_devices_create(&out->devices));
  if (options->devices)
    TSL_TRY(tsl_select_devices(out->devices, options->devices, &out->device_list));
  return read_strategies(out);
}

static void wisdom_filter_end(tsl_wisdom_filter *filter) {
  for (int i = 0; i < filter->strategy_count; i++)
    free(filter->strategies[i]);
  tsl_devices_destroy(filter->devices);
}

/* Returns the device of this machine that a record belongs to, or NULL. */
static const tsl_device *wisdom_device_of(const tsl_wisdom_filter *filter, const tsl_wisdom_record *record) {
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

/* Returns true if a filter selects a line. An unreadable line is stale, and has no device and no strategy. */
static bool wisdom_filter_passes(const void *argument, const tsl_wisdom_line *line) {
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
  return wisdom_device_of(&list->filter, line->record) ? "" : "of another device";
}

static void wisdom_records_add_row(wisdom_records_listing *list, const tsl_wisdom_line *line,
                                   const char *why) {
  const tsl_wisdom_record *record = line->record;
  const tsl_device *device = wisdom_device_of(&list->filter, record);
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
  const tsl_device *device = record ? wisdom_device_of(&list->filter, record) : NULL;
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
  if (!wisdom_filter_passes(&list->filter, line))
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

/* Prints the list of tesela wisdom. `path` is the user's file. */
static tesela_status wisdom_print_list(const tsl_command_call *call, const char *path) {
  const tsl_wisdom_options *given = call->options;
  wisdom_records_listing found = {.entries = json_array()};
  tsl_text own = {0};
  tesela_status status;
  TSL_TABLE_COLUMNS(&found.table, "~plan", "device", "m x n x k", "types", "class", ">time", "date", "~");
  TSL_GO(wisdom_filter_begin(given, &found.filter));
  TSL_GO(tsl_wisdom_read_own(path, &own));
  found.origin = "yours";
  TSL_GO(tsl_wisdom_each(tsl_text_get(&own), list_line, &found));
  found.origin = "shipped";
  if (given->shipped)
    TSL_GO(tsl_wisdom_each(tsl_wisdom_shipped(), list_line, &found));
  TSL_GO(tsl_table_status(&found.table));
  status = print_list(call, &found, path);
out:
  wisdom_filter_end(&found.filter);
  tsl_table_free(&found.table);
  json_decref(found.entries);
  tsl_text_free(&own);
  return status;
}

static const tsl_option options[] = {
    TSL_OPTION(tsl_wisdom_options, devices, "device", DEVICES, NULL,
               "only records of these devices, such as cpu,opencl:0"),
    TSL_OPTION(tsl_wisdom_options, strategies, "strategy", STRATEGIES, NULL,
               "only records of these strategies"),
    TSL_OPTION(tsl_wisdom_options, stale, "stale", FLAG, NULL,
               "only records that this version cannot use; of retired strategy versions, or unreadable"),
    TSL_OPTION(tsl_wisdom_options, shipped, "shipped", FLAG, NULL,
               "list, export: include the library's own records"),
    TSL_OPTION(tsl_wisdom_options, all, "all", FLAG, NULL, "forget: every record"),
    TSL_OPTION_JSON(tsl_wisdom_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela wisdom list", "the records, and the file that holds them"},
    {"tesela wisdom export h200.txt --device cuda:0", "records of one device, for other machines like this"},
    {"tesela wisdom import h200.txt", "merge them: the better measured stays"},
    {"tesela wisdom forget --stale", "remove records that no longer apply"},
    {NULL, NULL},
};

/* --- export, import, forget --- */

typedef struct exporting {
  tsl_wisdom_filter filter;
  tsl_text text;
  int count;
} exporting;

static tesela_status export_line(void *argument, const tsl_wisdom_line *line) {
  exporting *job = argument;
  if (!line->record || !wisdom_filter_passes(&job->filter, line))
    return TESELA_OK;
  tsl_text_add(&job->text, "%s\n", line->text);
  job->count++;
  return TESELA_OK;
}

static tesela_status wisdom_collect(const tsl_wisdom_options *settings, const char *path, exporting *job) {
  tsl_text own = {0};
  tesela_status status;
  TSL_GO(wisdom_filter_begin(settings, &job->filter));
  TSL_GO(tsl_wisdom_read_own(path, &own));
  if (settings->shipped)
    TSL_GO(tsl_wisdom_each(tsl_wisdom_shipped(), export_line, job));
  TSL_GO(tsl_wisdom_each(tsl_text_get(&own), export_line, job));
  status = tsl_text_status(&job->text);
out:
  tsl_text_free(&own);
  return status;
}

static tesela_status report_merge(const tsl_command_call *call, const char *into,
                                  const tsl_wisdom_merged *merged) {
  const tsl_wisdom_options *given = call->options;
  tsl_text out = {0};
  if (given->json)
    return tsl_print_json(call, json_pack("{s:s, s:i, s:i, s:i, s:i}", "file", into, "added", merged->added,
                                          "replaced", merged->replaced, "kept", merged->kept, "unreadable",
                                          merged->unreadable));
  tsl_text_add(&out, "%s: %d added, %d replaced by better ones, %d kept", into, merged->added,
               merged->replaced, merged->kept);
  if (merged->unreadable > 0)
    tsl_text_add(&out, ", %d line%s left out", merged->unreadable, merged->unreadable == 1 ? "" : "s");
  tsl_text_add(&out, "\n");
  return tsl_print(&out);
}

/* Checks that the file of an export is empty or holds wisdom records. */
static tesela_status expect_wisdom(void *argument, const tsl_wisdom_line *line) {
  *(int *)argument += line->record != NULL;
  return line->record ? TESELA_OK : tsl_fail(TESELA_BAD_INPUT, "line %d: %s", line->number, line->wrong);
}

static tesela_status read_target(const char *into, tsl_text *there) {
  int records = 0;
  TSL_TRY(tsl_wisdom_read(into, true, there));
  tesela_status status = tsl_wisdom_each(tsl_text_get(there), expect_wisdom, &records);
  if (status == TESELA_OK && records == 0 && there->length > 0)
    status = tsl_fail(TESELA_BAD_INPUT, "it has no record");
  return status == TESELA_BAD_INPUT
             ? tsl_fail_in(status, "%s is no wisdom, and export writes a new file or merges into wisdom",
                           into)
             : status;
}

/* Writes a new file, which appears when complete; merges the records into an existing file of
 * wisdom. */
static tesela_status export_to(const char *into, const tsl_text *records, tsl_wisdom_merged *merged) {
  tsl_text there = {0}, all = {0};
  tsl_output output = {0};
  tesela_status status;
  TSL_GO(read_target(into, &there));
  TSL_GO(tsl_wisdom_merge_texts(tsl_text_get(&there), tsl_text_get(records), &all, merged));
  TSL_GO(tsl_output_open(into, &output));
  TSL_GO(tsl_output_write(&output, tsl_text_get(&all), all.length));
  status = tsl_output_commit(&output);
out:
  tsl_output_close(&output);
  tsl_text_free(&there);
  tsl_text_free(&all);
  return status;
}

/* Exports to a file, or to standard output if there is no path. */
static tesela_status export(const tsl_command_call *call, const char *path) {
  const tsl_wisdom_options *given = call->options;
  exporting job = {.count = 0};
  tsl_wisdom_merged merged = {0};
  tesela_status status;
  if (call->word_count < 2 && given->json)
    return tsl_fail(TESELA_BAD_CALL,
                    "export --json needs a FILE: without one, records go to standard output");
  TSL_GO(wisdom_collect(given, path, &job));
  if (call->word_count < 2) {
    status = tsl_print(&job.text);
  } else {
    TSL_GO(export_to(call->words[1], &job.text, &merged));
    status = report_merge(call, call->words[1], &merged);
  }
out:
  wisdom_filter_end(&job.filter);
  tsl_text_free(&job.text);
  return status;
}

/* The records of an imported file, without records that cannot be valid on this machine. */
typedef struct importing {
  tsl_wisdom_filter filter;
  tsl_text text;
  int good, refused, unreadable;
  char wrong[512]; /* the message about the first wrong line */
} importing;

static tesela_status import_line(void *argument, const tsl_wisdom_line *line) {
  importing *job = argument;
  const tsl_device *device = line->record ? wisdom_device_of(&job->filter, line->record) : NULL;
  const char *why = device ? tsl_wisdom_refuse(line->record, device) : line->wrong;
  if (why && job->refused + job->unreadable == 0)
    snprintf(job->wrong, sizeof job->wrong, "line %d: %s", line->number, why);
  job->refused += why && line->record;
  job->unreadable += !line->record;
  if (why)
    return TESELA_OK;
  job->good++;
  tsl_text_add(&job->text, "%s\n", line->text);
  return TESELA_OK;
}

/* Returns an error if the file has no valid record; else prints a notice about lines that were left
 * out. */
static tesela_status judge_import(const char *from, const importing *job) {
  const int bad = job->refused + job->unreadable;
  if (bad > 0 && job->good == 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s: none of its %d line%s is a record that can be taken; %s", from,
                    bad, bad == 1 ? "" : "s", job->wrong);
  if (bad > 0)
    tsl_notice(TSL_LOG_PLAN, "%s: %d line%s left out; %s", from, bad, bad == 1 ? " is" : "s are", job->wrong);
  return tsl_text_status(&job->text);
}

static tesela_status import(const tsl_command_call *call, const char *path) {
  const char *from = call->words[1];
  importing job = {.good = 0};
  tsl_text text = {0};
  tsl_wisdom_merged merged = {0};
  if (call->word_count < 2)
    return tsl_fail(TESELA_BAD_CALL, "import needs the FILE whose records are merged into yours");
  tesela_status status = tsl_wisdom_read(from, false, &text);
  if (status == TESELA_IO_FAILED)
    status = TESELA_BAD_INPUT; /* an input that cannot be opened */
  if (status != TESELA_OK)
    goto out;
  TSL_GO(wisdom_filter_begin(call->options, &job.filter));
  TSL_GO(tsl_wisdom_each(tsl_text_get(&text), import_line, &job));
  TSL_GO(judge_import(from, &job));
  TSL_GO(tsl_wisdom_merge(path, tsl_text_get(&job.text), &merged));
  merged.unreadable = job.refused + job.unreadable;
  status = report_merge(call, path, &merged);
out:
  wisdom_filter_end(&job.filter);
  tsl_text_free(&job.text);
  tsl_text_free(&text);
  return status;
}

static tesela_status wisdom_forget(const tsl_command_call *call, const char *path) {
  const tsl_wisdom_options *given = call->options;
  tsl_wisdom_filter which;
  tsl_text out = {0};
  int count = 0;
  if (given->all == (given->stale || given->devices || given->strategies))
    return tsl_fail(TESELA_BAD_CALL,
                    "forget takes either --all or one or more of --device, --strategy and --stale");
  tesela_status status = wisdom_filter_begin(given, &which);
  if (status == TESELA_OK)
    status = tsl_wisdom_forget(path, wisdom_filter_passes, &which, &count);
  wisdom_filter_end(&which);
  if (status != TESELA_OK)
    return status;
  if (given->json)
    return tsl_print_json(call, json_pack("{s:s, s:i}", "file", path, "removed", count));
  tsl_text_add(&out, "removed %d record%s from %s\n", count, count == 1 ? "" : "s", path);
  return tsl_print(&out);
}

/* --- */

static const struct {
  const char *name;
  tesela_status (*run)(const tsl_command_call *call, const char *path);
  int words_max;
} actions[] = {{"list", wisdom_print_list, 1},
               {"export", export, 2},
               {"import", import, 2},
               {"forget", wisdom_forget, 1}};

static const char *const action_names[] = {"list", "export", "import", "forget", NULL};

static tesela_status wisdom_run(const tsl_command_call *call) {
  tsl_text path = {0};
  int action = 0;
  while (strcmp(actions[action].name, call->words[0]) != 0)
    action++;
  if (call->word_count > actions[action].words_max)
    return tsl_fail(TESELA_BAD_CALL, "too many arguments: \"%s\" is one too many; write tesela wisdom %s",
                    call->words[1], actions[action].name);
  tesela_status status = tsl_wisdom_path(&path);
  if (status == TESELA_OK)
    status = actions[action].run(call, tsl_text_get(&path));
  tsl_text_free(&path);
  return status;
}

const tsl_command tsl_command_wisdom = {
    .name = "wisdom",
    .what = "list, export, import or forget earlier measurements",
    .arguments = "list | export [FILE] | import FILE | forget",
    .details = "The planner prefers earlier measurements to the predictions of its models. Records are lines "
               "of text in TESELA_WISDOM (default: ~/.local/share/tesela/wisdom); docs/WISDOM.md describes "
               "their format.",
    .options = options,
    .examples = examples,
    .choices = action_names,
    .words_min = 1,
    .words_max = 2,
    .options_bytes = sizeof(tsl_wisdom_options),
    .run = wisdom_run,
};
