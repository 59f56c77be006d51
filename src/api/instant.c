#include "api/instant.h"

#include "api/api.h"

#include <string.h>

bool tsl_api_instant(tesela_context *context, tsl_instant_way *way) {
  tsl_devices *devices;
  tsl_device *device;
  if (strcmp(context->device, "cpu") != 0 || tsl_api_devices(context, &devices) != TESELA_OK ||
      tsl_devices_find(devices, "cpu", &device) != TESELA_OK)
    return false;
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_GEMM && tsl_strategy_at(i)->instant) {
      *way = (tsl_instant_way){tsl_strategy_at(i), device};
      return true;
    }
  return false;
}
