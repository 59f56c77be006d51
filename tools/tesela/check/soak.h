/* A burn-in of devices: products whose whole results are verified, until the time is over. */
#ifndef TSL_TOOL_CHECK_SOAK_H
#define TSL_TOOL_CHECK_SOAK_H

#include "check/checking.h"

/* Computes and verifies products on each device in turn for options->soak seconds, and prints a report.
 * Returns TESELA_WRONG_RESULT if a result was wrong, after the time is over. */
tesela_status tsl_soak_run(const tsl_command_call *call, const tsl_check_options *options,
                           const tsl_device_list *devices);

#endif
