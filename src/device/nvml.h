/* NVIDIA's management library, as far as tesela asks it: loaded at run time, for reading only. */
#ifndef TSL_DEVICE_NVML_H
#define TSL_DEVICE_NVML_H

#include <tesela/tesela.h>

/* The present clock in MHz of the multiprocessors of the GPU at this place of the PCI bus ("0000:3b:00.0").
 * TESELA_NO_DEVICE with the reason where there is no library, no such GPU, or no answer. */
tesela_status tsl_nvml_clock(const char *pci, int *mhz);

#endif
