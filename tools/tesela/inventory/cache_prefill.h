/* tesela cache prefill: compiles and tests kernels in advance. */
#ifndef TSL_TOOL_INVENTORY_CACHE_PREFILL_H
#define TSL_TOOL_INVENTORY_CACHE_PREFILL_H

#include "cli/tool.h"

typedef struct tsl_cache_options {
  const char *devices, *types, *strategies;
  int64_t threads;
  bool json;
} tsl_cache_options;

tesela_status tsl_cache_prefill(const tsl_command_call *call);

#endif
