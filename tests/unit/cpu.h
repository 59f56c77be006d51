/* The processor, for tests of strategies in C: devices of the group of tests, and it with less than it has.
 */
#ifndef TSL_TESTS_CPU_H
#define TSL_TESTS_CPU_H

#include "device/devices.h"

static tsl_devices *devices;
static tsl_device *cpu;

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

/* The processor without what instruction sets beyond number `set` of these add; false: it has not that one
 * either. */
enum { CPU_SETS = 3 };
static inline bool cpu_with(int set, tsl_device *out) {
  static const unsigned sets[CPU_SETS] = {0, TSL_CAN_AVX2, TSL_CAN_AVX2 | TSL_CAN_AVX512};
  *out = *cpu;
  out->capabilities = (cpu->capabilities & ~sets[CPU_SETS - 1]) | sets[set];
  return (sets[set] & ~cpu->capabilities) == 0;
}

#endif
