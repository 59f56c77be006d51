/* tesela explore: strategies x devices x types x sizes, measured; what is not right has no time. */
#include "base/status.h"
#include "explore.h"
#include "progress.h"
#include "report.h"
#include "tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct explore_options {
  const char *sizes, *types, *devices, *strategies;
  double seconds, patience;
  int64_t threads;
  bool json, csv, markdown;
} explore_options;

static const tsl_option options[] = {
    TSL_OPTION(explore_options, sizes, "sizes", SIZES, "64,256,512",
               "squares, or M x N x K: 512,1000x300x700"),
    TSL_OPTION(explore_options, types, "types", TYPES, "f32,f64", "types of the elements"),
    TSL_OPTION(explore_options, devices, "devices", DEVICES, NULL,
               "these devices, such as cpu,opencl:0 (default: all)"),
    TSL_OPTION(explore_options, strategies, "strategies", STRATEGIES, NULL,
               "these strategies, such as element,\"tile_local tile=16\" (default: all)"),
    TSL_OPTION(explore_options, seconds, "seconds", SECONDS, "0.5", "measure each entry for at most so long"),
    TSL_OPTION(explore_options, patience, "patience", SECONDS, "30",
               "leave out what is predicted to take longer than this for one run"),
    TSL_OPTION(explore_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION(explore_options, csv, "csv", FLAG, NULL, "print CSV, one line an entry"),
    TSL_OPTION(explore_options, markdown, "markdown", FLAG, NULL, "print Markdown"),
    TSL_OPTION_JSON(explore_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explore", "the ladder on this machine"},
    {"tesela explore --sizes 1024,4096 --types f32 --devices opencl:0,cuda:0 --json > result.json",
     "two devices side by side, kept for later"},
    {"tesela explore --strategies \"tile_local tile=8,tile_local tile=16\" --devices opencl:0",
     "one strategy's parameters"},
    {NULL, NULL},
};

/* --- tables of one type and size: strategies down, devices across --- */

static void device_columns(const tsl_exploration *all, tsl_table *table) {
  tsl_table_column(table, "strategy", TSL_ALIGN_LEFT, false);
  for (int d = 0; d < all->devices.count && d < TSL_TABLE_COLUMNS_MAX - 4; d++)
    tsl_table_column(table, all->devices.items[d]->name, TSL_ALIGN_RIGHT, false);
}

static void add_name(const tsl_exploration *all, int strategy, tsl_table *table) {
  const tsl_chosen_strategy *chosen = &all->strategies.items[strategy];
  tsl_text name = {0};
  if (chosen->given)
    tsl_config_print(chosen->strategy, &chosen->config, &name);
  tsl_table_add(table, "%s", chosen->given ? tsl_text_get(&name) : chosen->strategy->name);
  tsl_text_free(&name);
}

static void add_result(const tsl_point *point, double value, tsl_table *table) {
  char text[32];
  if (point->result == TSL_CASE_WRONG)
    tsl_table_add_painted(table, TSL_PAINT_BAD, "WRONG");
  else if (point->result == TSL_CASE_FAILED)
    tsl_table_add_painted(table, TSL_PAINT_BAD, "failed");
  else if (point->result == TSL_CASE_REFUSED || isnan(value))
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "-");
  else
    tsl_table_add_painted(table, point->timing.noisy ? TSL_PAINT_FAINT : TSL_PAINT_NONE, "%s%s",
                          tsl_format_number(value, text, sizeof text), point->timing.noisy ? "~" : "");
}

static void rate_table(const tsl_exploration *all, int type, int size, tsl_table *table) {
  char text[32];
  device_columns(all, table);
  tsl_table_column(table, "grade", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "of bound", TSL_ALIGN_RIGHT, false);
  for (int s = 0; s < all->strategies.count; s++) {
    double grade = NAN, ratio = NAN;
    add_name(all, s, table);
    for (int d = 0; d < all->devices.count; d++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, d);
      add_result(point, tsl_point_flops(point) / 1e9, table);
      if (point->result == TSL_CASE_RIGHT || point->result == TSL_CASE_WRONG) {
        grade = fmax(grade, point->verdict.grade);
        ratio = fmax(ratio, point->verdict.error_ratio);
      }
    }
    tsl_table_add(table, "%s", tsl_format_number(grade, text, sizeof text));
    tsl_table_add(table, "%s", tsl_format_number(ratio, text, sizeof text));
  }
}

static void speedup_table(const tsl_exploration *all, int type, int size, tsl_table *table) {
  const double base = tsl_explore_baseline(all, type, size);
  device_columns(all, table);
  for (int s = 0; s < all->strategies.count; s++) {
    add_name(all, s, table);
    for (int d = 0; d < all->devices.count; d++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, d);
      add_result(point, base / point->timing.median, table);
    }
  }
}

typedef void (*table_maker)(const tsl_exploration *all, int type, int size, tsl_table *table);

static void add_table(const tsl_exploration *all, int type, int size, table_maker make, const char *title,
                      bool markdown, tsl_text *out) {
  const tsl_size *extent = &all->sizes.items[size];
  const bool colour = tsl_output_colour();
  tsl_table table = {0};
  tsl_text line = {0};
  make(all, type, size, &table);
  tsl_text_add(&line, "%s, %s, %lld x %lld x %lld", title, tsl_type(all->types.items[type])->name,
               (long long)extent->m, (long long)extent->n, (long long)extent->k);
  if (markdown) {
    tsl_text_add(out, "### %s\n\n", tsl_text_get(&line));
    tsl_table_markdown(&table, out);
  } else {
    tsl_text_add_painted(out, TSL_PAINT_STRONG, colour, tsl_text_get(&line));
    tsl_text_add(out, "\n");
    tsl_table_text(&table, 2, tsl_output_width(), colour, out);
  }
  tsl_text_add(out, "\n");
  out->failed |= table.failed;
  tsl_text_free(&line);
  tsl_table_free(&table);
}

static void add_devices(const tsl_exploration *all, bool markdown, int width, tsl_text *out) {
  for (int d = 0; d < all->devices.count; d++) {
    const tsl_device *device = all->devices.items[d];
    tsl_text line = {0};
    tsl_text_add(&line, "%s%s: %s, %s", markdown ? "- " : "", device->name, device->label, device->platform);
    tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 4, width);
    tsl_text_add(out, "\n");
    tsl_text_free(&line);
  }
  tsl_text_add(out, "\n");
}

static bool same_reason(const tsl_point *a, const tsl_point *b) {
  return a->result != TSL_CASE_RIGHT && b->result != TSL_CASE_RIGHT && a->device == b->device &&
         strcmp(a->why, b->why) == 0;
}

/* "element, tile_local on cpu: ...": the strategies that share the reason of point `first`; none where an earlier
 * point has it already. */
static void reason_line(const tsl_exploration *all, int first, tsl_text *line) {
  const tsl_point *point = &all->points[first];
  int last = -1;
  for (int i = 0; i < first; i++)
    if (same_reason(&all->points[i], point))
      return;
  for (int i = first; i < all->point_count; i++) {
    const tsl_point *other = &all->points[i];
    if (!same_reason(other, point) || other->strategy <= last)
      continue;
    tsl_text_add(line, "%s%s", last >= 0 ? ", " : "", all->strategies.items[other->strategy].strategy->name);
    last = other->strategy;
  }
  if (last >= 0)
    tsl_text_add(line, " on %s: %s", all->devices.items[point->device]->name, point->why);
}

/* Why entries are missing, each reason once. */
static void add_reasons(const tsl_exploration *all, bool markdown, int width, tsl_text *out) {
  for (int i = 0; i < all->point_count; i++) {
    tsl_text line = {0};
    reason_line(all, i, &line);
    if (line.length > 0) {
      tsl_text_add(out, markdown ? "- " : "");
      tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 4, width);
      tsl_text_add(out, "\n");
    }
    out->failed |= line.failed;
    tsl_text_free(&line);
  }
}

static const char legend[] = "Compute time by the device's clock, copies left out; every entry was verified "
                             "first. grade: the largest error in u "
                             "(|alpha||A||B| + |beta||C0|), of bound: over what the strategy guarantees, "
                             "both the worst over the devices. ~: "
                             "noisy. The speed-up is over sequential on the cpu.";

static tesela_status print_tables(const tsl_exploration *all, bool markdown) {
  const int width = markdown ? 0 : tsl_output_width();
  tsl_text out = {0};
  add_devices(all, markdown, width, &out);
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++) {
      add_table(all, t, s, rate_table, "GFLOP/s", markdown, &out);
      if (!isnan(tsl_explore_baseline(all, t, s)))
        add_table(all, t, s, speedup_table, "Speed-up", markdown, &out);
    }
  add_reasons(all, markdown, width, &out);
  tsl_text_add(&out, "\n");
  tsl_text_add_wrapped(&out, legend, 0, 0, width);
  tsl_text_add(&out, "\n");
  return tsl_print(&out);
}

/* --- one line an entry --- */

static const char *result_name(tsl_case_result result) {
  static const char *const names[] = {[TSL_CASE_RIGHT] = "right",
                                      [TSL_CASE_WRONG] = "wrong",
                                      [TSL_CASE_REFUSED] = "refused",
                                      [TSL_CASE_FAILED] = "failed"};
  return names[result];
}

static void point_config(const tsl_exploration *all, const tsl_point *point, tsl_text *text) {
  tsl_config_print(all->strategies.items[point->strategy].strategy, &point->config, text);
}

static void csv_number(double value, tsl_table *table) {
  if (isfinite(value))
    tsl_table_add(table, "%.6g", value);
  else
    tsl_table_add(table, "%s", "");
}

static tesela_status print_csv(const tsl_exploration *all) {
  static const char *const titles[] = {
      "strategy", "config",       "device",  "type",        "m",       "n",       "k",
      "result",   "gflops",       "speedup", "seconds",     "fastest", "slowest", "spread",
      "samples",  "wall_seconds", "grade",   "error_ratio", "why"};
  tsl_table table = {0};
  tsl_text out = {0};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsl_table_column(&table, titles[i], TSL_ALIGN_LEFT, false);
  for (int i = 0; i < all->point_count; i++) {
    const tsl_point *point = &all->points[i];
    const tsl_size *size = &all->sizes.items[point->size];
    tsl_text config = {0};
    point_config(all, point, &config);
    tsl_table_add(&table, "%s", all->strategies.items[point->strategy].strategy->name);
    tsl_table_add(&table, "%s", tsl_text_get(&config));
    tsl_table_add(&table, "%s", all->devices.items[point->device]->name);
    tsl_table_add(&table, "%s", tsl_type(all->types.items[point->type])->name);
    tsl_table_add(&table, "%lld", (long long)size->m);
    tsl_table_add(&table, "%lld", (long long)size->n);
    tsl_table_add(&table, "%lld", (long long)size->k);
    tsl_table_add(&table, "%s", result_name(point->result));
    csv_number(tsl_point_flops(point) / 1e9, &table);
    csv_number(tsl_explore_baseline(all, point->type, point->size) / point->timing.median, &table);
    csv_number(point->timing.median, &table);
    csv_number(point->timing.fastest, &table);
    csv_number(point->timing.slowest, &table);
    csv_number(point->timing.spread, &table);
    tsl_table_add(&table, "%d", point->timing.samples);
    csv_number(point->timing.wall, &table);
    csv_number(point->verdict.grade, &table);
    csv_number(point->verdict.error_ratio, &table);
    tsl_table_add(&table, "%s", point->why);
    tsl_text_free(&config);
  }
  tsl_table_csv(&table, &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

static json_t *json_point(const tsl_exploration *all, const tsl_point *point) {
  const tsl_size *size = &all->sizes.items[point->size];
  const tsl_measurement *timing = &point->timing;
  const bool right = point->result == TSL_CASE_RIGHT;
  tsl_text config = {0};
  point_config(all, point, &config);
  json_t *object =
      json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:o}", "strategy",
                all->strategies.items[point->strategy].strategy->name, "config", tsl_text_get(&config),
                "device", all->devices.items[point->device]->name, "type",
                tsl_type(all->types.items[point->type])->name, "m", (json_int_t)size->m, "n",
                (json_int_t)size->n, "k", (json_int_t)size->k, "result", result_name(point->result), "why",
                point->why, "grade", tsl_json_real(right ? point->verdict.grade : NAN), "error_ratio",
                tsl_json_real(right ? point->verdict.error_ratio : NAN));
  tsl_text_free(&config);
  if (!object || !right)
    return object;
  json_object_update_new(
      object, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "plan", point->plan,
                        "flops_per_second", tsl_json_real(tsl_point_flops(point)), "speedup",
                        tsl_json_real(tsl_explore_baseline(all, point->type, point->size) / timing->median),
                        "seconds", tsl_json_real(timing->median), "fastest", tsl_json_real(timing->fastest),
                        "slowest", tsl_json_real(timing->slowest), "spread", tsl_json_real(timing->spread),
                        "wall_seconds", tsl_json_real(timing->wall), "samples", timing->samples, "noisy",
                        timing->noisy));
  return object;
}

static tesela_status print_json(const tsl_call *call, const tsl_exploration *all) {
  json_t *devices = json_array(), *points = json_array();
  for (int d = 0; d < all->devices.count; d++)
    json_array_append_new(devices, tsl_json_device(all->devices.items[d], true));
  for (int i = 0; i < all->point_count; i++)
    json_array_append_new(points, json_point(all, &all->points[i]));
  return tsl_print_json(
      call, json_pack("{s:s, s:o, s:o}", "date", all->date, "devices", devices, "entries", points));
}

/* --- */

static tesela_status conclude(const tsl_exploration *all) {
  int counts[TSL_CASE_FAILED + 1] = {0};
  const tsl_point *first = NULL;
  for (int i = 0; i < all->point_count; i++) {
    const tsl_case_result result = all->points[i].result;
    counts[result]++;
    if (!first && (result == TSL_CASE_WRONG || result == TSL_CASE_FAILED))
      first = &all->points[i];
  }
  if (first)
    return tsl_fail(counts[TSL_CASE_WRONG] ? TESELA_WRONG_RESULT : TESELA_DEVICE_FAILED,
                    "%d wrong and %d failed entries; the first, %s on %s: %s", counts[TSL_CASE_WRONG],
                    counts[TSL_CASE_FAILED], all->strategies.items[first->strategy].strategy->name,
                    all->devices.items[first->device]->name, first->why);
  if (counts[TSL_CASE_RIGHT] == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "nothing was measured: every strategy refused");
  return TESELA_OK;
}

static tesela_status run(const tsl_call *call) {
  const explore_options *given = call->options;
  tsl_exploration all = {.point_count = 0};
  tsl_devices *devices = NULL;
  tsl_progress *progress = NULL;
  tesela_status status = TESELA_OK;
  if (given->json + given->csv + given->markdown > 1)
    return tsl_fail(TESELA_BAD_CALL, "--json, --csv and --markdown exclude each other");
  TSL_GO(tsl_set_threads(given->threads));
  TSL_GO(tsl_select_sizes(given->sizes, &all.sizes));
  TSL_GO(tsl_select_types(given->types, &all.types));
  TSL_GO(tsl_select_strategies(TSL_OP_GEMM, given->strategies, &all.strategies));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_select_devices(devices, given->devices, &all.devices));
  all.options = (tsl_measure_options){.seconds_max = given->seconds};
  all.patience = given->patience;
  progress = tsl_progress_start();
  status = tsl_explore_run(&all, devices, progress);
  tsl_progress_end(progress);
  TSL_GO(status);
  TSL_GO(given->json  ? print_json(call, &all)
         : given->csv ? print_csv(&all)
                      : print_tables(&all, given->markdown));
  status = conclude(&all);
out:
  free(all.points);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_explore = {
    .name = "explore",
    .what = "measure strategies x devices x types x sizes: GFLOP/s, speed-up over sequential, error",
    .arguments = "",
    .details = "Every entry is verified before its time counts. Where no parameters are given, the "
               "strategy's own model "
               "chooses them for each size.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(explore_options),
    .run = run,
};
