/* tesela devices: the devices of this machine, and why other kinds have none. */
#include "cli/tool.h"
#include "core/status.h"
#include "device/devices.h"
#include "inventory/measured.h"
#include "inventory/report.h"
#include "inventory/select.h"

typedef struct devices_options {
  const char *only;
  bool json, names, measure;
} devices_options;

static const tsl_option options[] = {
    TSL_OPTION(devices_options, only, "device", DEVICES, NULL,
               "only these devices, such as cpu,opencl:0 (default: all)"),
    TSL_OPTION_JSON(devices_options),
    TSL_OPTION(devices_options, names, "names", FLAG, NULL, "print only the names, one a line"),
    TSL_OPTION(devices_options, measure, "measure", FLAG, NULL,
               "measure the peak rates of each device; takes about a second a device (docs/MEASURING.md)"),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela devices", "every device with its limits, and for each missing kind the reason"},
    {"tesela devices --json", "the list for scripts"},
    {"tesela devices --measure --device cpu",
     "with measured peaks and memory bandwidths next to the estimates"},
    {"TESELA_OPENCL=none tesela devices", "as on a machine without OpenCL"},
    {NULL, NULL},
};

static void devices_print_device(const tsl_device *device, const tsl_measured_times *times, int width,
                                 bool colour, tsl_text *out) {
  char first[48], second[48], third[48];
  tsl_text_add_painted(out, TSL_PAINT_STRONG, colour, device->name);
  tsl_text_add(out, "\n");
  tsl_table table = tsl_table_of_pairs();
  tsl_table_add_pair(&table, "name", "%s", device->label);
  tsl_table_add_pair(&table, "platform", "%s", device->platform);
  tsl_text compute = {0};
  tsl_text_add(&compute, "%d unit%s", device->compute_units, device->compute_units == 1 ? "" : "s");
  if (device->clock_mhz > 0)
    tsl_text_add(&compute, " at up to %d MHz", device->clock_mhz);
  if (device->threads > 0)
    tsl_text_add(&compute, ", %d thread%s to use", device->threads, device->threads == 1 ? "" : "s");
  tsl_text_add(&compute, ", %s", device->capabilities & TSL_CAN_F64 ? "f32 and f64" : "f32 only");
  tsl_table_add_pair(&table, "compute", "%s", tsl_text_get(&compute));
  tsl_text_free(&compute);
  tsl_table_add_pair(&table, "memory", "%s, largest block %s%s",
                     tsl_format_bytes(device->memory_bytes, first, sizeof first),
                     tsl_format_bytes(device->allocation_max, second, sizeof second),
                     device->link_bandwidth == 0 ? ", shared with the host" : "");
  if (device->cache_bytes > 0)
    tsl_table_add_pair(&table, "cache", "%s, last level",
                       tsl_format_bytes(device->cache_bytes, first, sizeof first));
  if (device->level_bytes[0] > 0 && device->level_bytes[1] > 0)
    tsl_table_add_pair(&table, "of a core", "%s of cache, then %s",
                       tsl_format_bytes(device->level_bytes[0], first, sizeof first),
                       tsl_format_bytes(device->level_bytes[1], second, sizeof second));
  if (device->group_items_max > 0)
    tsl_table_add_pair(&table, "groups", "up to %d work-items, %s of local memory", device->group_items_max,
                       tsl_format_bytes(device->local_bytes, first, sizeof first));
  if (device->fragments)
    tsl_table_add_pair(&table, "matrices", "%s, sub-groups of %d", device->fragments->name,
                       device->fragments->items);
  if (device->capabilities & TSL_CAN_IMAGES)
    tsl_table_add_pair(&table, "images", "up to %lld x %lld texels, %s", (long long)device->image_width_max,
                       (long long)device->image_height_max,
                       device->image_pitch_alignment == 0 ? "copies of buffers" : "views of buffers");
  tsl_table_add_pair(&table, "estimates", "%s f32, %s f64, memory %s",
                     tsl_format_flops(device->peak_f32, first, sizeof first),
                     tsl_format_flops(device->peak_f64, second, sizeof second),
                     tsl_format_bandwidth(device->bandwidth, third, sizeof third));
  if (times)
    tsl_measured_add(times, &table);
  tsl_table_text(&table, 2, width, colour, out);
  out->failed |= table.failed;
  tsl_table_free(&table);
}

static tesela_status devices_print_text(tsl_devices *devices, const tsl_device_list *chosen,
                                        const tsl_measured_list *list, tsl_text *out) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  for (int i = 0; i < chosen->count; i++) {
    const tsl_device *device = chosen->items[i];
    devices_print_device(device, tsl_measured_find(list, device), width, colour, out);
    tsl_text_add(out, "\n");
  }
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const char *name, *what, *why;
    int count;
    TSL_TRY(tsl_devices_kind(devices, kind, &name, &what, &count, &why));
    if (count > 0)
      continue;
    tsl_text line = {0};
    tsl_text_add(&line, "No %s (%s): %s.", name, what, why);
    tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 2, width);
    tsl_text_add(out, "\n");
    tsl_text_free(&line);
  }
  tsl_text line = {0};
  tsl_text_add(
      &line, "Estimates are the planner's arithmetic from units, clock and data sheets, not measurements%s.",
      list->count > 0 ? "" : " (--measure makes some)");
  tsl_text_add_wrapped(out, tsl_text_get(&line), 0, 0, width);
  tsl_text_add(out, "\n");
  tsl_text_free(&line);
  return TESELA_OK;
}

static tesela_status devices_print_json(const tsl_command_call *call, tsl_devices *devices,
                                        const tsl_device_list *chosen, const tsl_measured_list *list) {
  json_t *found = json_array();
  for (int i = 0; i < chosen->count; i++) {
    const tsl_device *device = chosen->items[i];
    json_t *object = tsl_json_device(device, true);
    const tsl_measured_times *one = tsl_measured_find(list, device);
    if (object && one)
      json_object_set_new(object, "measured", tsl_measured_json(one));
    json_array_append_new(found, object);
  }
  return tsl_print_json(call,
                        json_pack("{s:o, s:o}", "devices", found, "missing", tsl_json_missing(devices)));
}

static tesela_status devices_run(const tsl_command_call *call) {
  const devices_options *given = call->options;
  tesela_status status = TESELA_OK;
  tsl_devices *devices = NULL;
  tsl_device_list chosen;
  tsl_measured_list list = {.count = 0};
  tsl_text out = {0};
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_select_devices(devices, given->only ? given->only : "auto", &chosen));
  if (given->measure && !given->names)
    TSL_GO(tsl_measured_take(&chosen, 0, &list));
  if (given->json)
    TSL_GO(devices_print_json(call, devices, &chosen, &list));
  else {
    if (!given->names)
      TSL_GO(devices_print_text(devices, &chosen, &list, &out));
    for (int i = 0; given->names && i < chosen.count; i++)
      tsl_text_add(&out, "%s\n", chosen.items[i]->name);
    TSL_GO(tsl_print(&out));
  }
  status = tsl_measured_status(&list);
out:
  tsl_text_free(&out);
  tsl_measured_free(&list);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_devices = {
    .name = "devices",
    .what = "list the devices of this machine, their limits, and why a kind is missing",
    .arguments = "",
    .details = "The names in the first column are what --device and TESELA_DEVICE take.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(devices_options),
    .run = devices_run,
};
