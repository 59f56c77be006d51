#include "api/api.h"

#include "core/floats.h"
#include "core/status.h"

/* Lists the cpu at the first use of any device, so that its threads are set before a plan reads them. */
tesela_status tsl_api_devices(tesela_context *context, tsl_devices **devices) {
  tesela_status status = TESELA_OK;
  *devices = context->devices;
  if (context->threads == 0 || atomic_load_explicit(&context->threads_applied, memory_order_acquire))
    return TESELA_OK;
  tsl_fork_mutex_lock(&context->lock);
  if (!atomic_load_explicit(&context->threads_applied, memory_order_relaxed)) {
    tsl_device *cpu;
    status = tsl_devices_find(context->devices, "cpu", &cpu);
    if (status == TESELA_OK)
      tsl_devices_limit(context->devices, context->threads);
    atomic_store_explicit(&context->threads_applied, status == TESELA_OK, memory_order_release);
  }
  tsl_fork_mutex_unlock(&context->lock);
  return status;
}

tesela_status tesela_device_info_sized(tesela_context *context, int index, tesela_device *info, int *count,
                                       size_t info_size) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_devices *devices;
  int found = 0;
  if (count)
    *count = 0;
  if (!context || (!info && !count))
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : info_size > 0 ? "info" : "count");
  TSL_TRY(tsl_api_devices(context, &devices));
  while (tsl_devices_at(devices, found))
    found++;
  if (count)
    *count = found;
  if (!info)
    return TESELA_OK;
  if (index < 0 || index >= found)
    return tsl_fail(TESELA_BAD_CALL, "index is %d: there are %d devices, counted from 0", index, found);
  const tsl_device *device = tsl_devices_at(devices, index);
  const tesela_device full = {.name = device->name,
                              .label = device->label,
                              .platform = device->platform,
                              .memory_bytes = device->memory_bytes,
                              .local_bytes = device->local_bytes,
                              .compute_units = device->compute_units,
                              .clock_mhz = device->clock_mhz,
                              .group_items_max = device->group_items_max,
                              .has_f64 = (device->capabilities & TSL_CAN_F64) != 0,
                              .shares_host_memory =
                                  (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY)) != 0};
  tsl_api_struct_export(info, info_size, &full, sizeof full);
  return TESELA_OK;
}
