/* Reads results of tesela explore --json for the document of all strategies. */
#ifndef TSL_TOOL_INVENTORY_LADDER_RESULTS_H
#define TSL_TOOL_INVENTORY_LADDER_RESULTS_H

#include "core/text.h"

/* Appends "## Measured": for each operation in the files a table of strategies and devices, with
 * the best f32 rate and its size. The devices and dates follow. `files`: paths separated by commas;
 * NULL: appends nothing. Returns TESELA_BAD_INPUT and names the file if it holds no such result. */
tesela_status tsl_ladder_results(const char *files, tsl_text *out);

#endif
