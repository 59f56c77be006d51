/* Measured roofs of devices, for reports. */
#ifndef TSL_TOOL_CLI_MEASURED_H
#define TSL_TOOL_CLI_MEASURED_H

#include "cli/report.h"
#include "cli/select.h"
#include "tune/roofs.h"

/* What was measured of a device; `failure` is the sentence where that failed, else "". */
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

/* Measures each device, about so many seconds each (0: the default), with a line of progress. A device that
 * fails is in the list with its reason; only a lack of memory fails. A list of the same devices that was
 * taken before is measured once more, and the better of both counts: on a busy machine one moment is not
 * enough. */
tesela_status tsl_measured_take(const tsl_device_list *devices, double seconds, tsl_measured_list *list);
void tsl_measured_free(tsl_measured_list *list);
/* NULL where the device was not measured. */
const tsl_measured_times *tsl_measured_find(const tsl_measured_list *list, const tsl_device *device);
/* The first failure, with its sentence set again: what a call ends with after its report. */
tesela_status tsl_measured_status(const tsl_measured_list *list);

/* "235 GFLOP/s", "53.9 GB/s"; "-" where there is none. */
const char *tsl_measured_text(const tsl_measured_times *measured, tsl_roof_name roof, char *out, size_t size);
/* Rows of a list of names and texts. */
void tsl_measured_add(const tsl_measured_times *measured, tsl_table *table);
/* `measured` of docs/JSON.md. */
json_t *tsl_measured_json(const tsl_measured_times *measured);

#endif
