/* The processor as a device: buffers are host memory, streams execute at once, events are clock readings. */
#ifndef TSL_DEVICE_CPU_CPU_H
#define TSL_DEVICE_CPU_CPU_H

#include "device/device_operations.h"

/* Fills the device except ops and impl. TESELA_BAD_CALL for an invalid TESELA_ISA. */
tesela_status tsl_cpu_describe(tsl_device *device);

/* Functions with `root` read Linux files below that path ("" for this machine). */

/* Returns true if the processor has AMX tiles for bf16 and 8-bit integers, and the kernel permits them. */
bool tsl_cpu_has_amx(void);
/* Returns true if a core executes two 64-byte multiply-adds per clock, as all processors with AMX do. */
bool tsl_cpu_pairs_vectors(void);
/* Returns true if 32-byte units execute a 64-byte vector in two passes. */
bool tsl_cpu_halves_vectors(void);
/* Returns true for AMD processors with 64-byte data paths, by family and EAX of CPUID 8000001Ah. */
bool tsl_cpu_paths_of_64(unsigned family, unsigned paths);
/* Gets the model name on x86-64, vendor and part on arm64, cut to `size` bytes. */
void tsl_cpu_label_at(const char *root, char *label, size_t size);
/* Returns the maximum clock in MHz, from cpufreq, /proc/cpuinfo or the model name; 0: unknown. */
int tsl_cpu_clock_at(const char *root);

TSL_BUFFER_OPERATIONS(TSL_DECLARE_OPERATION, cpu)
TSL_SHARED_OPERATIONS(TSL_DECLARE_OPERATION, cpu)

#endif
