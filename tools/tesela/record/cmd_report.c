/* tesela report: reads what `tesela run --report FILE.json` wrote. */
#include "cli/tool.h"

#include "core/status.h"
#include "record/record.h"

#include <string.h>

typedef struct report_options {
  bool json;
} report_options;

static const tsl_option options[] = {
    TSL_OPTION_JSON(report_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela run --report a.json -- python3 fit.py && tesela report a.json", "the products of a program"},
    {"tesela report a.json b.json", "what changed between two runs"},
    {NULL, NULL},
};

static tesela_status load(const char *path, json_t **run) {
  json_error_t error;
  *run = json_load_file(path, 0, &error);
  if (!*run)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s", path, error.text);
  if (json_is_array(json_object_get(*run, "products")) && json_is_array(json_object_get(*run, "processes")))
    return TESELA_OK;
  json_decref(*run);
  *run = NULL;
  return tsl_fail(TESELA_BAD_INPUT, "%s is not a report: tesela run --report FILE.json writes one", path);
}

static tesela_status print_run(const tsl_command_call *call, json_t *run, json_t *changes) {
  const report_options *given = call->options;
  tsl_text out = {0};
  if (given->json)
    return tsl_print_json(call, json_incref(changes ? changes : run));
  if (changes)
    tsl_record_changes_text(changes, tsl_output_colour(), tsl_output_width(), &out);
  else
    tsl_record_text(run, tsl_output_colour(), tsl_output_width(), &out);
  return tsl_print(&out);
}

static tesela_status report_run(const tsl_command_call *call) {
  json_t *first = NULL, *second = NULL, *changes = NULL;
  tesela_status status;
  TSL_GO(load(call->words[0], &first));
  if (call->word_count > 1) {
    TSL_GO(load(call->words[1], &second));
    changes = tsl_record_changes(first, second);
  }
  status = print_run(call, first, changes);
out:
  json_decref(first);
  json_decref(second);
  json_decref(changes);
  return status;
}

const tsl_command tsl_command_report = {
    .name = "report",
    .what = "print a recorded run, or what changed between two",
    .arguments = "RUN.json [LATER.json]",
    .details =
        "The files are written by tesela run --report FILE.json (docs/RECORDER.md). Of two runs, products "
        "belong together if routine, type, sizes, layout and scalars are equal. The largest differences "
        "of time come first.\n",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = 2,
    .options_bytes = sizeof(report_options),
    .run = report_run,
};
