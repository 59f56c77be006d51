/* A library with NVML's names that knows one GPU. */
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int nvmlInit_v2(void);
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
EXPORTED int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
EXPORTED int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);

static int gpu;

int nvmlInit_v2(void) {
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device) {
  *device = &gpu;
  return strcmp(pci, "0000:3b:00.0") == 0 ? 0 : 6;
}

/* The multiprocessors' clock is type 1. */
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz) {
  *mhz = 1755;
  return device == &gpu && type == 1 ? 0 : 3;
}

/* The sensor of the chip is type 0. */
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
  *celsius = 64;
  return device == &gpu && sensor == 0 ? 0 : 3;
}
