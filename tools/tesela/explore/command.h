/* The common course of explore and sweep, from their options to their last line. */
#ifndef TSL_TOOL_EXPLORE_COMMAND_H
#define TSL_TOOL_EXPLORE_COMMAND_H

#include "cli/tool.h"
#include "explore/explore.h"
#include "explore/options.h"
#include "explore/report.h"

/* The parts in which explore and sweep differ. */
typedef struct tsl_explore_command {
  /* Reads the operation and its strategies from the call's words and options. */
  tesela_status (*select)(const tsl_command_call *call, tsl_exploration *all);
  /* Appends the text report; JSON, CSV and the page are common. */
  tesela_status (*report)(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                          tsl_text *out);
  const char *default_sizes[TSL_OP_COUNT];
} tsl_explore_command;

tesela_status tsl_explore_command_run(const tsl_command_call *call, const tsl_explore_options *options,
                                      const tsl_explore_command *command);

#endif
