/* A mock GPU: a device that can be planned for and not opened, for tests of the planner. */
#ifndef TESTS_UNIT_MOCK_H
#define TESTS_UNIT_MOCK_H

#include "device/device.h"

/* A fast and large device. Tests change members of a copy. */
extern const tsl_device mock_device;

#endif
