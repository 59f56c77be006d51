/* NVRTC: CUDA C++ text to machine code, with or without a GPU. Loaded at run time. */
#ifndef TSL_DEVICE_CUDA_NVRTC_H
#define TSL_DEVICE_CUDA_NVRTC_H

#include "device/device.h"

/* What to compile for, given what this NVRTC knows. */
typedef struct tsl_nvrtc_target {
  char name[24]; /* "sm_90a": machine code; "compute_90": PTX, which the driver compiles on */
  bool is_ptx;
} tsl_nvrtc_target;

/* Loads NVRTC: the library that TESELA_NVRTC names, else the first of its usual names that loads, in the
 * loader's path and in the folders where CUDA installs it. Versions that the driver (13000 for CUDA 13.0; 0
 * for none) is not too old for are tried first: an older driver takes no newer machine code. Looks at
 * TESELA_NVRTC at each call; once a library is loaded, its functions stay those in use. TESELA_NO_DEVICE says
 * what was tried. */
tesela_status tsl_nvrtc_load(int driver_version);

/* Below: after a successful tsl_nvrtc_load(). Any thread. */

/* Version as major * 1000 + minor * 10: 13000. */
int tsl_nvrtc_version(void);

/* The target for a device of an architecture (90 for sm_90): its own machine code, with the instructions that
 * only this architecture has ("a") from sm_90 on; for a device newer than this NVRTC, PTX of the newest
 * architecture it knows. TESELA_UNSUPPORTED, with what NVRTC knows, for a device that is too old for it. */
tesela_status tsl_nvrtc_target_for(int architecture, tsl_nvrtc_target *target);

/* Appends what decides, beside the text, what comes out: "NVRTC 13.0 --gpu-architecture=sm_90a ...". */
void tsl_nvrtc_describe(const tsl_nvrtc_target *target, tsl_text *text);

/* Compiles build->text; build->options are further options, separated by blanks. The binary is a cubin, or
 * PTX with its NUL. `who` starts the sentences ("cuda:0"). On TESELA_BUILD_FAILED the compiler's log is kept
 * with tsl_status_keep_log(); the log of a build that worked goes to the log's topic device. */
tesela_status tsl_nvrtc_compile(const char *who, const tsl_nvrtc_target *target, const tsl_build *build,
                                tsl_binary *binary);

#endif
