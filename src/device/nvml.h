#ifndef TSL_DEVICE_NVML_H
#define TSL_DEVICE_NVML_H

#include <tesela/tesela.h>

/* Gets the multiprocessor clock in MHz of the GPU at a PCI address ("0000:3b:00.0"), by NVIDIA's library.
 * Fails with TESELA_NO_DEVICE and the reason: no library, no GPU, or no answer. */
tesela_status tsl_nvml_clock(const char *pci, int *mhz);
/* Gets the GPU's temperature in degrees Celsius; fails like tsl_nvml_clock(). */
tesela_status tsl_nvml_temperature(const char *pci, int *celsius);

#endif
