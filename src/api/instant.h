/* Products at once: for callers whose products may take less time than a plan's discovery (the BLAS drop-in). */
#ifndef TSL_API_INSTANT_H
#define TSL_API_INSTANT_H

#include "strategy/strategy.h"

/* A way to multiply without plans on a context's device; lives as long as the context. */
typedef struct tsl_instant_way {
  const tsl_strategy *strategy;
  const tsl_device *device;
} tsl_instant_way;

/* Finds it; false where the context's device is not the cpu, whose name it was given, or nobody offers one. */
bool tsl_api_instant(tesela_context *context, tsl_instant_way *way);

#endif
