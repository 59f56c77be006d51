/* Mock CUDA devices: no driver and no memory, but NVRTC compiles for them, so that strategies build their
 * kernels as they would on a device of that architecture. For tests only. */
#ifndef TSL_TESTS_CUDA_MOCK_H
#define TSL_TESTS_CUDA_MOCK_H

#include "device/device.h"

/* The kind "mock", for tsl_device_kind_add(): a device for each architecture of which NVRTC makes something,
 * the limits being those that all CUDA devices have. After tsl_nvrtc_load(). */
extern const tsl_device_kind mock_kind;

/* What was compiled so far: how many texts, and whether one of them held a line "#line 1 "<path>"". */
int mock_builds(void);
bool mock_built(const char *path);
/* The binary of the last build; PTX for the device of an architecture that nobody knows. */
const tsl_binary *mock_last(void);

#endif
