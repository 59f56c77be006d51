/* Tunes one problem: chooses the device, searches, saves the record. */
#ifndef TSL_TOOL_TUNE_TUNING_H
#define TSL_TOOL_TUNE_TUNING_H

#include "tune/report.h"

/* Runs the search on `device`, else on the environment's device, else on the device that would run
 * the problem now. `all` has problem, budget, search and wisdom. A result that cannot be saved
 * remains in `all`, with the failure. */
tesela_status tsl_tuning_run(const tsl_tune_options *options, const char *device, tsl_devices *devices,
                             tsl_tuning *all);
/* Saves the results so far when an interrupt ends a search within a batch; returns false if there
 * are none. */
bool tsl_tuning_settle(const tsl_tune_options *options, tsl_tuning *all);

#endif
