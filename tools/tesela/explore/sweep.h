/* What is particular to `tesela sweep`: reading what to sweep, and its report. */
#ifndef TSL_TOOL_EXPLORE_SWEEP_H
#define TSL_TOOL_EXPLORE_SWEEP_H

#include "explore/explore.h"

/* Fills op, strategies and sweep from words: a strategy (in one word or several: "gemm tile_local tile=16",
 * or gemm tile_local), then "PARAMETER=V1,V2". Values need not be ones that the strategy takes.
 * TESELA_BAD_CALL names the word that is wrong. */
tesela_status tsl_sweep_read(char *const *words, int count, tsl_exploration *all);

/* For each type, size and device a table of the values, and a curve. */
tesela_status tsl_sweep_print(const tsl_exploration *all, tsl_devices *devices, bool markdown);

#endif
