/* The tuning of one problem: chosen, searched, kept. */
#ifndef TSL_TOOL_TUNE_TUNING_H
#define TSL_TOOL_TUNE_TUNING_H

#include "tune/report.h"

/* On the device that is named, or where `device` and the environment name none, the one that would run the
 * problem now. `all` has problem, budget, search and wisdom. What was found and cannot be kept is kept in
 * `all`, with the failure. */
tesela_status tsl_tuning_run(const tsl_tune_options *options, const char *device, tsl_devices *devices,
                             tsl_tuning *all);
/* Concludes a search that an interrupt ends within a batch: keeps what was found until then. false: nothing
 * was. */
bool tsl_tuning_settle(const tsl_tune_options *options, tsl_tuning *all);

#endif
