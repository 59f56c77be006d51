#include "api/api.h"

#include "base/env.h"
#include "base/memory.h"
#include "base/status.h"

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

/* The first 2^24 contexts of a process have numbers; a dispatch key has no bits for more. */
static uint64_t next_number(void) {
  static atomic_uint_least64_t last;
  const uint64_t number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  return number < UINT64_C(1) << 24 ? number : 0;
}

tesela_status tesela_context_create(const tesela_context_desc *desc, tesela_context **context) {
  TSL_NOT_CANCELLED;
  void *block;
  if (!context)
    return tsl_fail(TESELA_BAD_CALL, "context is NULL: there is nowhere to put the context");
  *context = NULL;
  if (desc && desc->threads < 0)
    return tsl_fail(TESELA_BAD_CALL, "desc.threads is %d: 0 asks for all processors", desc->threads);
  TSL_TRY(tsl_alloc_zeroed(sizeof **context, "a context", &block));
  tesela_context *made = block;
  made->number = next_number();
  made->threads = desc ? desc->threads : 0;
  tesela_status status = default_device(desc, made);
  if (status == TESELA_OK)
    status = tsl_devices_create(&made->devices);
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  tsl_guard_init(&made->lock);
  tsl_plan_cache_init(&made->cache);
  *context = made;
  return TESELA_OK;
}

void tesela_context_destroy(tesela_context *context) {
  TSL_NOT_CANCELLED;
  if (!context)
    return;
  tsl_plan_cache_destroy(&context->cache);
  tsl_devices_destroy(context->devices);
  tsl_wisdom_close(context->wisdom);
  tsl_guard_destroy(&context->lock);
  tsl_free(context);
}
