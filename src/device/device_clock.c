#include "device/device_clock.h"

#include "core/processor.h"
#include "core/status.h"
#include "device/nvml.h"

#include <stdio.h>

/* Gets a number of a GPU from NVML, or the reason why there is none. */
static int read_gpu(const tsl_device *device, tesela_status (*read)(const char *pci, int *value), char *why,
                    size_t size) {
  int value = 0;
  if (device->pci[0] == '\0')
    snprintf(why, size, "%s does not tell its place on the PCI bus", device->name);
  else if (read(device->pci, &value) != TESELA_OK)
    snprintf(why, size, "%s", tesela_last_error());
  return value;
}

int tsl_device_clock_now(const tsl_device *device, char *why, size_t size) {
  snprintf(why, size, "%s", "");
  if (!device->is_cpu)
    return read_gpu(device, tsl_nvml_clock, why, size);
  const int mhz = tsl_processor_mhz_at("");
  if (mhz == 0)
    snprintf(why, size, "neither cpufreq nor /proc/cpuinfo tells a clock");
  return mhz;
}

int tsl_device_temperature_now(const tsl_device *device, char *why, size_t size) {
  snprintf(why, size, "%s", "");
  if (!device->is_cpu)
    return read_gpu(device, tsl_nvml_temperature, why, size);
  const int celsius = tsl_processor_celsius_at("");
  if (celsius == 0)
    snprintf(why, size, "no thermal zone tells a temperature");
  return celsius;
}
