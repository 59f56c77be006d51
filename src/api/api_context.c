#include "api/api.h"
#include "dispatch/call_cache.h"

#include "core/env.h"
#include "core/floats.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

tesela_status tsl_api_device_name(const char *name, const char *field, char out[TSL_DEVICE_NAME]) {
  const tesela_status status = tsl_device_name_check(name);
  if (status != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_CALL, "%s", field);
  if (strlen(name) >= TSL_DEVICE_NAME)
    return tsl_fail(TESELA_BAD_CALL, "%s is longer than any device's name", field);
  snprintf(out, TSL_DEVICE_NAME, "%s", name);
  return TESELA_OK;
}

static tesela_status default_device(const tesela_context_desc *desc, tesela_context *context) {
  if (desc && desc->device)
    return tsl_api_device_name(desc->device, "desc.device", context->device);
  const char *name = tsl_env_get(TSL_ENV_DEVICE);
  return tsl_api_device_name(*name ? name : "auto", "TESELA_DEVICE", context->device);
}

static tesela_status read_default_requirements(tesela_context *context) {
  tesela_status status =
      tsl_numeric_requirements_parse_accuracy(tsl_env_get(TSL_ENV_ACCURACY), &context->ask);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "TESELA_ACCURACY");
  status = tsl_numeric_requirements_parse_bits(tsl_env_get(TSL_ENV_BITS), &context->ask);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "TESELA_BITS");
  TSL_TRY(tsl_env_number(TSL_ENV_MEASURE_ERROR, &context->checks.seed));
  status = tsl_verify_parse(tsl_env_get(TSL_ENV_VERIFY), &context->checks.verify);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "TESELA_VERIFY");
  context->checks.verifies_by_default = true;
  context->asks = !tsl_numeric_requirements_same(
                      &context->ask, &(tsl_numeric_requirements){.bits = TSL_REPRODUCIBILITY_ANY}) ||
                  tsl_api_has_checks(context->checks);
  return TESELA_OK;
}

/* Opens the devices that belong to the caller's cl_context in that context. */
static tesela_status adopt_native_context(tsl_devices *devices, void *native) {
  int adopted = 0;
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    tsl_device *device;
    for (int i = 0; tsl_device_kind_at(kind)->adopt && (device = tsl_devices_of_kind(devices, kind, i)); i++)
      adopted += tsl_device_kind_at(kind)->adopt(device, native);
  }
  if (adopted == 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "desc.opencl_context has none of the OpenCL devices that `tesela devices` lists");
  return TESELA_OK;
}

tesela_status tesela_context_create_sized(const tesela_context_desc *desc, tesela_context **context,
                                          size_t desc_size) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tesela_context_desc own;
  void *block;
  if (!context)
    return tsl_fail(TESELA_BAD_CALL, "context is NULL: there is nowhere to put the context");
  *context = NULL;
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_context_desc, opencl_context);
  if (desc && desc->threads < 0)
    return tsl_fail(TESELA_BAD_CALL, "desc.threads is %d: it must be 0 (all processors) or more",
                    desc->threads);
  if (desc && desc->reserved != 0)
    return tsl_fail(TESELA_BAD_CALL, "desc.reserved is %d: it must be 0 in tesela " TESELA_VERSION "",
                    desc->reserved);
  TSL_TRY(tsl_alloc_zeroed(sizeof **context, "a context", &block));
  tesela_context *new_context = block;
  atomic_init(&new_context->number, tsl_dispatch_number());
  new_context->threads = desc ? desc->threads : 0;
  tesela_status status = default_device(desc, new_context);
  if (status == TESELA_OK)
    status = read_default_requirements(new_context);
  if (status == TESELA_OK)
    status = tsl_devices_create(&new_context->devices);
  if (status == TESELA_OK && desc && desc->opencl_context)
    status = adopt_native_context(new_context->devices, desc->opencl_context);
  if (status != TESELA_OK) {
    tsl_devices_destroy(new_context->devices);
    tsl_free(new_context);
    return status;
  }
  tsl_fork_mutex_init(&new_context->lock);
  tsl_plan_cache_init(&new_context->cache);
  *context = new_context;
  return TESELA_OK;
}

void tesela_context_destroy(tesela_context *context) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!context)
    return;
  tsl_plan_cache_destroy(&context->cache);
  tsl_devices_destroy(context->devices);
  tsl_api_wisdom_end(context);
  tsl_fork_mutex_destroy(&context->lock);
  tsl_free(context);
}
