/* Reads lists of devices and strategies, by the lists of the library. */
#ifndef TSL_TOOL_INVENTORY_SELECT_H
#define TSL_TOOL_INVENTORY_SELECT_H

#include "cli/select.h"
#include "device/devices.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

typedef struct tsl_device_list {
  tsl_device *items[TSL_SELECT_MAX];
  int count;
} tsl_device_list;

/* A strategy, and the parameters that the user gave. */
typedef struct tsl_chosen_strategy {
  const tsl_strategy *strategy;
  tsl_config config; /* the user's parameters, and defaults for the others */
  unsigned given;    /* a bit for each parameter that the user gave */
} tsl_chosen_strategy;

typedef struct tsl_strategy_list {
  tsl_chosen_strategy items[TSL_SELECT_MAX];
  int count;
} tsl_strategy_list;

/* Reads "cpu,opencl:0"; "all" and "auto" mean all devices; NULL means TESELA_DEVICE, else all. */
tesela_status tsl_select_devices(tsl_devices *devices, const char *text, tsl_device_list *out);
/* Reads "element,gemm tile_local tile=16"; NULL means all strategies of the operation that are
 * tesela's own. TSL_OP_COUNT means every operation. Vendor strategies are included with `peers`, or
 * if TESELA_VENDORS is 1 and `text` is NULL. */
tesela_status tsl_select_strategies(tsl_op op, const char *text, bool peers, tsl_strategy_list *out);

#endif
