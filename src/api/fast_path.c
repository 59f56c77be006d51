#include "api/fast_path.h"

#include "api/api.h"

#include <string.h>

bool tsl_api_fast_path(tesela_context *context, tsl_fast_path *path) {
  tsl_devices *devices;
  tsl_device *device;
  const bool has_cpu = strcmp(context->device, "cpu") == 0 || strcmp(context->device, "auto") == 0;
  if (!has_cpu || tsl_api_devices(context, &devices) != TESELA_OK ||
      tsl_devices_find(devices, "cpu", &device) != TESELA_OK)
    return false;
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_GEMM && tsl_strategy_at(i)->fast_path.multiply) {
      *path = (tsl_fast_path){tsl_strategy_at(i), device};
      return true;
    }
  return false;
}

bool tsl_api_goes_elsewhere(tesela_context *context, const tesela_gemm_desc *desc) {
  tsl_request request;
  tsl_call_key key;
  tsl_cached_plan *cached;
  if (tsl_api_gemm_request(context, desc, &request) != TESELA_OK ||
      tsl_api_request(context, &request, &key) != TESELA_OK ||
      tsl_api_cached_plan(context, &key, &cached) != TESELA_OK)
    return false;
  const tsl_device *device = tsl_plan_cache_plan(cached)->plan->work.device;
  const bool elsewhere = (device->capabilities & TSL_CAN_HOST) == 0;
  tsl_plan_cache_give_back(&context->cache, cached);
  return elsewhere;
}
