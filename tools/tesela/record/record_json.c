#include "record/record.h"

#include "cli/language.h"
#include "cli/report.h"
#include "core/types.h"
#include "page/page_data.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct {
  unsigned property;
  const char *name;
} seen_names[] = {
    {TSL_SEEN_A_SYMMETRIC, "a_symmetric"}, {TSL_SEEN_B_SYMMETRIC, "b_symmetric"},
    {TSL_SEEN_A_LOWER, "a_lower"},         {TSL_SEEN_A_UPPER, "a_upper"},
    {TSL_SEEN_B_LOWER, "b_lower"},         {TSL_SEEN_B_UPPER, "b_upper"},
    {TSL_SEEN_TRANSPOSED, "transposed"},   {TSL_SEEN_SINGLE, "numbers_of_f32"},
};

/* Returns a text of the program's as JSON. Names of files and arguments need not be UTF-8. */
static json_t *json_clean(const char *text) {
  tsl_text clean = {0};
  tsl_page_clean(text, &clean);
  json_t *string = json_string(tsl_text_get(&clean));
  tsl_text_free(&clean);
  return string;
}

static json_t *json_numbers(const int64_t *numbers, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, json_integer((json_int_t)numbers[i]));
  return list;
}

static json_t *json_alignment(const tsl_calls_key *key) {
  int64_t bytes[TSL_CALLS_OPERANDS];
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++)
    bytes[i] = key->align[i] > 0 ? (int64_t)1 << key->align[i] : 0;
  return json_numbers(bytes, TSL_CALLS_OPERANDS);
}

static json_t *json_seen(const tsl_calls_row *row) {
  json_t *list = json_array();
  for (size_t i = 0; row->samples > 0 && i < sizeof seen_names / sizeof *seen_names; i++)
    if (row->seen & seen_names[i].property)
      json_array_append_new(list, json_string(seen_names[i].name));
  return list;
}

/* Returns the layout's letters, without letters that the routine lacks. */
static json_t *json_layout(const tsl_calls_key *key) {
  char text[sizeof key->layout + 1];
  size_t used = 0;
  for (size_t i = 0; i < sizeof key->layout; i++)
    if (key->layout[i])
      text[used++] = key->layout[i];
  return json_stringn(text, used);
}

static json_t *product_json(const tsl_recorded *recorded, double whole) {
  const tsl_calls_row *row = &recorded->row;
  const tsl_calls_key *key = &row->key;
  const tsl_type_info *type = tsl_type((tesela_type)key->type);
  const bool is_product = key->sizes == TSL_CALLS_SIZES;
  json_t *object =
      json_pack("{s:s, s:s, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:i}", "routine", row->name, "type",
                type ? type->name : "", "least", json_numbers(row->least, key->sizes), "most",
                json_numbers(row->most, key->sizes), "calls", (json_int_t)row->calls, "seconds",
                tsl_json_real(row->seconds), "fastest_seconds", tsl_json_real(row->fastest),
                "flops_per_second", tsl_json_real(row->flops > 0 ? row->flops / row->seconds : NAN), "share",
                tsl_json_real(whole > 0 ? row->seconds / whole : 0), "computed_by", json_clean(row->who),
                "why", row->why, "callers", recorded->callers);
  if (!object || !is_product)
    return object;
  const int beta = key->beta;
  json_t *more = json_pack("{s:I, s:o, s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o}",
                           "count", (json_int_t)key->count, "layout", json_layout(key), "leading_dimensions",
                           json_numbers(key->ld, TSL_CALLS_OPERANDS), "alignment", json_alignment(key),
                           "beta", beta == 2 ? json_null() : json_integer(beta), "same_factors",
                           key->same != 0, "followed", (json_int_t)row->followed, "strided",
                           (json_int_t)row->strided, "same_a", (json_int_t)row->same_a, "same_b",
                           (json_int_t)row->same_b, "continued", (json_int_t)row->continued, "distances",
                           json_numbers(row->distance, TSL_CALLS_OPERANDS), "concurrent",
                           tsl_json_real(row->looks > 0 ? 1 + (double)row->others / (double)row->looks : 1),
                           "samples", (json_int_t)row->samples, "seen", json_seen(row));
  json_object_update(object, more);
  json_decref(more);
  return object;
}

static json_t *process_json(const tsl_recorded_process *process) {
  return json_pack("{s:I, s:I, s:o, s:o, s:o, s:b, s:I, s:o, s:i, s:I}", "process",
                   (json_int_t)process->process, "parent", (json_int_t)process->parent, "program",
                   json_clean(process->program), "library", json_clean(process->library), "seconds",
                   tsl_json_real(process->seconds), "exited", process->has_ended, "calls",
                   (json_int_t)process->calls, "call_seconds", tsl_json_real(process->call_seconds),
                   "callers", process->callers, "lost", (json_int_t)process->lost);
}

static json_t *trial_json(const tsl_advice *advice) {
  if (!advice->is_tried)
    return json_null();
  return json_pack("{s:o, s:o, s:o, s:I, s:o}", "seconds_without", tsl_json_real(advice->without),
                   "seconds_with", tsl_json_real(advice->with), "gain",
                   tsl_json_real(advice->without / advice->with), "calls", (json_int_t)advice->repeats,
                   "error", tsl_json_real(advice->error));
}

static json_t *advice_json(const tsl_advice *advice) {
  return json_pack("{s:s, s:i, s:i, s:o, s:s, s:o, s:o, s:o}", "advice", tsl_advice_name(advice->kind),
                   "product", advice->product, "alike", advice->alike, "seconds",
                   tsl_json_real(advice->seconds), "text", advice->text, "most_gain",
                   tsl_json_real(advice->most), "saved_seconds", tsl_json_real(tsl_advice_saved(advice)),
                   "trial", trial_json(advice));
}

/* An advice that was measured to gain less is a note. */
static const double least_gain = 1.05;

static bool is_worth_it(const tsl_advice *advice) {
  return !advice->is_tried || tsl_advice_gain(advice) >= least_gain;
}

static void add_note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_note(json_t *notes, const char *format, ...) {
  tsl_text text = {0};
  va_list arguments;
  va_start(arguments, format);
  tsl_text_add_arguments(&text, format, arguments);
  va_end(arguments);
  json_array_append_new(notes, json_clean(tsl_text_get(&text)));
  tsl_text_free(&text);
}

static json_t *notes_json(const tsl_run_record *recording, const tsl_advice_list *advice) {
  json_t *notes = json_array();
  if (recording->calls == 0)
    add_note(
        notes,
        N_("No call was seen. Calls inside of one library, such as oneDNN or a BLAS that exports no names, "
           "reach no name that tesela can serve."));
  if (recording->lost > 0)
    add_note(notes, N_("Threads without room for their calls: %lld."), (long long)recording->lost);
  if (recording->unreadable > 0)
    add_note(notes, N_("Files of calls that could not be read: %d."), recording->unreadable);
  for (int i = 0; i < recording->process_count; i++)
    if (!recording->processes[i].has_ended)
      add_note(notes,
               N_("Process %lld (%s) did not end by exit(): its time is counted to the end of the run."),
               (long long)recording->processes[i].process, recording->processes[i].program);
  for (int i = 0; i < advice->count; i++)
    if (!is_worth_it(&advice->items[i]))
      add_note(notes, N_("Tried for product %d and measured %.3g times as fast, not listed as advice: %s"),
               advice->items[i].product + 1, tsl_advice_gain(&advice->items[i]), advice->items[i].text);
  return notes;
}

static json_t *date_json(void) {
  char text[32];
  struct tm parts;
  const time_t now = time(NULL);
  gmtime_r(&now, &parts);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return json_string(text);
}

json_t *tsl_record_json(const tsl_run_record *recording, const tsl_advice_list *advice, const char *command,
                        int exit_code) {
  const double whole = tsl_run_record_whole(recording);
  json_t *products = json_array(), *processes = json_array(), *advices = json_array(),
         *libraries = json_array();
  for (int i = 0; i < recording->count; i++)
    json_array_append_new(products, product_json(&recording->products[i], whole));
  for (int i = 0; i < recording->process_count; i++)
    json_array_append_new(processes, process_json(&recording->processes[i]));
  for (int i = 0; i < advice->count; i++)
    if (is_worth_it(&advice->items[i]))
      json_array_append_new(advices, advice_json(&advice->items[i]));
  for (int i = 0; i < TSL_CALLS_LIBRARIES && recording->libraries[i][0]; i++)
    json_array_append_new(libraries, json_clean(recording->libraries[i]));
  const tsl_recorded *first = recording->count > 0 ? recording->products : NULL;
  return json_pack("{s:o, s:o, s:i, s:o, s:I, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "program",
                   json_clean(command), "date", date_json(), "exit_code", exit_code, "seconds",
                   tsl_json_real(recording->seconds), "calls", (json_int_t)recording->calls, "call_seconds",
                   tsl_json_real(recording->call_seconds), "rest_share",
                   tsl_json_real(whole > 0 ? 1 - recording->call_seconds / whole : 1), "processors",
                   first ? first->processors : 0, "threads", first ? first->threads : 0, "libraries",
                   libraries, "products", products, "advice", advices, "notes", notes_json(recording, advice),
                   "processes", processes);
}
