/* What files of tesela explore --json say of the ladder's strategies. */
#ifndef TSL_TOOL_CLI_LADDER_RESULTS_H
#define TSL_TOOL_CLI_LADDER_RESULTS_H

#include "base/text.h"

/* Appends "## Measured": for each operation that the files have, a table of strategies and devices with the
 * best rate of each in f32 and its size, and what and when the devices were. `files` are paths split by
 * commas; NULL: nothing. TESELA_BAD_INPUT names the file that is no such result. */
tesela_status tsl_ladder_results(const char *files, tsl_text *out);

#endif
