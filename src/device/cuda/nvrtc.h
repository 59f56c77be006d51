/* NVRTC compiles CUDA C++ to machine code, with or without a GPU. Loaded at run time. */
#ifndef TSL_DEVICE_CUDA_NVRTC_H
#define TSL_DEVICE_CUDA_NVRTC_H

#include "device/device.h"

typedef struct tsl_nvrtc_target {
  char name[24]; /* "sm_90a": machine code; "compute_90": PTX for the driver */
  bool is_ptx;
} tsl_nvrtc_target;

/* Loads the library of TESELA_NVRTC (read at each call), else the first usual name that loads. Versions that
 * `driver_version` (13000 for CUDA 13.0; 0: none) supports come first, because older drivers reject newer
 * code. Never replaces a loaded library. TESELA_NO_DEVICE with the list of tried names. */
tesela_status tsl_nvrtc_load(int driver_version);

/* The rest needs tsl_nvrtc_load(). Thread-safe. */

/* Returns 1000 * major + 10 * minor: 13000. */
int tsl_nvrtc_version(void);

/* Gets the target for an architecture (90): its machine code, from sm_90 on with "a" instructions, or PTX for
 * a device newer than NVRTC. TESELA_UNSUPPORTED for a device that is too old for this NVRTC. */
tesela_status tsl_nvrtc_target_for(int architecture, tsl_nvrtc_target *target);

/* Appends version and options for the cache's key: "NVRTC 13.0 --gpu-architecture=sm_90a ...". */
void tsl_nvrtc_describe(const tsl_nvrtc_target *target, tsl_text *text);

/* Compiles build->text with build->options, separated by blanks, to a cubin or PTX with its NUL; the caller
 * frees binary->data. `device_name` starts messages ("cuda:0"). On TESELA_BUILD_FAILED the log is stored with
 * tsl_status_keep_log(); the log of a successful build goes to topic `device`. */
tesela_status tsl_nvrtc_compile(const char *device_name, const tsl_nvrtc_target *target,
                                const tsl_build *build, tsl_binary *binary);

#endif
