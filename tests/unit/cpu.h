/* The processor, for tests of strategies in C: devices of the group of tests, and it with less than it has.
 */
#ifndef TSL_TESTS_CPU_H
#define TSL_TESTS_CPU_H

#include "device/devices.h"

extern tsl_devices *devices;
extern tsl_device *cpu;

int cpu_set_up(void **state);
int cpu_tear_down(void **state);

/* The processor without what instruction sets beyond number `set` of these add; false: it has not that one
 * either. */
enum { CPU_SETS = 3 };
bool cpu_with(int set, tsl_device *out);

#endif
