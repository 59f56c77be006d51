/* Writes an exploration as JSON, or as CSV with one line for each point. */
#include "explore/reasons.h"
#include "explore/report.h"
#include "inventory/report.h"

#include <math.h>

static void record_add_config(const tsl_point *point, tsl_text *text) {
  tsl_config_print(point->entry.strategy, &point->entry.config, text);
}

/* --- CSV --- */

static void csv_number(double value, tsl_table *table) {
  if (isfinite(value))
    tsl_table_add(table, "%.6g", value);
  else
    tsl_table_add(table, "%s", "");
}

static void csv_row(const tsl_exploration *all, const tsl_point *point, tsl_table *table) {
  const tsl_size *size = &all->sizes.items[point->size];
  const tsl_measurement *timing = &point->entry.timing;
  const bool is_judged = point->entry.result == TSL_CASE_RIGHT || point->entry.result == TSL_CASE_WRONG;
  tsl_text config = {0};
  record_add_config(point, &config);
  tsl_table_add(table, "%s", point->entry.strategy->name);
  tsl_table_add(table, "%s", tsl_text_get(&config));
  tsl_table_add(table, "%s", all->devices.items[point->device]->name);
  tsl_table_add(table, "%s", all->types.items[point->type].name);
  tsl_table_add(table, "%lld", (long long)size->m);
  tsl_table_add(table, "%lld", (long long)size->n);
  tsl_table_add(table, "%lld", (long long)size->k);
  tsl_table_add(table, "%s", tsl_point_result(point));
  csv_number(tsl_point_flops(point) / 1e9, table);
  csv_number(tsl_point_speedup(all, point), table);
  csv_number(tsl_point_bandwidth(point) / 1e9, table);
  csv_number(timing->median, table);
  csv_number(timing->fastest, table);
  csv_number(timing->first_quartile, table);
  csv_number(timing->third_quartile, table);
  csv_number(timing->slowest, table);
  csv_number(timing->spread, table);
  tsl_table_add(table, "%d", timing->samples);
  csv_number(timing->wall, table);
  csv_number(is_judged ? point->entry.verdict.grade : NAN, table);
  csv_number(is_judged ? point->entry.verdict.error_ratio : NAN, table);
  tsl_table_add(table, "%s", point->entry.why);
  tsl_table_add(table, "%s", tsl_strategy_peer(point->entry.strategy, all->devices.items[point->device]));
  tsl_text_free(&config);
}

tesela_status tsl_explore_print_csv(const tsl_exploration *all) {
  tsl_table table = {0};
  tsl_text out = {0};
  TSL_TABLE_COLUMNS(&table, "strategy", "config", "device", "type", "m", "n", "k", "result", "gflops",
                    "speedup", "gbytes", "seconds", "fastest", "first_quartile", "third_quartile", "slowest",
                    "spread", "samples", "wall_seconds", "grade", "error_ratio", "why", "peer");
  for (int i = 0; i < all->point_count; i++)
    csv_row(all, &all->points[i], &table);
  tsl_table_csv(&table, &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

/* --- JSON --- */

static json_t *json_parameters(const tsl_race_entry *entry) {
  json_t *object = json_object();
  for (int i = 0; i < tsl_strategy_params(entry->strategy); i++)
    json_object_set_new(object, entry->strategy->params[i].name,
                        json_integer((json_int_t)entry->config.value[i]));
  return object;
}

/* Returns the hardware's counts of a run; null for each that the system does not count. */
static json_t *json_hardware(const tsl_hardware_counts *counts) {
  json_t *object = json_object();
  for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
    json_object_set_new(object, tsl_hardware_event_name((tsl_hardware_event)event),
                        tsl_json_real(counts->value[event]));
  return object;
}

static json_t *record_json_point(const tsl_exploration *all, const tsl_reasons *reasons,
                                 const tsl_point *point) {
  const tsl_size *size = &all->sizes.items[point->size];
  const tsl_race_entry *entry = &point->entry;
  const tsl_measurement *timing = &entry->timing;
  const bool right = entry->result == TSL_CASE_RIGHT;
  tsl_text config = {0};
  record_add_config(point, &config);
  json_t *object = json_pack(
      "{s:s, s:s, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "strategy",
      entry->strategy->name, "config", tsl_text_get(&config), "parameters", json_parameters(entry), "peer",
      tsl_json_peer(entry->strategy, all->devices.items[point->device]), "device",
      all->devices.items[point->device]->name, "type", all->types.items[point->type].name, "m",
      (json_int_t)size->m, "n", (json_int_t)size->n, "k", (json_int_t)size->k, "result",
      tsl_point_result(point), "why", entry->why, "grade", tsl_json_real(right ? entry->verdict.grade : NAN),
      "error_ratio", tsl_json_real(right ? entry->verdict.error_ratio : NAN), "predicted_seconds",
      tsl_json_real(entry->predicted), "flops", tsl_json_real(point->flops), "bytes",
      tsl_json_real(point->bytes));
  tsl_text_free(&config);
  if (!object || !right)
    return object;
  json_object_update_new(
      object, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:b}", "plan",
                        entry->plan, "flops_per_second", tsl_json_real(tsl_point_flops(point)),
                        "bytes_per_second", tsl_json_real(tsl_point_bandwidth(point)), "speedup",
                        tsl_json_real(tsl_point_speedup(all, point)), "seconds",
                        tsl_json_real(timing->median), "fastest", tsl_json_real(timing->fastest),
                        "first_quartile", tsl_json_real(timing->first_quartile), "third_quartile",
                        tsl_json_real(timing->third_quartile), "slowest", tsl_json_real(timing->slowest),
                        "spread", tsl_json_real(timing->spread), "wall_seconds", tsl_json_real(timing->wall),
                        "samples", timing->samples, "batch", timing->batch, "noisy", timing->noisy));
  json_object_set_new(object, "hardware", json_hardware(&entry->hardware));
  json_object_update_new(object, tsl_reasons_json(reasons, tsl_reasons_find(reasons, point)));
  return object;
}

static json_t *clock_or_null(int mhz) {
  return mhz > 0 ? json_integer(mhz) : json_null();
}

static json_t *json_race(const tsl_exploration *all, int type, int size, int device) {
  const tsl_race_report *race = tsl_explore_race(all, type, size, device);
  const tsl_size *extent = &all->sizes.items[size];
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:i, s:I, s:i, s:i, s:o, s:o, s:o, s:s, s:s}", "device",
                   all->devices.items[device]->name, "type", all->types.items[type].name, "m",
                   (json_int_t)extent->m, "n", (json_int_t)extent->n, "k", (json_int_t)extent->k, "operands",
                   race->cold ? "cold" : "warm", "sets", race->sets, "set_bytes", (json_int_t)race->set_bytes,
                   "rounds", race->rounds, "rounds_discarded", race->discarded, "seconds",
                   tsl_json_real(race->seconds), "clock_mhz_before", clock_or_null(race->clock_mhz_before),
                   "clock_mhz_after", clock_or_null(race->clock_mhz_after), "clock_why", race->clock_why,
                   "hardware_why", race->hardware_why);
}

json_t *tsl_explore_json_machine(const tsl_exploration *all) {
#if defined(__clang__)
  const char *compiler = __VERSION__; /* contains the compiler's name */
#else
  const char *compiler = "gcc " __VERSION__;
#endif
  json_t *load = json_array();
  for (int i = 0; i < 3; i++)
    json_array_append_new(load, tsl_json_real(all->load_average[i]));
  return json_pack("{s:i, s:s, s:o}", "threads", all->threads, "compiler", compiler, "load_average", load);
}

json_t *tsl_explore_json_options(const tsl_exploration *all) {
  const tsl_race_options *options = &all->options;
  return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I, s:s}", "seconds", tsl_json_real(options->seconds_max),
                   "time_limit", tsl_json_real(options->time_limit), "patience",
                   tsl_json_real(options->time_limit), "noise", tsl_json_real(options->noise), "warm",
                   options->warm, "seed", (json_int_t)options->seed, "data", tsl_kind_name(options->data));
}

/* Returns the swept parameters and their values. */
static json_t *json_sweep(const tsl_exploration *all) {
  const tsl_strategy *strategy = all->strategies.items[0].strategy;
  json_t *list = json_array();
  for (int p = 0; p < all->sweep.count; p++) {
    const tsl_swept *swept = &all->sweep.params[p];
    json_t *values = json_array();
    for (int i = 0; i < swept->count; i++)
      json_array_append_new(values, json_integer((json_int_t)swept->values[i]));
    json_array_append_new(
        list, json_pack("{s:s, s:o}", "name", strategy->params[swept->param].name, "values", values));
  }
  return list;
}

/* Returns a device, with its roofs if they were measured. */
static json_t *json_device(const tsl_device *device, const tsl_measured_list *roofs) {
  json_t *object = tsl_json_device(device, true);
  const tsl_measured_times *one = tsl_measured_find(roofs, device);
  if (object && one)
    json_object_set_new(object, "measured", tsl_measured_json(one));
  return object;
}

json_t *tsl_explore_json(const tsl_exploration *all, tsl_devices *devices, const tsl_measured_list *roofs) {
  json_t *found = json_array(), *points = json_array(), *races = json_array();
  for (int d = 0; d < all->devices.count; d++)
    json_array_append_new(found, json_device(all->devices.items[d], roofs));
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++) {
      tsl_reasons reasons;
      tsl_reasons_make(all, t, s, &reasons); /* empty for lack of memory */
      for (int i = 0; i < all->point_count; i++)
        if (all->points[i].type == t && all->points[i].size == s)
          json_array_append_new(points, record_json_point(all, &reasons, &all->points[i]));
      tsl_reasons_free(&reasons);
      for (int d = 0; d < all->devices.count; d++)
        json_array_append_new(races, json_race(all, t, s, d));
    }
  json_t *object =
      json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o}", "date", all->date, "cut_short",
                tsl_explore_is_cut_short(all), "op", tsl_op_name(all->op), "machine",
                tsl_explore_json_machine(all), "options", tsl_explore_json_options(all), "devices", found,
                "missing", all->all_devices ? tsl_json_missing(devices) : json_array());
  if (object && all->sweep.count > 0)
    json_object_update_new(object,
                           json_pack("{s:s, s:o}", "strategy", all->strategies.items[0].strategy->name,
                                     "parameters", json_sweep(all)));
  if (object)
    json_object_update_new(object, json_pack("{s:o, s:o}", "races", races, "entries", points));
  return object;
}
