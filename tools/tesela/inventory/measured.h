/* Measured roofs of devices, for reports. */
#ifndef TSL_TOOL_INVENTORY_MEASURED_H
#define TSL_TOOL_INVENTORY_MEASURED_H

#include "cli/report.h"
#include "inventory/select.h"
#include "tune/roofs.h"

/* The roofs measured of a device. `failure` is the message if that failed, else "". */
typedef struct tsl_measured_times {
  const tsl_device *device;
  tsl_roofs roofs;
  tesela_status status;
  char failure[1024];
} tsl_measured_times;

/* Start with {0}. */
typedef struct tsl_measured_list {
  tsl_measured_times *items;
  int count;
} tsl_measured_list;

/* Measures each device for about `seconds` (0: the default), with a progress line. A device that
 * fails is in the list with its message; the call itself fails only for lack of memory. If the list
 * already holds these devices, measures again and keeps the better values: on a busy machine one
 * moment is not enough. */
tesela_status tsl_measured_take(const tsl_device_list *devices, double seconds, tsl_measured_list *list);
void tsl_measured_free(tsl_measured_list *list);
/* Returns the device's entry; NULL if the device was not measured. */
const tsl_measured_times *tsl_measured_find(const tsl_measured_list *list, const tsl_device *device);
/* Returns the first failure's status and sets its message again; a command ends with it after its
 * report. */
tesela_status tsl_measured_status(const tsl_measured_list *list);

/* Adds one row for each roof to a table of names and texts. */
void tsl_measured_add(const tsl_measured_times *measured, tsl_table *table);
/* Returns the object `measured` of docs/JSON.md. */
json_t *tsl_measured_json(const tsl_measured_times *measured);

#endif
