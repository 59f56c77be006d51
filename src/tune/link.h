/* Measurement of transfer costs between host and devices, once per machine; stored for the planner
 * (planner/transfer_cost.h). */
#ifndef TSL_TUNE_LINK_H
#define TSL_TUNE_LINK_H

#include "planner/transfer_cost.h"

/* Measures a device's transfer costs and stores them. Opens the device. For the CPU it only returns
 * the stored value. */
tesela_status tsl_tune_link(tsl_device *device, tsl_link *link);
/* Measures the speed of a CPU core by tsl_roofs_core() and stores it. */
tesela_status tsl_tune_core(const tsl_device *cpu);

#endif
