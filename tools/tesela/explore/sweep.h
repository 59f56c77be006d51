/* Reads the words of `tesela sweep` and makes its report. */
#ifndef TSL_TOOL_EXPLORE_SWEEP_H
#define TSL_TOOL_EXPLORE_SWEEP_H

#include "explore/report.h"

/* Fills op, strategies and sweep from words: a strategy in one word or several ("gemm tile_local
 * tile=16", or gemm tile_local), then "PARAMETER=V1,V2". Values that the strategy refuses are
 * permitted. Returns TESELA_BAD_CALL and names the wrong word. */
tesela_status tsl_sweep_read(char *const *words, int count, tsl_exploration *all);

/* Appends for each type, size and device a table of the values and a curve. */
tesela_status tsl_sweep_report(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                               tsl_text *out);

#endif
