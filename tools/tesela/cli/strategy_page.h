/* One strategy, told: what its source says of itself, its parameters, and its kernels as a device compiles
 * them. */
#ifndef TSL_TOOL_CLI_STRATEGY_PAGE_H
#define TSL_TOOL_CLI_STRATEGY_PAGE_H

#include "base/status.h"
#include "cli/select.h"

/* Appends idea, what it adds, picture, parameters and limits: the comment that its kernel file, or its C
 * file, begins with. */
tesela_status tsl_strategy_story(const tsl_strategy *strategy, tsl_text *out);
/* Appends its kernels' text for a device and a type, flattened, with the lines that define parameters.
 * TESELA_UNSUPPORTED where it has none, or the device refuses it. */
tesela_status tsl_strategy_source(const tsl_chosen_strategy *chosen, tesela_type type, tsl_device *device,
                                  tsl_text *out);

#endif
