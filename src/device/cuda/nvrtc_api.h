/* The used part of NVRTC's ABI since CUDA 11.2. Functions except error_text return 0 for success. */
#ifndef TSL_DEVICE_CUDA_NVRTC_API_H
#define TSL_DEVICE_CUDA_NVRTC_API_H

#include <stddef.h>

typedef struct tsl_nvrtc_program_object *tsl_nvrtc_program;

enum {
  TSL_NVRTC_SUCCESS = 0,
  TSL_NVRTC_OUT_OF_MEMORY = 1,
  TSL_NVRTC_COMPILATION = 6,
  TSL_NVRTC_BUILTINS = 7 /* libnvrtc-builtins is missing or has another version */
};

/* X(return type, member, symbol, parameters). Text sizes include the NUL; an architecture is 90 for sm_90. */
#define TSL_NVRTC_LIST(X)                                                                                    \
  X(const char *, error_text, nvrtcGetErrorString, (int code))                                               \
  X(int, version, nvrtcVersion, (int *major, int *minor))                                                    \
  X(int, architecture_count, nvrtcGetNumSupportedArchs, (int *count))                                        \
  X(int, architectures, nvrtcGetSupportedArchs, (int *architectures))                                        \
  X(int, program_create, nvrtcCreateProgram,                                                                 \
    (tsl_nvrtc_program * program, const char *text, const char *name, int header_count,                      \
     const char *const *headers, const char *const *header_names))                                           \
  X(int, program_destroy, nvrtcDestroyProgram, (tsl_nvrtc_program * program))                                \
  X(int, compile, nvrtcCompileProgram, (tsl_nvrtc_program program, int count, const char *const *options))   \
  X(int, log_bytes, nvrtcGetProgramLogSize, (tsl_nvrtc_program program, size_t * bytes))                     \
  X(int, log, nvrtcGetProgramLog, (tsl_nvrtc_program program, char *log))                                    \
  X(int, ptx_bytes, nvrtcGetPTXSize, (tsl_nvrtc_program program, size_t * bytes))                            \
  X(int, ptx, nvrtcGetPTX, (tsl_nvrtc_program program, char *ptx))                                           \
  X(int, cubin_bytes, nvrtcGetCUBINSize, (tsl_nvrtc_program program, size_t * bytes))                        \
  X(int, cubin, nvrtcGetCUBIN, (tsl_nvrtc_program program, char *cubin))

typedef struct tsl_nvrtc_api {
#define TSL_NVRTC_MEMBER(type, member, symbol, parameters) type(*member) parameters;
  TSL_NVRTC_LIST(TSL_NVRTC_MEMBER)
#undef TSL_NVRTC_MEMBER
} tsl_nvrtc_api;

#endif
