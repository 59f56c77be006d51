/* Selection and listing of the wisdom records of a tesela wisdom call. */
#ifndef TSL_TOOL_INVENTORY_WISDOM_RECORDS_H
#define TSL_TOOL_INVENTORY_WISDOM_RECORDS_H

#include "cli/tool.h"
#include "inventory/select.h"
#include "planner/planner_wisdom.h"

typedef struct tsl_wisdom_options {
  const char *devices, *strategies;
  bool shipped, stale, all, json;
} tsl_wisdom_options;

typedef struct tsl_wisdom_filter {
  const tsl_wisdom_options *given;
  tsl_devices *devices;
  tsl_device_list device_list;
  char *strategies[TSL_SELECT_MAX]; /* names */
  int strategy_count;
} tsl_wisdom_filter;

/* Reads the options into a filter. The caller ends the filter with tsl_wisdom_filter_end(), also after a
 * failure. */
tesela_status tsl_wisdom_filter_begin(const tsl_wisdom_options *options, tsl_wisdom_filter *out);
void tsl_wisdom_filter_end(tsl_wisdom_filter *filter);
/* Returns true if a filter selects a line. An unreadable line is stale, and has no device and no strategy. */
bool tsl_wisdom_filter_passes(const void *filter, const tsl_wisdom_line *line);

/* Returns the device of this machine that a record belongs to, or NULL. */
const tsl_device *tsl_wisdom_device_of(const tsl_wisdom_filter *filter, const tsl_wisdom_record *record);

/* Prints the list of tesela wisdom. `path` is the user's file. */
tesela_status tsl_wisdom_print_list(const tsl_command_call *call, const char *path);

#endif
