/* Mock CUDA devices without a driver or memory, for tests only. NVRTC compiles for them, so that
 * strategies build their kernels as on a device of that architecture. */
#ifndef TSL_TESTS_CUDA_MOCK_H
#define TSL_TESTS_CUDA_MOCK_H

#include "device/cuda/nvrtc.h"
#include "device/device.h"

/* The kind "mock", for tsl_device_kind_add(): a device for each architecture of which NVRTC makes something,
 * the limits being those that all CUDA devices have. After tsl_nvrtc_load(). */
extern const tsl_device_kind mock_kind;

/* Returns the number of texts compiled so far. mock_built() returns true when one of them had a
 * line "#line 1 "<path>"". */
int mock_builds(void);
bool mock_built(const char *path);
/* Returns the binary of the last build: PTX for the device of an unknown architecture. The mock
 * owns it. */
const tsl_binary *mock_last(void);

/* Builds that make machine code optimise it as for users. Without it NVRTC 13 and later compile quickly. */
extern bool mock_is_optimised;

/* Compiles a text, checks that the binary is of the target's kind, and returns its size. */
size_t mock_compile(const tsl_nvrtc_target *target, const char *name, const char *text, const char *options);

#endif
