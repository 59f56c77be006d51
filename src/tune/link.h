/* What it costs to reach devices is measured here, once on a machine, and kept where the planner finds it
 * (planner/transfer_cost.h). */
#ifndef TSL_TUNE_LINK_H
#define TSL_TUNE_LINK_H

#include "planner/transfer_cost.h"

/* Measures and keeps; opens the device. On the cpu, nothing. */
tesela_status tsl_tune_link(tsl_device *device, tsl_link *link);
/* The same of a core of the processor, by tsl_roofs_core(). */
tesela_status tsl_tune_core(const tsl_device *cpu);

#endif
