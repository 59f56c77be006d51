#include "inventory/report.h"

json_t *tsl_json_peer(const tsl_strategy *strategy, const tsl_device *device) {
  const char *peer = tsl_strategy_peer(strategy, device);
  return *peer ? json_string(peer) : json_null();
}

static json_t *report_capabilities(const tsl_device *device) {
  static const struct {
    unsigned bit;
    const char *text;
  } all[] = {
#define CAPABILITY_ROW(name, bit, text) {TSL_CAN_##name, text},
      TSL_CAPABILITY_LIST(CAPABILITY_ROW)
#undef CAPABILITY_ROW
  };
  json_t *list = json_array();
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (device->capabilities & all[i].bit)
      json_array_append_new(list, json_string(all[i].text));
  return list;
}

json_t *tsl_json_device(const tsl_device *device, bool all) {
  json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", device->name, "kind", device->kind, "label",
                             device->label, "platform", device->platform);
  if (!object || !all)
    return object;
  const int status = json_object_update_new(
      object,
      json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "compute_units",
                device->compute_units, "clock_mhz", device->clock_mhz, "memory_bytes",
                (json_int_t)device->memory_bytes, "allocation_max_bytes", (json_int_t)device->allocation_max,
                "cache_bytes", (json_int_t)device->cache_bytes, "local_bytes",
                (json_int_t)device->local_bytes, "group_items_max", device->group_items_max, "threads",
                device->threads, "estimated_flops_f32", tsl_json_real(device->peak_f32),
                "estimated_flops_f64", tsl_json_real(device->peak_f64), "estimated_bytes_per_second",
                tsl_json_real(device->bandwidth), "estimated_link_bytes_per_second",
                tsl_json_real(device->link_bandwidth), "capabilities", report_capabilities(device)));
  if (status == 0)
    return object;
  json_decref(object);
  return NULL;
}

json_t *tsl_json_missing(tsl_devices *devices) {
  json_t *missing = json_array();
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const char *name, *what, *why;
    int count;
    if (tsl_devices_kind(devices, kind, &name, &what, &count, &why) == TESELA_OK && count == 0)
      json_array_append_new(missing, json_pack("{s:s, s:s, s:s}", "kind", name, "what", what, "reason", why));
  }
  return missing;
}
