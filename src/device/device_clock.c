#include "device/device_clock.h"

#include "core/library.h"
#include "core/processor.h"
#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tesela/tesela.h>

typedef struct nvml_device_object *nvml_device;
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

/* Names and order are the library's ABI. X(member, symbol, parameters) */
#define NVML_LIST(X)                                                                                         \
  X(init, nvmlInit_v2, (void))                                                                               \
  X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, nvml_device *device))                        \
  X(clock, nvmlDeviceGetClockInfo, (nvml_device device, int type, unsigned *mhz))                            \
  X(temperature, nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned *celsius))

typedef struct nvml_api {
#define NVML_MEMBER(member, symbol, parameters) int(*member) parameters;
  NVML_LIST(NVML_MEMBER)
#undef NVML_MEMBER
} nvml_api;

static const tsl_library_symbol symbols[] = {
#define NVML_SYMBOL(member, symbol, parameters) {#symbol, offsetof(nvml_api, member), 0},
    NVML_LIST(NVML_SYMBOL)
#undef NVML_SYMBOL
};

static nvml_api nvml;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready;

/* Starts the library once per process; starting is slow. */
static tesela_status nvml_start(void) {
  static const char *const names[] = {"libnvidia-ml.so.1", NULL};
  if (is_ready)
    return TESELA_OK;
  TSL_TRY(tsl_library_load("NVML, NVIDIA's management library,", NULL, names, symbols,
                           sizeof symbols / sizeof *symbols, &nvml));
  const int code = nvml.init();
  if (code != NVML_SUCCESS)
    return tsl_fail(TESELA_NO_DEVICE, "NVML does not start: nvmlInit returns %d", code);
  is_ready = true;
  return TESELA_OK;
}

/* Gets a number of the GPU at a PCI address by a function of the library; `what` names it in messages. */
static tesela_status nvml_read(const char *pci, const char *what, bool is_clock, int *out) {
  nvml_device device;
  unsigned value = 0;
  *out = 0;
  pthread_mutex_lock(&lock);
  const tesela_status status = nvml_start();
  pthread_mutex_unlock(&lock);
  if (status != TESELA_OK)
    return status;
  int code = nvml.by_pci(pci, &device);
  if (code != NVML_SUCCESS)
    return tsl_fail(TESELA_NO_DEVICE, "NVML finds no GPU at %s: it returns %d", pci, code);
  code = is_clock ? nvml.clock(device, NVML_CLOCK_SM, &value)
                  : nvml.temperature(device, NVML_TEMPERATURE_GPU, &value);
  if (code != NVML_SUCCESS)
    return tsl_fail(TESELA_NO_DEVICE, "NVML does not tell the %s of the GPU at %s: it returns %d", what, pci,
                    code);
  *out = (int)value;
  return TESELA_OK;
}

/* Gets the multiprocessor clock in MHz of the GPU at a PCI address ("0000:3b:00.0"), by NVIDIA's library.
 * Fails with TESELA_NO_DEVICE and the reason: no library, no GPU, or no answer. */
static tesela_status nvml_clock(const char *pci, int *mhz) {
  return nvml_read(pci, "clock", true, mhz);
}

/* Gets the GPU's temperature in degrees Celsius; fails like nvml_clock(). */
static tesela_status nvml_temperature(const char *pci, int *celsius) {
  return nvml_read(pci, "temperature", false, celsius);
}

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
    return read_gpu(device, nvml_clock, why, size);
  const int mhz = tsl_processor_mhz_at("");
  if (mhz == 0)
    snprintf(why, size, "neither cpufreq nor /proc/cpuinfo tells a clock");
  return mhz;
}

int tsl_device_temperature_now(const tsl_device *device, char *why, size_t size) {
  snprintf(why, size, "%s", "");
  if (!device->is_cpu)
    return read_gpu(device, nvml_temperature, why, size);
  const int celsius = tsl_processor_celsius_at("");
  if (celsius == 0)
    snprintf(why, size, "no thermal zone tells a temperature");
  return celsius;
}
