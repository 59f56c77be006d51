#include "inventory/ladder_results.h"

#include "cli/options.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/status.h"
#include "strategy/strategy_list.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

static const char *ladder_results_text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static double ladder_results_number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static tesela_status ladder_results_load(const char *path, json_t **out) {
  json_error_t error;
  *out = json_load_file(path, 0, &error);
  if (!*out)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s (line %d)", path, error.text, error.line);
  if (strcmp(ladder_results_text_of(*out, "command"), "explore") == 0 &&
      json_is_array(json_object_get(*out, "entries")) && json_is_array(json_object_get(*out, "devices")))
    return TESELA_OK;
  json_decref(*out);
  *out = NULL;
  return tsl_fail(TESELA_BAD_INPUT, "%s is not what tesela explore --json prints", path);
}

/* --- the best entry of a strategy on a device --- */

/* Returns the rate of an entry: operations per second of a product, bytes per second of other
 * operations. */
static double ladder_results_rate_of(const json_t *entry, const char *type, bool is_gemm) {
  const double rate = ladder_results_number_of(entry, is_gemm ? "flops_per_second" : "bytes_per_second");
  return strcmp(ladder_results_text_of(entry, "result"), "right") == 0 &&
                 strcmp(ladder_results_text_of(entry, "type"), type) == 0
             ? rate
             : NAN;
}

/* Returns the type of the next table after `last` (NULL: of the first); NULL: no more. Only f32 if
 * it was measured. */
static const char *next_type(const json_t *entries, const char *last, bool is_gemm) {
  const json_t *entry;
  const char *next = NULL;
  size_t i;
  json_array_foreach(entries, i, entry) {
    const char *type = ladder_results_text_of(entry, "type");
    if (isnan(ladder_results_rate_of(entry, type, is_gemm)))
      continue;
    if (strcmp(type, "f32") == 0)
      return last ? NULL : type;
    if ((!last || strcmp(type, last) > 0) && (!next || strcmp(type, next) < 0))
      next = type;
  }
  return next;
}

static const json_t *ladder_results_best_of(const json_t *entries, const char *strategy, const char *device,
                                            const char *type, bool is_gemm) {
  const json_t *best = NULL, *entry;
  size_t i;
  json_array_foreach(entries, i, entry) {
    if (strcmp(ladder_results_text_of(entry, "strategy"), strategy) != 0 ||
        strcmp(ladder_results_text_of(entry, "device"), device) != 0)
      continue;
    const double rate = ladder_results_rate_of(entry, type, is_gemm);
    if (!isnan(rate) && (!best || rate > ladder_results_rate_of(best, type, is_gemm)))
      best = entry;
  }
  return best;
}

/* Appends "4096" for a square, "4096 x 64 x 64" otherwise, or the length of a dot product. */
static void ladder_results_add_size(const json_t *entry, tsl_text *out) {
  const double m = ladder_results_number_of(entry, "m"), n = ladder_results_number_of(entry, "n"),
               k = ladder_results_number_of(entry, "k");
  if (m == 1 && n == 1)
    tsl_text_add(out, "%.0f", k);
  else if (m == n && (k == m || k == 0))
    tsl_text_add(out, "%.0f", m);
  else if (k == 0)
    tsl_text_add(out, "%.0f x %.0f", m, n);
  else
    tsl_text_add(out, "%.0f x %.0f x %.0f", m, n, k);
}

static void ladder_results_add_cell(const json_t *entry, const char *type, bool is_gemm, tsl_table *table) {
  tsl_text cell = {0};
  char number[32];
  if (entry) {
    tsl_text_add(
        &cell, "%s at ",
        tsl_format_number(ladder_results_rate_of(entry, type, is_gemm) / 1e9, number, sizeof number));
    ladder_results_add_size(entry, &cell);
  }
  tsl_table_add(table, "%s", tsl_text_get(&cell));
  tsl_text_free(&cell);
}

/* --- the document --- */

static void ladder_results_add_rows(const json_t *result, tsl_op op, const char *type, tsl_table *table) {
  const json_t *entries = json_object_get(result, "entries"), *devices = json_object_get(result, "devices");
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    bool any = false;
    const json_t *device;
    size_t d;
    json_array_foreach(devices, d, device) {
      any |= ladder_results_best_of(entries, strategy->name, ladder_results_text_of(device, "name"), type,
                                    op == TSL_OP_GEMM) != NULL;
    }
    if (strategy->op != op || !any)
      continue;
    tsl_table_add(table, "`%s`", strategy->name);
    json_array_foreach(devices, d, device) {
      ladder_results_add_cell(ladder_results_best_of(entries, strategy->name,
                                                     ladder_results_text_of(device, "name"), type,
                                                     op == TSL_OP_GEMM),
                              type, op == TSL_OP_GEMM, table);
    }
  }
}

static void ladder_results_add_table(const json_t *result, tsl_op op, const char *type, tsl_text *out) {
  const json_t *device;
  size_t d;
  tsl_table table = {0};
  tsl_text_add(out, "### %s, %s, %s\n\n", tsl_op_name(op), type, op == TSL_OP_GEMM ? "GFLOP/s" : "GB/s");
  tsl_table_column(&table, "strategy", TSL_ALIGN_LEFT, false);
  json_array_foreach(json_object_get(result, "devices"), d, device) {
    tsl_table_column(&table, ladder_results_text_of(device, "name"), TSL_ALIGN_RIGHT, false);
  }
  ladder_results_add_rows(result, op, type, &table);
  tsl_table_markdown(&table, out);
  tsl_text_add(out, "\n");
  out->failed |= table.failed;
  tsl_table_free(&table);
}

/* Appends the tables of a result file: for f32, else for each measured type. */
static void ladder_results_add_result(const json_t *result, const char *path, tsl_text *out) {
  const json_t *device, *entries = json_object_get(result, "entries");
  const char *type = NULL;
  size_t d;
  int op = 0;
  while (op < TSL_OP_COUNT && strcmp(tsl_op_name((tsl_op)op), ladder_results_text_of(result, "op")) != 0)
    op++;
  if (op == TSL_OP_COUNT || !next_type(entries, NULL, op == TSL_OP_GEMM))
    return;
  while ((type = next_type(entries, type, op == TSL_OP_GEMM)) != NULL)
    ladder_results_add_table(result, (tsl_op)op, type, out);
  tsl_text_add(out, "%.10s, commit %.12s, [%s](../%s). ", ladder_results_text_of(result, "date"),
               ladder_results_text_of(result, "revision"), path, path);
  json_array_foreach(json_object_get(result, "devices"), d, device) {
    tsl_text_add(out, "%s%s: %s, %s", d ? "; " : "", ladder_results_text_of(device, "name"),
                 ladder_results_text_of(device, "label"), ladder_results_text_of(device, "platform"));
  }
  tsl_text_add(out, ".\n\n");
}

tesela_status tsl_ladder_results(const char *files, tsl_text *out) {
  char *path;
  tesela_status status = TESELA_OK;
  if (!files)
    return TESELA_OK;
  tsl_text_add(out, "## Measured\n\nThe best rate of each strategy over its configs and sizes, in f32 where "
                    "that was measured, and "
                    "the size where it was "
                    "reached; operands on the device and past its caches, every entry verified first "
                    "([MEASURING.md](MEASURING.md)).\n\n");
  while (status == TESELA_OK && (status = tsl_list_next(&files, &path)) == TESELA_OK && path) {
    json_t *result = NULL;
    status = ladder_results_load(path, &result);
    if (status == TESELA_OK)
      ladder_results_add_result(result, path, out);
    json_decref(result);
    free(path);
  }
  return status;
}
