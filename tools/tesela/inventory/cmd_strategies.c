/* tesela strategies: lists and documents the strategies. The output depends on the source and on
 * the named result files, not on the machine. */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/tool.h"
#include "core/status.h"
#include "core/text.h"
#include "inventory/select.h"
#include "inventory/strategy_limits.h"
#include "inventory/strategy_page.h"
#include "lab/lab_program.h"
#include "strategy/strategy_list.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads results of tesela explore --json for the document of all strategies. */
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

/* Appends "## Measured": for each operation in the files a table of strategies and devices, with
 * the best f32 rate and its size. The devices and dates follow. `files`: paths separated by commas;
 * NULL: appends nothing. Returns TESELA_BAD_INPUT and names the file if it holds no such result. */
static tesela_status ladder_results(const char *files, tsl_text *out) {
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

typedef struct strategies_options {
  const char *results, *device, *program, *output;
  tesela_type type;
  bool json, markdown, source, all;
} strategies_options;

static const tsl_option options[] = {
    TSL_OPTION(strategies_options, markdown, "markdown", FLAG, NULL, "print Markdown (docs/LADDER.md)"),
    TSL_OPTION(strategies_options, results, "results", TEXT, NULL,
               "with --markdown: show the best rates of these files; comma-separated files of tesela explore "
               "--json"),
    TSL_OPTION(strategies_options, source, "source", FLAG, NULL,
               "print the kernels of one strategy, after the parameters' definitions"),
    TSL_OPTION(strategies_options, all, "all", FLAG, NULL,
               "with --source: print the whole text that the compiler gets, with the included files"),
    TSL_OPTION(
        strategies_options, device, "device", DEVICE, NULL,
        "with --source: for this device; the default is the first device that compiles kernels; cuda:0 and "
        "opencl:0 need no such device"),
    TSL_OPTION(strategies_options, type, "type", TYPE, "f32", "with --source or --program: for this type"),
    TSL_OPTION(strategies_options, program, "program", TEXT, NULL,
               "print one program of host and plain kernel, as courses have it; opencl, cuda or c"),
    {"output", 'o', TSL_VALUE_FILE, NULL, "with --program: write this file",
     offsetof(strategies_options, output)},
    TSL_OPTION_JSON(strategies_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela strategies", "every strategy, the rungs of the courses first"},
    {"tesela strategies tile_local", "one strategy: idea, picture, parameters, limits"},
    {"tesela strategies tile_local tile=4 --source --device cuda:0", "its kernel; no such device is needed"},
    {"tesela strategies tile_local --program opencl -o lab4.c", "a program to compile: cc lab4.c -lOpenCL"},
    {"tesela strategies --markdown --results result.json > ladder.md",
     "the strategies as a document, with measured rates"},
    {NULL, NULL},
};

static void strategies_add_word(void *argument, const char *word) {
  tsl_text *text = argument;
  tsl_text_add(text, "%s%s", text->length ? ", " : "", word);
}

static void strategies_add_types(const tsl_strategy *strategy, tsl_text *text) {
  const tsl_type_info *type;
  if (strategy->supports.types == tsl_types_all) {
    strategies_add_word(text, "all");
    return;
  }
  for (int i = 0; (type = tsl_type_at(i)) != NULL; i++)
    if (tsl_strategy_takes(strategy, type->type))
      strategies_add_word(text, type->name);
}

static void strategies_add_values(const tsl_strategy *strategy, int index, tsl_text *text) {
  const tsl_param *param = &strategy->params[index];
  const tsl_range *range = &strategy->tuning.ranges[index];
  const int listed = tsl_param_values(param);
  for (int i = 0; i < listed; i++) {
    tsl_text_add(text, "%s", i ? " " : "");
    tsl_param_print_value(strategy, index, param->values[i], text);
    tsl_text_add(text, "%s", param->values[i] == param->fallback ? "*" : "");
  }
  if (listed == 0)
    tsl_text_add(text, "%lld*", (long long)param->fallback);
  if (range->max == INT64_MAX)
    tsl_text_add(text, "; by name %lld or more", (long long)range->min);
  else if (range->max > 0)
    tsl_text_add(text, "; by name %lld to %lld", (long long)range->min, (long long)range->max);
}

/* The two groups: tesela's own strategies, which have a rung, and strategies that call a vendor's
 * library. */
typedef struct strategies_listing {
  bool vendors;
  int index; /* index of the next strategy to list */
} strategies_listing;

static const tsl_strategy *next_of(strategies_listing *group) {
  const tsl_strategy *strategy;
  while ((strategy = tsl_strategy_at(group->index++)) != NULL)
    if ((strategy->vendor.load != NULL) == group->vendors)
      return strategy;
  return NULL;
}

/* Adds the columns with the idea of each strategy; `code`: for a document, which is wider than a terminal. */
static void idea_columns(const strategies_listing *group, bool code, tsl_table *table) {
  tsl_table_column(table, "op", TSL_ALIGN_LEFT, false);
  if (!group->vendors)
    tsl_table_column(table, "rung", TSL_ALIGN_RIGHT, false);
  TSL_TABLE_COLUMNS(table, "strategy", "~idea");
  if (!group->vendors && code)
    tsl_table_column(table, "partner", TSL_ALIGN_LEFT, false);
  if (!group->vendors)
    tsl_table_column(table, "limit that it removes", TSL_ALIGN_LEFT, true);
}

static void idea_cells(const tsl_strategy *strategy, bool code, tsl_table *table) {
  tsl_table_add(table, "%s", tsl_op_name(strategy->op));
  if (!strategy->vendor.load)
    tsl_table_add(table, strategy->rung > 0 ? "%d" : "-", strategy->rung);
  tsl_table_add(table, code ? "`%s`" : "%s", strategy->name);
  tsl_table_add(table, "%s", strategy->idea);
  if (!strategy->vendor.load && code)
    tsl_table_add(table, strategy->partner ? "`%s`" : "%s", strategy->partner ? strategy->partner : "-");
  if (!strategy->vendor.load)
    tsl_table_add(table, "%s", strategy->lifts ? strategy->lifts : "-");
}

/* Adds the columns with types, requirements and accuracy. */
static void terms_columns(tsl_table *table) {
  TSL_TABLE_COLUMNS(table, "~types", "~bound", "~parameters", "~needs");
}

static void terms_cells(const tsl_strategy *strategy, tsl_table *table) {
  tsl_text needs = {0}, types = {0}, params = {0};
  char factor[32];
  tsl_strategy_each_need(strategy, strategies_add_word, &needs);
  strategies_add_types(strategy, &types);
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    strategies_add_word(&params, strategy->params[i].name);
  const tsl_accuracy accuracy = tsl_strategy_accuracy(strategy);
  tsl_table_add(table, "%s", tsl_text_get(&types));
  if (accuracy.factor == 0)
    tsl_table_add(table, "every bit kept");
  else
    tsl_table_add(table, "%s%s u%s", accuracy.is_correctly_rounded ? "rounded once, " : "",
                  tsl_format_number(accuracy.factor, factor, sizeof factor),
                  accuracy.is_reproducible ? "" : ", bits vary");
  tsl_table_add(table, "%s", params.length ? tsl_text_get(&params) : "-");
  tsl_table_add(table, "%s", needs.length ? tsl_text_get(&needs) : "any device");
  tsl_text_free(&needs);
  tsl_text_free(&types);
  tsl_text_free(&params);
}

/* Adds the parameters of one strategy, or of all if `only` is NULL. */
static void param_table(const tsl_strategy *only, tsl_table *table, bool code) {
  TSL_TABLE_COLUMNS(table, "op", "strategy", "parameter", "~values", "~what it is");
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    for (int p = 0; p < (only && only != strategy ? 0 : tsl_strategy_params(strategy)); p++) {
      tsl_text values = {0};
      strategies_add_values(strategy, p, &values);
      tsl_table_add(table, "%s", tsl_op_name(strategy->op));
      tsl_table_add(table, code ? "`%s`" : "%s", strategy->name);
      tsl_table_add(table, code ? "`%s`" : "%s", strategy->params[p].name);
      tsl_table_add(table, "%s", tsl_text_get(&values));
      tsl_table_add(table, "%s", strategy->params[p].what);
      tsl_text_free(&values);
    }
}

static const char explanation[] =
    "bound: |error| <= bound (|alpha||A||B| + |beta||C|) for each element at k = 1000; u is the unit "
    "roundoff of C's type. On one device every run has the same bits, unless \"bits vary\".";
static const char peers_explanation[] =
    "Vendors' libraries, loaded at run time if installed, for comparison. They run only on request: by name, "
    "with --peers (explore, check), or with TESELA_VENDORS=1.";
static const char values_title[] = "Parameters, as in --strategy \"tile_local tile=16\" (* is the default)";

static void add_markdown(bool vendors, tsl_text *out) {
  strategies_listing group = {.vendors = vendors};
  tsl_table table = {0};
  const tsl_strategy *strategy;
  idea_columns(&group, true, &table);
  terms_columns(&table);
  while ((strategy = next_of(&group)) != NULL) {
    idea_cells(strategy, true, &table);
    terms_cells(strategy, &table);
  }
  tsl_table_markdown(&table, out);
  out->failed |= table.failed;
  tsl_table_free(&table);
}

static tesela_status print_markdown(const char *results) {
  tsl_table params = {0};
  tsl_text out = {0}, measured = {0};
  const tesela_status status = ladder_results(results, &measured);
  if (status != TESELA_OK) {
    tsl_text_free(&measured);
    return status;
  }
  param_table(NULL, &params, true);
  tsl_text_add(&out,
               "# The ladder\n\nAfter this page you know every strategy: its idea, the limit that it "
               "removes, the types that it supports, and its speed. The\nrungs of the courses come first; "
               "`tesela strategies NAME` draws one. Generated by `ci/ladder.sh`.\n\n");
  add_markdown(false, &out);
  tsl_text_add(&out, "\n%s\n\n%s## Peers\n\n%s\n\n", explanation, tsl_text_get(&measured), peers_explanation);
  tsl_text_free(&measured);
  add_markdown(true, &out);
  tsl_text_add(&out,
               "\n## Parameters\n\nAs in `--strategy \"tile_local tile=16\"`; the default has a star.\n\n");
  tsl_table_markdown(&params, &out);
  out.failed |= params.failed;
  tsl_table_free(&params);
  return tsl_print(&out);
}

static void strategies_add_table(tsl_table *table, tsl_text *out) {
  tsl_table_text(table, 0, tsl_output_width(), tsl_output_colour(), out);
  tsl_text_add(out, "\n");
  out->failed |= table->failed;
  tsl_table_free(table);
}

/* Appends two tables, since a table with all columns is too wide for a terminal. */
static void add_group(bool vendors, tsl_text *out) {
  strategies_listing group = {.vendors = vendors};
  tsl_table ideas = {0}, terms = {0};
  const tsl_strategy *strategy;
  idea_columns(&group, false, &ideas);
  tsl_table_column(&terms, "strategy", TSL_ALIGN_LEFT, false);
  terms_columns(&terms);
  while ((strategy = next_of(&group)) != NULL) {
    idea_cells(strategy, false, &ideas);
    tsl_table_add(&terms, "%s", strategy->name);
    terms_cells(strategy, &terms);
  }
  strategies_add_table(&ideas, out);
  strategies_add_table(&terms, out);
}

static tesela_status strategies_print_text(void) {
  const int width = tsl_output_width();
  tsl_table params = {0};
  tsl_text out = {0};
  add_group(false, &out);
  tsl_text_add_wrapped(&out, explanation, 0, 0, width);
  tsl_text_add(&out, "\n\n");
  tsl_text_add_wrapped(&out, peers_explanation, 0, 0, width);
  tsl_text_add(&out, "\n\n");
  add_group(true, &out);
  tsl_text_add_wrapped(&out, values_title, 0, 0, width);
  tsl_text_add(&out, "\n");
  param_table(NULL, &params, false);
  strategies_add_table(&params, &out);
  return tsl_print(&out);
}

static void append_name(void *array, const char *name) {
  json_array_append_new(array, json_string(name));
}

static json_t *json_value(const tsl_strategy *strategy, int param, int64_t value) {
  const char *name = tsl_param_value_name(strategy, param, value);
  return name ? json_string(name) : json_integer(value);
}

static json_t *json_strategy(const tsl_strategy *strategy) {
  json_t *needs = json_array(), *types = json_array(), *params = json_array();
  const tsl_type_info *type;
  tsl_strategy_each_need(strategy, append_name, needs);
  for (int i = 0; (type = tsl_type_at(i)) != NULL; i++)
    if (tsl_strategy_takes(strategy, type->type))
      append_name(types, type->name);
  for (int p = 0; p < tsl_strategy_params(strategy); p++) {
    const tsl_param *param = &strategy->params[p];
    const tsl_range *range = &strategy->tuning.ranges[p];
    json_t *values = json_array();
    for (int i = 0; i < TSL_PARAM_VALUES_MAX && param->values[i] != 0; i++)
      json_array_append_new(values, json_value(strategy, p, param->values[i]));
    json_array_append_new(params, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", param->name, "what",
                                            param->what, "default", json_value(strategy, p, param->fallback),
                                            "values", values, "least",
                                            range->max > 0 ? json_integer(range->min) : json_null(), "most",
                                            range->max > 0 ? json_integer(range->max) : json_null()));
  }
  const tsl_accuracy accuracy = tsl_strategy_accuracy(strategy);
  return json_pack("{s:s, s:o, s:s?, s:b, s:s, s:i, s:s, s:s?, s:o, s:o, s:o, s:f, s:b, s:b}", "op",
                   tsl_op_name(strategy->op), "rung",
                   strategy->rung > 0 ? json_integer(strategy->rung) : json_null(), "partner",
                   strategy->partner, "vendor", strategy->vendor.load != NULL, "name", strategy->name,
                   "version", strategy->version, "idea", strategy->idea, "lifts", strategy->lifts, "types",
                   types, "needs", needs, "parameters", params, "error_factor_k1000", accuracy.factor,
                   "repeats", accuracy.is_reproducible, "rounded", accuracy.is_correctly_rounded);
}

/* --- one strategy --- */

/* Reads the words of the call as one strategy with parameters. */
static tesela_status strategies_choose(const tsl_command_call *call, tsl_chosen_strategy *chosen) {
  tsl_strategy_list list;
  tsl_text text = {0};
  for (int i = 0; i < call->word_count; i++)
    tsl_text_add(&text, "%s%s", i ? " " : "", call->words[i]);
  tesela_status status = tsl_text_status(&text);
  if (status == TESELA_OK)
    status = tsl_select_strategies(TSL_OP_COUNT, tsl_text_get(&text), false, &list);
  if (status == TESELA_OK && list.count != 1)
    status = tsl_fail(TESELA_BAD_CALL, "\"%s\" is not one strategy", tsl_text_get(&text));
  if (status == TESELA_OK)
    *chosen = list.items[0];
  tsl_text_free(&text);
  return status;
}

static tesela_status find_device(tsl_devices *devices, const char *name, tsl_device **device) {
  if (name)
    return tsl_devices_find(devices, name, device);
  for (int i = 0; (*device = tsl_devices_at(devices, i)) != NULL; i++)
    if ((*device)->capabilities & TSL_CAN_KERNELS)
      return TESELA_OK;
  return tsl_fail(TESELA_NO_DEVICE, "no device here compiles kernels; tesela devices says why");
}

/* Returns the kind whose dialect a device's kernels are in. */
static const char *device_kind(const char *name) {
  return name && strncmp(name, "cuda", strlen("cuda")) == 0 ? "cuda" : "opencl";
}

static tesela_status add_source(const strategies_options *settings, const tsl_chosen_strategy *chosen,
                                tsl_text *out) {
  tsl_devices *devices;
  tsl_device *device;
  tsl_text source = {0};
  TSL_TRY(tsl_devices_create(&devices));
  tesela_status status = find_device(devices, settings->device, &device);
  if (status == TESELA_OK)
    status = tsl_strategy_source(chosen, settings->type, device, &source);
  else if (status == TESELA_NO_DEVICE)
    status = tsl_strategy_source_of_kind(chosen, settings->type, device_kind(settings->device), &source);
  tsl_devices_destroy(devices);
  if (status == TESELA_OK && settings->all)
    tsl_text_add_bytes(out, source.data, source.length);
  else if (status == TESELA_OK)
    tsl_strategy_own_source(chosen->strategy, tsl_text_get(&source), out);
  tsl_text_free(&source);
  return status == TESELA_OK ? tsl_text_status(out) : status;
}

static void add_story(const tsl_strategy *strategy, const char *story, tsl_text *out) {
  tsl_table terms = {0}, params = {0};
  tsl_text_add(out, "%s %s", tsl_op_name(strategy->op), strategy->name);
  if (strategy->rung > 0)
    tsl_text_add(out, ", rung %d", strategy->rung);
  if (strategy->partner)
    tsl_text_add(out, ", after %s", strategy->partner);
  if (strategy->lifts)
    tsl_text_add(out, ", removes the limit: %s", strategy->lifts);
  tsl_text_add(out, "\n\n%s\n", story);
  terms_columns(&terms);
  terms_cells(strategy, &terms);
  strategies_add_table(&terms, out);
  param_table(strategy, &params, false);
  if (tsl_table_rows(&params) > 0)
    strategies_add_table(&params, out);
  else
    tsl_table_free(&params);
}

static tesela_status print_one(const tsl_command_call *call) {
  const strategies_options *given = call->options;
  tsl_chosen_strategy chosen;
  tsl_text story = {0}, out = {0};
  tesela_status status;
  TSL_GO(strategies_choose(call, &chosen));
  TSL_GO(given->source ? add_source(given, &chosen, &out) : tsl_strategy_story(chosen.strategy, &story));
  if (given->json) {
    json_t *one = json_strategy(chosen.strategy);
    json_object_set_new(one, given->source ? "source" : "story",
                        json_string(tsl_text_get(given->source ? &out : &story)));
    tsl_text_free(&out);
    status = tsl_print_json(call, json_pack("{s:[o]}", "strategies", one));
  } else {
    if (!given->source)
      add_story(chosen.strategy, tsl_text_get(&story), &out);
    status = tsl_print(&out);
    out = (tsl_text){0};
  }
out:
  tsl_text_free(&story);
  tsl_text_free(&out);
  return status;
}

/* Prints or writes the program of the strategy that the words name. */
static tesela_status strategies_write_program(const tsl_command_call *call) {
  const strategies_options *given = call->options;
  tsl_text name = {0};
  for (int i = 0; i < call->word_count; i++)
    tsl_text_add(&name, "%s%s", i ? " " : "", call->words[i]);
  tesela_status status = tsl_text_status(&name);
  if (status == TESELA_OK)
    status = tsl_lab_program(tsl_text_get(&name), given->program, given->type, given->output);
  tsl_text_free(&name);
  return status;
}

static tesela_status strategies_run(const tsl_command_call *call) {
  const strategies_options *given = call->options;
  if (given->program && (given->json || given->markdown || given->source || given->all))
    return tsl_fail(TESELA_BAD_CALL,
                    "--program prints a program; leave out --json, --markdown, --source and --all");
  if (given->program)
    return strategies_write_program(call);
  if (given->output)
    return tsl_fail(TESELA_BAD_CALL, "--output is for --program; otherwise redirect the output");
  if ((given->device || given->all) && !given->source)
    return tsl_fail(TESELA_BAD_CALL, "%s is for --source", given->device ? "--device" : "--all");
  if (call->word_count > 0 && !given->markdown && !given->results)
    return print_one(call);
  if (call->word_count > 0 || given->source)
    return tsl_fail(TESELA_BAD_CALL, "%s",
                    given->source
                        ? "--source is of one strategy; name it: tesela strategies tile_local --source"
                        : "a document is of all strategies; leave the name out");
  if (given->json) {
    json_t *list = json_array();
    const tsl_strategy *strategy;
    for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
      json_array_append_new(list, json_strategy(strategy));
    return tsl_print_json(call, json_pack("{s:o}", "strategies", list));
  }
  if (given->results && !given->markdown)
    return tsl_fail(TESELA_BAD_CALL, "--results is for the document; add --markdown");
  return given->markdown ? print_markdown(given->results) : strategies_print_text();
}

const tsl_command tsl_command_strategies = {
    .name = "strategies",
    .what = "show the ladder: every strategy with idea, types, needs, parameters, error bound",
    .arguments = "[NAME [PARAMETER=VALUE ...]]",
    .details = "",
    .options = options,
    .examples = examples,
    .words_max = 16,
    .options_bytes = sizeof(strategies_options),
    .run = strategies_run,
};
