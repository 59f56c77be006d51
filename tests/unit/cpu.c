#include "unit/cpu.h"

tsl_devices *devices;
tsl_device *cpu;

int cpu_set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK;
}

int cpu_tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

bool cpu_with(int set, tsl_device *out) {
  static const unsigned sets[CPU_SETS] = {0, TSL_CAN_AVX2, TSL_CAN_AVX2 | TSL_CAN_AVX512};
  *out = *cpu;
  out->capabilities = (cpu->capabilities & ~sets[CPU_SETS - 1]) | sets[set];
  return (sets[set] & ~cpu->capabilities) == 0;
}
