/* The processor, for tests of strategies in C. */
#ifndef TSL_TESTS_CPU_H
#define TSL_TESTS_CPU_H

#include "device/devices.h"

/* Devices of this machine, and the processor among them, from cpu_set_up() to cpu_tear_down(). */
extern tsl_devices *devices;
extern tsl_device *cpu;

/* Setup and teardown of a group of tests. */
int cpu_set_up(void **state);
int cpu_tear_down(void **state);

/* Stores a copy of the processor that has the instruction sets up to number `set` only. Returns false if the
 * processor lacks set number `set`. */
enum { CPU_SETS = 3 };
bool cpu_with(int set, tsl_device *out);

#endif
