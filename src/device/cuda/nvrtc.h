/* NVRTC: compiles CUDA C++ to machine code, with or without a GPU. Loaded at run time. */
#ifndef TSL_DEVICE_CUDA_NVRTC_H
#define TSL_DEVICE_CUDA_NVRTC_H

#include "device/device.h"

/* Compilation target, chosen by the architectures that this NVRTC supports. */
typedef struct tsl_nvrtc_target {
  char name[24]; /* "sm_90a": machine code; "compute_90": PTX, which the driver compiles further */
  bool is_ptx;
} tsl_nvrtc_target;

/* Loads NVRTC: the library of TESELA_NVRTC, else the first usual name that loads, from the loader's path and
 * CUDA's install folders. Versions that `driver_version` (13000 for CUDA 13.0; 0: none) supports are tried
 * first, because an older driver rejects newer machine code. Reads TESELA_NVRTC at each call, but a loaded
 * library is never replaced. Fails with TESELA_NO_DEVICE and the list of tried names. */
tesela_status tsl_nvrtc_load(int driver_version);

/* The following functions need a successful tsl_nvrtc_load(). Thread-safe. */

/* Returns major * 1000 + minor * 10: 13000. */
int tsl_nvrtc_version(void);

/* Gets the target for an architecture (90 for sm_90): its machine code, from sm_90 on with
 * architecture-specific instructions ("a"). For a device newer than NVRTC: PTX of the newest known
 * architecture. Fails with TESELA_UNSUPPORTED for a device that is too old for this NVRTC. */
tesela_status tsl_nvrtc_target_for(int architecture, tsl_nvrtc_target *target);

/* Appends the compiler version and options, the part of the result's key besides the text: "NVRTC
 * 13.0 --gpu-architecture=sm_90a ...". */
void tsl_nvrtc_describe(const tsl_nvrtc_target *target, tsl_text *text);

/* Compiles build->text with additional build->options, separated by blanks. The binary is a cubin, or PTX
 * with its NUL. `who` starts messages ("cuda:0"). On TESELA_BUILD_FAILED the compiler's log is stored with
 * tsl_status_keep_log(). The log of a successful build goes to the log topic `device`. */
tesela_status tsl_nvrtc_compile(const char *who, const tsl_nvrtc_target *target, const tsl_build *build,
                                tsl_binary *binary);

#endif
