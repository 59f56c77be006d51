#include "inventory/measured.h"

#include "cli/progress.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>

/* The typical time of measuring a device, with compiling, for the progress line. */
static const double seconds_each = 1.5;

/* Keeps the better value of two measurements for each roof. */
static void measured_merge(const tsl_roofs *again, tsl_roofs *roofs) {
  for (int i = 0; i < TSL_ROOF_COUNT; i++)
    if (!(roofs->roof[i].rate >= again->roof[i].rate) && !isnan(again->roof[i].rate))
      roofs->roof[i] = again->roof[i];
  roofs->seconds += again->seconds;
}

static void measured_measure(tsl_device *device, double seconds, tsl_measured_times *measured) {
  const tsl_roofs_options options = {.seconds = seconds};
  tsl_roofs found;
  if (measured->status != TESELA_OK)
    return;
  measured->status = tsl_roofs_measure(device, &options, &found);
  if (measured->status != TESELA_OK)
    snprintf(measured->failure, sizeof measured->failure, "%s", tesela_last_error());
  else if (measured->device)
    measured_merge(&found, &measured->roofs);
  else
    measured->roofs = found;
  measured->device = device;
}

tesela_status tsl_measured_take(const tsl_device_list *devices, double seconds, tsl_measured_list *list) {
  void *block = list->items;
  if (!block)
    TSL_TRY(tsl_alloc_zeroed(((size_t)devices->count + 1) * sizeof *list->items, "measured roofs", &block));
  *list = (tsl_measured_list){.items = block, .count = devices->count};
  tsl_progress *progress = tsl_progress_start(true);
  for (int i = 0; i < devices->count; i++) {
    char what[192];
    snprintf(what, sizeof what, "roofs of %s", devices->items[i]->name);
    tsl_progress_at(progress, what, (double)i / devices->count);
    tsl_progress_creep(progress, 1.0 / devices->count, seconds_each);
    measured_measure(devices->items[i], seconds, &list->items[i]);
  }
  tsl_progress_end(progress);
  return TESELA_OK;
}

void tsl_measured_free(tsl_measured_list *list) {
  tsl_free(list->items);
  *list = (tsl_measured_list){0};
}

const tsl_measured_times *tsl_measured_find(const tsl_measured_list *list, const tsl_device *device) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i].device == device)
      return &list->items[i];
  return NULL;
}

tesela_status tsl_measured_status(const tsl_measured_list *list) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i].status != TESELA_OK)
      return tsl_fail(list->items[i].status, "%s", list->items[i].failure);
  return TESELA_OK;
}

/* Writes "235 GFLOP/s" or "53.9 GB/s", or "-" if there is no value; returns `out`. */
static const char *measured_text(const tsl_measured_times *measured, tsl_roof_name roof, char *out,
                                 size_t size) {
  const double rate = measured->status == TESELA_OK ? measured->roofs.roof[roof].rate : NAN;
  if (isnan(rate))
    snprintf(out, size, "-");
  else if (roof == TSL_ROOF_FMA_F32 || roof == TSL_ROOF_FMA_F64)
    tsl_format_flops(rate, out, size);
  else
    tsl_format_bandwidth(rate, out, size);
  return out;
}

void tsl_measured_add(const tsl_measured_times *measured, tsl_table *table) {
  char text[TSL_ROOF_COUNT][48], bytes[32];
  double spread = 0;
  if (measured->status != TESELA_OK) {
    tsl_table_add_pair(table, "measured", "failed: %s", measured->failure);
    return;
  }
  for (int i = 0; i < TSL_ROOF_COUNT; i++) {
    measured_text(measured, (tsl_roof_name)i, text[i], sizeof text[i]);
    spread = fmax(spread, measured->roofs.roof[i].spread); /* ignores NaN */
  }
  tsl_table_add_pair(table, "measured", "%s f32, %s f64, memory copied at %s, read at %s",
                     text[TSL_ROOF_FMA_F32], text[TSL_ROOF_FMA_F64], text[TSL_ROOF_COPY],
                     text[TSL_ROOF_READ]);
  tsl_table_add_pair(table, "", "caches read at %s, %s and %s (level 1 to 3), local memory at %s",
                     text[TSL_ROOF_LEVEL1], text[TSL_ROOF_LEVEL2], text[TSL_ROOF_LEVEL3],
                     text[TSL_ROOF_LOCAL]);
  tsl_table_add_pair(table, "", "best of repeats that vary by %.1f%% at most, arrays of %s", 100 * spread,
                     tsl_format_bytes(measured->roofs.bytes, bytes, sizeof bytes));
  if (measured->roofs.why[0])
    tsl_table_add_pair(table, "", "%s", measured->roofs.why);
}

json_t *tsl_measured_json(const tsl_measured_times *measured) {
  json_t *object = json_object();
  const bool failed = measured->status != TESELA_OK;
  for (int i = 0; i < TSL_ROOF_COUNT; i++) {
    const tsl_roof *roof = &measured->roofs.roof[i];
    json_object_set_new(object, tsl_roof_name_of((tsl_roof_name)i),
                        json_pack("{s:o, s:o, s:i}", "rate", tsl_json_real(failed ? NAN : roof->rate),
                                  "spread", tsl_json_real(failed ? NAN : roof->spread), "repeats",
                                  roof->repeats));
  }
  json_object_set_new(object, "array_bytes", json_integer((json_int_t)measured->roofs.bytes));
  json_object_set_new(object, "seconds", tsl_json_real(measured->roofs.seconds));
  json_object_set_new(object, "why", json_string(failed ? measured->failure : measured->roofs.why));
  return object;
}
