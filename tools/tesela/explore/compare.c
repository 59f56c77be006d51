#include "explore/compare.h"

#include "core/list_text.h"
#include "core/status.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_FLOOR = 3 };

const char *tsl_outcome_name(tsl_outcome outcome) {
  static const char *const names[] = {TSL_OUTCOME_LIST(TSL_LIST_WORD)};
  return names[outcome];
}

/* --- reading --- */

static const char *compare_text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static double compare_number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Reads the quartiles; older files have only the distance between them. */
static void read_quartiles(const json_t *object, tsl_compare_entry *out) {
  const double half = out->seconds * compare_number_of(object, "spread") / 2;
  out->first_quartile = compare_number_of(object, "first_quartile");
  out->third_quartile = compare_number_of(object, "third_quartile");
  if (isnan(out->first_quartile))
    out->first_quartile = out->seconds - half;
  if (isnan(out->third_quartile))
    out->third_quartile = out->seconds + half;
}

static tesela_status compare_read_entry(const tsl_compare_file *file, int index, const json_t *object,
                                        tsl_compare_entry *out) {
  static const char *const needed[] = {"strategy", "config", "device", "type", "result"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!json_is_string(json_object_get(object, needed[i])))
      return tsl_fail(TESELA_BAD_INPUT, "%s: entry %d has no \"%s\"", file->path, index, needed[i]);
  *out = (tsl_compare_entry){.strategy = compare_text_of(object, "strategy"),
                             .config = compare_text_of(object, "config"),
                             .device = compare_text_of(object, "device"),
                             .type = compare_text_of(object, "type"),
                             .result = compare_text_of(object, "result"),
                             .why = compare_text_of(object, "why"),
                             .m = json_integer_value(json_object_get(object, "m")),
                             .n = json_integer_value(json_object_get(object, "n")),
                             .k = json_integer_value(json_object_get(object, "k")),
                             .seconds = NAN,
                             .partner = compare_text_of(object, "partner"),
                             .agreement = compare_text_of(object, "agreement"),
                             .measured_factor = compare_number_of(object, "measured_factor"),
                             .predicted_factor = compare_number_of(object, "predicted_factor")};
  out->right = strcmp(out->result, "right") == 0;
  if (!out->right)
    return TESELA_OK;
  out->seconds = compare_number_of(object, "seconds");
  out->samples = (int)json_integer_value(json_object_get(object, "samples"));
  if (isnan(out->seconds) || out->seconds < 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s: entry %d is right and has no \"seconds\"", file->path, index);
  read_quartiles(object, out);
  return TESELA_OK;
}

static tesela_status compare_load(const char *path, json_t **out) {
  json_error_t error;
  FILE *file = fopen(path, "re");
  if (!file)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s", path, strerror(errno));
  *out = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
  fclose(file);
  return *out ? TESELA_OK
              : tsl_fail(TESELA_BAD_INPUT, "%s: line %d, column %d: %s", path, error.line, error.column,
                         error.text);
}

tesela_status tsl_compare_open(const char *path, tsl_compare_file *out) {
  *out = (tsl_compare_file){.path = path};
  TSL_TRY(compare_load(path, &out->json));
  const json_t *entries = json_object_get(out->json, "entries");
  out->command = compare_text_of(out->json, "command");
  out->op = compare_text_of(out->json, "op");
  if (!*out->op)
    out->op = tsl_op_name(TSL_OP_GEMM);
  if (!json_is_array(entries) || (strcmp(out->command, "explore") != 0 && strcmp(out->command, "sweep") != 0))
    return tsl_fail(TESELA_BAD_INPUT, "%s: is not what tesela explore --json or tesela sweep --json prints",
                    path);
  out->entries = calloc(json_array_size(entries) + 1, sizeof *out->entries);
  if (!out->entries)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to read %s", path);
  for (size_t i = 0; i < json_array_size(entries); i++)
    TSL_TRY(compare_read_entry(out, (int)i, json_array_get(entries, i), &out->entries[out->count++]));
  return TESELA_OK;
}

void tsl_compare_close(tsl_compare_file *file) {
  json_decref(file->json);
  free(file->entries);
  *file = (tsl_compare_file){0};
}

/* --- whether they may be compared --- */

/* Returns the object of a list whose member `key` is `value`, or NULL. */
static const json_t *compare_find(const json_t *list, const char *key, const char *value) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (strcmp(compare_text_of(json_array_get(list, i), key), value) == 0)
      return json_array_get(list, i);
  return NULL;
}

static tesela_status check_labels(const tsl_compare_file *before, const tsl_compare_file *after) {
  const json_t *old_devices = json_object_get(before->json, "devices"),
               *new_devices = json_object_get(after->json, "devices");
  for (size_t i = 0; i < json_array_size(new_devices); i++) {
    const json_t *device = json_array_get(new_devices, i);
    const char *name = compare_text_of(device, "name");
    const json_t *other = compare_find(old_devices, "name", name);
    if (other && strcmp(compare_text_of(other, "label"), compare_text_of(device, "label")) != 0)
      return tsl_fail(
          TESELA_BAD_INPUT,
          "%s is \"%s\" in %s and \"%s\" in %s, which is another device; --force compares all the "
          "same",
          name, compare_text_of(other, "label"), before->path, compare_text_of(device, "label"), after->path);
  }
  return TESELA_OK;
}

/* Returns "warm" or "cold" of the first race that ran, since it is equal for all; "" if the file
 * does not say. */
static const char *asked_warm(const tsl_compare_file *file) {
  const json_t *warm = json_object_get(json_object_get(file->json, "options"), "warm");
  return !warm ? "" : json_is_true(warm) ? "warm" : "cold";
}

tesela_status tsl_compare_check(const tsl_compare_file *before, const tsl_compare_file *after) {
  const char *old_state = asked_warm(before), *new_state = asked_warm(after);
  if (strcmp(before->op, after->op) != 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s is about %s and %s about %s; there is nothing to compare",
                    before->path, before->op, after->path, after->op);
  if (*old_state && *new_state && strcmp(old_state, new_state) != 0)
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s was measured on %s operands and %s on %s ones; --force compares all the same",
                    before->path, old_state, after->path, new_state);
  return check_labels(before, after);
}

/* --- rows --- */

static bool compare_same_problem(const tsl_compare_entry *a, const tsl_compare_entry *b) {
  return strcmp(a->strategy, b->strategy) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(a->type, b->type) == 0 && a->m == b->m && a->n == b->n && a->k == b->k;
}

/* Returns the number of entries with this entry's strategy, problem and device. */
static int count_like(const tsl_compare_file *file, const tsl_compare_entry *like) {
  int count = 0;
  for (int i = 0; i < file->count; i++)
    count += compare_same_problem(&file->entries[i], like);
  return count;
}

/* Returns the index of the old entry that matches a new one, or -1. Configs must be equal, unless
 * the strategy has one entry in each file: then its model chose the config. */
static int partner(const tsl_compare_file *before, const tsl_compare_file *after,
                   const tsl_compare_entry *entry, const bool *taken) {
  for (int i = 0; i < before->count; i++)
    if (!taken[i] && compare_same_problem(&before->entries[i], entry) &&
        strcmp(before->entries[i].config, entry->config) == 0)
      return i;
  if (strcmp(before->command, "explore") != 0 || strcmp(after->command, "explore") != 0 ||
      count_like(before, entry) != 1 || count_like(after, entry) != 1)
    return -1;
  for (int i = 0; i < before->count; i++)
    if (!taken[i] && compare_same_problem(&before->entries[i], entry))
      return i;
  return -1;
}

static bool is_bad(const tsl_compare_entry *entry) {
  return strcmp(entry->result, "wrong") == 0 || strcmp(entry->result, "failed") == 0;
}

static tsl_outcome decide_times(const tsl_compare_entry *before, const tsl_compare_entry *after,
                                double floor) {
  if (before->samples < SAMPLES_FLOOR || after->samples < SAMPLES_FLOOR)
    return TSL_OUTCOME_UNDECIDED;
  if (after->third_quartile < before->first_quartile && before->seconds > (1 + floor) * after->seconds)
    return TSL_OUTCOME_BETTER;
  if (after->first_quartile > before->third_quartile && after->seconds > (1 + floor) * before->seconds)
    return TSL_OUTCOME_WORSE;
  return TSL_OUTCOME_UNDECIDED;
}

/* Sets the outcome of a row; returns false if neither entry has a result. */
static bool compare_decide(const tsl_compare_entry *before, const tsl_compare_entry *after, double floor,
                           tsl_compare_row *row) {
  const bool was = before && (before->right || is_bad(before)), is = after && (after->right || is_bad(after));
  *row = (tsl_compare_row){.before = before, .after = after, .speedup = NAN};
  if (!was && !is)
    return false;
  if (!was || !is)
    row->outcome = was ? TSL_OUTCOME_MISSING : TSL_OUTCOME_ADDED;
  else if (before->right && after->right) {
    row->speedup = before->seconds / after->seconds;
    row->outcome = decide_times(before, after, floor);
  } else if (before->right != after->right)
    row->outcome = after->right ? TSL_OUTCOME_BETTER : TSL_OUTCOME_WORSE;
  return true;
}

tesela_status tsl_compare_rows(const tsl_compare_file *before, const tsl_compare_file *after, double floor,
                               tsl_compare_row **rows, int *count) {
  bool *taken = calloc((size_t)before->count + 1, sizeof *taken);
  *rows = calloc((size_t)(before->count + after->count) + 1, sizeof **rows);
  *count = 0;
  if (!taken || !*rows) {
    free(taken);
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to compare %d rows", before->count + after->count);
  }
  for (int i = 0; i < after->count; i++) {
    const int other = partner(before, after, &after->entries[i], taken);
    if (other >= 0)
      taken[other] = true;
    *count += compare_decide(other >= 0 ? &before->entries[other] : NULL, &after->entries[i], floor,
                             &(*rows)[*count]);
  }
  for (int i = 0; i < before->count; i++)
    if (!taken[i])
      *count += compare_decide(&before->entries[i], NULL, floor, &(*rows)[*count]);
  free(taken);
  return TESELA_OK;
}
