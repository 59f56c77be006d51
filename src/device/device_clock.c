#include "device/device_clock.h"

#include "core/processor.h"
#include "core/status.h"
#include "device/nvml.h"

#include <stdio.h>

int tsl_device_clock_now(const tsl_device *device, char *why, size_t size) {
  int mhz = 0;
  snprintf(why, size, "%s", "");
  if (device->is_cpu) {
    mhz = tsl_processor_mhz_at("");
    if (mhz == 0)
      snprintf(why, size, "neither cpufreq nor /proc/cpuinfo tells a clock");
  } else if (device->pci[0] == '\0') {
    snprintf(why, size, "%s does not tell its place on the PCI bus", device->name);
  } else if (tsl_nvml_clock(device->pci, &mhz) != TESELA_OK) {
    snprintf(why, size, "%s", tesela_last_error());
  }
  return mhz;
}
