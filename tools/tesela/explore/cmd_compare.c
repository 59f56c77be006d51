/* tesela compare: differences between two result files. */
#include "cli/report.h"
#include "cli/tool.h"
#include "core/status.h"
#include "explore/compare.h"
#include "explore/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_options {
  double floor;
  bool force, json, markdown;
} compare_options;

static const tsl_option options[] = {
    TSL_OPTION(compare_options, floor, "floor", FRACTION, "0.03",
               "changes of the median up to this fraction are undecided"),
    TSL_OPTION(compare_options, force, "force", FLAG, NULL,
               "compare also if devices or the state of the caches differ"),
    TSL_OPTION(compare_options, markdown, "markdown", FLAG, NULL, "print Markdown"),
    TSL_OPTION_JSON(compare_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explore --json > old.json", "before a change"},
    {"tesela explore --json > new.json && tesela compare old.json new.json", "after it"},
    {"tesela compare old.json new.json --floor 0.1", "only what changed by more than a tenth"},
    {NULL, NULL},
};

typedef struct compare_comparison {
  const compare_options *given;
  tsl_compare_file before, after;
  tsl_compare_row *rows;
  int row_count, counts[TSL_OUTCOME_COUNT];
} compare_comparison;

/* --- the table --- */

static const tsl_compare_entry *either(const tsl_compare_row *row) {
  return row->after ? row->after : row->before;
}

/* Appends the sizes as explore prints them: as many as the operation has. */
static void compare_add_size(const compare_comparison *job, const tsl_compare_entry *entry, tsl_text *out) {
  if (strcmp(job->after.op, tsl_op_name(TSL_OP_DOT)) == 0)
    tsl_text_add(out, "%lld", (long long)entry->k);
  else
    tsl_text_add(out, "%lld x %lld", (long long)entry->m, (long long)entry->n);
  if (strcmp(job->after.op, tsl_op_name(TSL_OP_GEMM)) == 0)
    tsl_text_add(out, " x %lld", (long long)entry->k);
}

static void add_time(const tsl_compare_entry *entry, tsl_table *table) {
  char text[32];
  if (entry && entry->right)
    tsl_table_add(table, "%s", tsl_format_seconds(entry->seconds, text, sizeof text));
  else
    tsl_table_add_painted(table,
                          entry && strcmp(entry->result, "refused") != 0 ? TSL_PAINT_BAD : TSL_PAINT_FAINT,
                          "%s", entry ? entry->result : "-");
}

/* Adds the config; both configs if the strategy's model now chooses another one. */
static void compare_add_config(const tsl_compare_row *row, tsl_table *table) {
  if (row->before && row->after && strcmp(row->before->config, row->after->config) != 0)
    tsl_table_add(table, "%s (was %s)", row->after->config, row->before->config);
  else
    tsl_table_add(table, "%s", either(row)->config);
}

/* Adds the factor over the partner and the predicted one: "row 3.24, predicted 4.82". */
static void compare_add_partner(const tsl_compare_entry *entry, tsl_table *table) {
  char measured[32], predicted[32];
  if (!entry->right || !*entry->partner)
    tsl_table_add(table, "%s", "");
  else
    tsl_table_add(table, "%s %s, predicted %s%s", entry->partner,
                  tsl_format_number(entry->measured_factor, measured, sizeof measured),
                  tsl_format_number(entry->predicted_factor, predicted, sizeof predicted),
                  strcmp(entry->agreement, "model wrong") == 0 ? ": the model is wrong" : "");
}

static void compare_add_row(const tsl_compare_row *row, tsl_table *table) {
  static const tsl_paint paints[] = {[TSL_OUTCOME_BETTER] = TSL_PAINT_GOOD,
                                     [TSL_OUTCOME_WORSE] = TSL_PAINT_BAD,
                                     [TSL_OUTCOME_UNDECIDED] = TSL_PAINT_FAINT,
                                     [TSL_OUTCOME_MISSING] = TSL_PAINT_STRONG,
                                     [TSL_OUTCOME_ADDED] = TSL_PAINT_STRONG};
  const tsl_compare_entry *entry = either(row);
  char text[32];
  compare_add_config(row, table);
  tsl_table_add(table, "%s", entry->device);
  add_time(row->before, table);
  add_time(row->after, table);
  tsl_table_add(table, "%s", tsl_format_number(row->speedup, text, sizeof text));
  tsl_table_add_painted(table, paints[row->outcome], "%s", tsl_outcome_name(row->outcome));
  compare_add_partner(entry, table);
}

static bool same_group(const tsl_compare_entry *a, const tsl_compare_entry *b) {
  return strcmp(a->type, b->type) == 0 && a->m == b->m && a->n == b->n && a->k == b->k;
}

/* Appends the table for the type and size of row `first`. */
static void compare_add_table(const compare_comparison *job, int first, const tsl_form *form, tsl_text *out) {
  const tsl_compare_entry *group = either(&job->rows[first]);
  tsl_table table = {0};
  tsl_text title = {0};
  TSL_TABLE_COLUMNS(&table, "~strategy", "device", ">old", ">new", ">speed-up", "", "over its partner");
  for (int i = first; i < job->row_count; i++)
    if (same_group(either(&job->rows[i]), group))
      compare_add_row(&job->rows[i], &table);
  tsl_text_add(&title, "%s, %s, ", job->after.op, group->type);
  compare_add_size(job, group, &title);
  tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  tsl_text_free(&title);
  tsl_table_free(&table);
}

static void add_tables(const compare_comparison *job, const tsl_form *form, tsl_text *out) {
  for (int i = 0; i < job->row_count; i++) {
    bool is_first = true;
    for (int before = 0; before < i && is_first; before++)
      is_first = !same_group(either(&job->rows[before]), either(&job->rows[i]));
    if (is_first)
      compare_add_table(job, i, form, out);
  }
}

/* Calls add() for other differences between the files, which may explain a change. */
static void each_note(const compare_comparison *job, void (*add)(void *argument, const char *note),
                      void *argument) {
  const json_t *devices = json_object_get(job->after.json, "devices"),
               *others = json_object_get(job->before.json, "devices");
  for (size_t i = 0; i < json_array_size(devices); i++)
    for (size_t j = 0; j < json_array_size(others); j++) {
      const char *keys[] = {"label", "platform"};
      const json_t *device = json_array_get(devices, i), *other = json_array_get(others, j);
      const char *name = json_string_value(json_object_get(device, "name")),
                 *other_name = json_string_value(json_object_get(other, "name"));
      for (size_t k = 0; name && other_name && strcmp(name, other_name) == 0 && k < 2; k++) {
        const char *is = json_string_value(json_object_get(device, keys[k])),
                   *was = json_string_value(json_object_get(other, keys[k]));
        tsl_text note = {0};
        if (!is || !was || strcmp(is, was) == 0)
          continue;
        tsl_text_add(&note, "The %s of %s was \"%s\" and is \"%s\".", keys[k], name, was, is);
        add(argument, tsl_text_get(&note));
        tsl_text_free(&note);
      }
    }
  const json_t *threads = json_object_get(json_object_get(job->after.json, "machine"), "threads"),
               *were = json_object_get(json_object_get(job->before.json, "machine"), "threads");
  if (threads && were && json_integer_value(threads) != json_integer_value(were)) {
    tsl_text note = {0};
    tsl_text_add(&note, "Host threads were %lld and are %lld.", (long long)json_integer_value(were),
                 (long long)json_integer_value(threads));
    add(argument, tsl_text_get(&note));
    tsl_text_free(&note);
  }
}

typedef struct noting {
  const tsl_form *form;
  tsl_text *out;
} noting;

static void print_note(void *argument, const char *note) {
  const noting *to = argument;
  tsl_form_add_line(to->form, true, note, to->out);
}

/* Appends the reasons of rows that are in one file only. */
static void compare_add_reasons(const compare_comparison *job, const tsl_form *form, tsl_text *out) {
  for (int i = 0; i < job->row_count; i++) {
    const tsl_compare_row *row = &job->rows[i];
    const tsl_compare_entry *reason = row->outcome == TSL_OUTCOME_MISSING                       ? row->after
                                      : row->outcome == TSL_OUTCOME_WORSE && !row->after->right ? row->after
                                                                                                : NULL;
    tsl_text line = {0};
    if (!reason || !*reason->why)
      continue;
    tsl_text_add(&line, "%s on %s, %s, ", reason->config, reason->device, reason->type);
    compare_add_size(job, reason, &line);
    tsl_text_add(&line, ": %s: %s", reason->result, reason->why);
    tsl_form_add_line(form, true, tsl_text_get(&line), out);
    tsl_text_free(&line);
  }
}

static tesela_status compare_print_text(const compare_comparison *job) {
  const tsl_form form = tsl_form_for(job->given->markdown);
  tsl_text out = {0}, sum = {0}, line = {0};
  noting to = {&form, &out};
  tsl_text_add(&line, "%s against %s", job->after.path, job->before.path);
  tsl_form_add_line(&form, false, tsl_text_get(&line), &out);
  tsl_text_add(&out, "\n");
  tsl_text_free(&line);
  add_tables(job, &form, &out);
  compare_add_reasons(job, &form, &out);
  each_note(job, print_note, &to);
  tsl_text_add(&sum, "%d better, %d worse, %d undecided", job->counts[TSL_OUTCOME_BETTER],
               job->counts[TSL_OUTCOME_WORSE], job->counts[TSL_OUTCOME_UNDECIDED]);
  if (job->counts[TSL_OUTCOME_MISSING] > 0)
    tsl_text_add(&sum, ", %d missing", job->counts[TSL_OUTCOME_MISSING]);
  if (job->counts[TSL_OUTCOME_ADDED] > 0)
    tsl_text_add(&sum, ", %d new", job->counts[TSL_OUTCOME_ADDED]);
  tsl_form_add_line(&form, false, tsl_text_get(&sum), &out);
  tsl_text_free(&sum);
  return tsl_print(&out);
}

/* --- JSON --- */

static json_t *json_side(const tsl_compare_entry *entry) {
  if (!entry)
    return json_null();
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:s?, s:o, s:o}", "config", entry->config, "result",
                   entry->result, "why", entry->why, "seconds",
                   tsl_json_real(entry->right ? entry->seconds : NAN), "first_quartile",
                   tsl_json_real(entry->right ? entry->first_quartile : NAN), "third_quartile",
                   tsl_json_real(entry->right ? entry->third_quartile : NAN), "samples", entry->samples,
                   "partner", *entry->partner ? entry->partner : NULL, "measured_factor",
                   tsl_json_real(entry->right ? entry->measured_factor : NAN), "predicted_factor",
                   tsl_json_real(entry->right ? entry->predicted_factor : NAN));
}

static json_t *json_row(const tsl_compare_row *row) {
  const tsl_compare_entry *entry = either(row);
  return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "strategy", entry->strategy,
                   "config", entry->config, "device", entry->device, "type", entry->type, "m",
                   (json_int_t)entry->m, "n", (json_int_t)entry->n, "k", (json_int_t)entry->k, "outcome",
                   tsl_outcome_name(row->outcome), "speedup", tsl_json_real(row->speedup), "old",
                   json_side(row->before), "new", json_side(row->after));
}

static void json_note(void *argument, const char *note) {
  json_array_append_new(argument, json_string(note));
}

static tesela_status compare_print_json(const tsl_command_call *call, const compare_comparison *job) {
  json_t *rows = json_array(), *notes = json_array(), *counts = json_object();
  for (int i = 0; i < job->row_count; i++)
    json_array_append_new(rows, json_row(&job->rows[i]));
  for (int i = 0; i < TSL_OUTCOME_COUNT; i++)
    json_object_set_new(counts, tsl_outcome_name((tsl_outcome)i), json_integer(job->counts[i]));
  each_note(job, json_note, notes);
  return tsl_print_json(call, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "old", job->before.path, "new",
                                        job->after.path, "op", job->after.op, "floor",
                                        tsl_json_real(job->given->floor), "counts", counts, "notes", notes,
                                        "rows", rows));
}

/* --- */

static tesela_status compare_conclude(const compare_comparison *job) {
  const tsl_compare_row *first = NULL;
  for (int i = 0; i < job->row_count && !first; i++)
    first = job->rows[i].outcome == TSL_OUTCOME_WORSE ? &job->rows[i] : NULL;
  if (!first)
    return TESELA_OK;
  return tsl_fail(TESELA_WRONG_RESULT, "%d row%s worse than in %s; the first: %s on %s",
                  job->counts[TSL_OUTCOME_WORSE], job->counts[TSL_OUTCOME_WORSE] == 1 ? " is" : "s are",
                  job->before.path, first->after->config, first->after->device);
}

static tesela_status compare_run(const tsl_command_call *call) {
  compare_comparison job = {.given = call->options};
  tesela_status status = TESELA_OK;
  if (job.given->json && job.given->markdown)
    return tsl_fail(TESELA_BAD_CALL, "--json and --markdown exclude each other");
  TSL_GO(tsl_compare_open(call->words[0], &job.before));
  TSL_GO(tsl_compare_open(call->words[1], &job.after));
  if (!job.given->force)
    TSL_GO(tsl_compare_check(&job.before, &job.after));
  TSL_GO(tsl_compare_rows(&job.before, &job.after, job.given->floor, &job.rows, &job.row_count));
  for (int i = 0; i < job.row_count; i++)
    job.counts[job.rows[i].outcome]++;
  TSL_GO(job.given->json ? compare_print_json(call, &job) : compare_print_text(&job));
  status = compare_conclude(&job);
out:
  free(job.rows);
  tsl_compare_close(&job.before);
  tsl_compare_close(&job.after);
  return status;
}

const tsl_command tsl_command_compare = {
    .name = "compare",
    .what = "compare two files of results: better, worse or undecided, row by row",
    .arguments = "OLD.json NEW.json",
    .details = "The files are outputs of tesela explore --json or tesela sweep --json. Rows belong together "
               "when strategy, config, device, type and sizes are the same. If the strategy's own model "
               "chose the config, the configs may differ.\nA row is better or worse if the quartile ranges "
               "of both files do not overlap and the medians differ by more than --floor. Otherwise, and "
               "with fewer than three samples, it is undecided. A result that was right and now is wrong or "
               "fails is worse. The exit code is 1 when a row is worse.\nFiles from different devices with "
               "one name cannot be compared, nor warm with cold operands, unless --force is given.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(compare_options),
    .run = compare_run,
};
