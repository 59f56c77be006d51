/* Measurement of transfer costs, once per machine, for the planner (planner/transfer_cost.h). */
#ifndef TSL_TUNE_LINK_H
#define TSL_TUNE_LINK_H

#include "planner/transfer_cost.h"

/* Opens a device, measures its transfer costs and stores them. For the cpu only returns the stored value. */
tesela_status tsl_tune_link(tsl_device *device, tsl_link *link);
/* Measures the speed of a core by tsl_roofs_core() and stores it. */
tesela_status tsl_tune_core(const tsl_device *cpu);

#endif
