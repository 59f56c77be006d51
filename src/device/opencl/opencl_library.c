#include "device/opencl/opencl.h"

#include "core/env.h"
#include "core/library.h"
#include "core/status.h"

#include <pthread.h>
#include <stdio.h>

tsl_opencl_functions tsl_opencl;

static const tsl_library_symbol symbols[] = {
#define TSL_OPENCL_SYMBOL(name) {#name, offsetof(tsl_opencl_functions, name), 0},
    TSL_OPENCL_FUNCTION_LIST(TSL_OPENCL_SYMBOL)
#undef TSL_OPENCL_SYMBOL
};

tesela_status tsl_opencl_load(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded = false;
  static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
  const char *chosen = tsl_env_get(TSL_ENV_OPENCL);
  tsl_opencl_functions found;
  TSL_TRY(tsl_library_load("the OpenCL library", chosen[0] != '\0' ? chosen : NULL, names, symbols,
                           (int)(sizeof symbols / sizeof symbols[0]), &found));
  pthread_mutex_lock(&lock);
  if (!loaded)
    tsl_opencl = found;
  loaded = true;
  pthread_mutex_unlock(&lock);
  return TESELA_OK;
}

/* Codes of OpenCL 1.2, the loader and NVIDIA. */
#define TSL_OPENCL_ERROR_LIST(X)                                                                             \
  X(CL_DEVICE_NOT_FOUND)                                                                                     \
  X(CL_DEVICE_NOT_AVAILABLE)                                                                                 \
  X(CL_COMPILER_NOT_AVAILABLE)                                                                               \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                                        \
  X(CL_OUT_OF_RESOURCES)                                                                                     \
  X(CL_OUT_OF_HOST_MEMORY)                                                                                   \
  X(CL_PROFILING_INFO_NOT_AVAILABLE)                                                                         \
  X(CL_MEM_COPY_OVERLAP)                                                                                     \
  X(CL_IMAGE_FORMAT_MISMATCH)                                                                                \
  X(CL_IMAGE_FORMAT_NOT_SUPPORTED)                                                                           \
  X(CL_BUILD_PROGRAM_FAILURE)                                                                                \
  X(CL_MAP_FAILURE)                                                                                          \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET)                                                                         \
  X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                                                            \
  X(CL_COMPILE_PROGRAM_FAILURE)                                                                              \
  X(CL_LINKER_NOT_AVAILABLE)                                                                                 \
  X(CL_LINK_PROGRAM_FAILURE)                                                                                 \
  X(CL_DEVICE_PARTITION_FAILED)                                                                              \
  X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)                                                                        \
  X(CL_INVALID_VALUE)                                                                                        \
  X(CL_INVALID_DEVICE_TYPE)                                                                                  \
  X(CL_INVALID_PLATFORM)                                                                                     \
  X(CL_INVALID_DEVICE)                                                                                       \
  X(CL_INVALID_CONTEXT)                                                                                      \
  X(CL_INVALID_QUEUE_PROPERTIES)                                                                             \
  X(CL_INVALID_COMMAND_QUEUE)                                                                                \
  X(CL_INVALID_HOST_PTR)                                                                                     \
  X(CL_INVALID_MEM_OBJECT)                                                                                   \
  X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)                                                                      \
  X(CL_INVALID_IMAGE_SIZE)                                                                                   \
  X(CL_INVALID_SAMPLER)                                                                                      \
  X(CL_INVALID_BINARY)                                                                                       \
  X(CL_INVALID_BUILD_OPTIONS)                                                                                \
  X(CL_INVALID_PROGRAM)                                                                                      \
  X(CL_INVALID_PROGRAM_EXECUTABLE)                                                                           \
  X(CL_INVALID_KERNEL_NAME)                                                                                  \
  X(CL_INVALID_KERNEL_DEFINITION)                                                                            \
  X(CL_INVALID_KERNEL)                                                                                       \
  X(CL_INVALID_ARG_INDEX)                                                                                    \
  X(CL_INVALID_ARG_VALUE)                                                                                    \
  X(CL_INVALID_ARG_SIZE)                                                                                     \
  X(CL_INVALID_KERNEL_ARGS)                                                                                  \
  X(CL_INVALID_WORK_DIMENSION)                                                                               \
  X(CL_INVALID_WORK_GROUP_SIZE)                                                                              \
  X(CL_INVALID_WORK_ITEM_SIZE)                                                                               \
  X(CL_INVALID_GLOBAL_OFFSET)                                                                                \
  X(CL_INVALID_EVENT_WAIT_LIST)                                                                              \
  X(CL_INVALID_EVENT)                                                                                        \
  X(CL_INVALID_OPERATION)                                                                                    \
  X(CL_INVALID_GL_OBJECT)                                                                                    \
  X(CL_INVALID_BUFFER_SIZE)                                                                                  \
  X(CL_INVALID_MIP_LEVEL)                                                                                    \
  X(CL_INVALID_GLOBAL_WORK_SIZE)                                                                             \
  X(CL_INVALID_PROPERTY)                                                                                     \
  X(CL_INVALID_IMAGE_DESCRIPTOR)                                                                             \
  X(CL_INVALID_COMPILER_OPTIONS)                                                                             \
  X(CL_INVALID_LINKER_OPTIONS)                                                                               \
  X(CL_INVALID_DEVICE_PARTITION_COUNT)                                                                       \
  X(CL_PLATFORM_NOT_FOUND_KHR)

const char *tsl_opencl_error_name(cl_int code) {
  static const struct {
    cl_int code;
    const char *name;
  } errors[] = {
#define TSL_OPENCL_ERROR(name) {name, #name},
      TSL_OPENCL_ERROR_LIST(TSL_OPENCL_ERROR)
#undef TSL_OPENCL_ERROR
  };
  static _Thread_local char unknown[40];
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (errors[i].code == code)
      return errors[i].name;
  snprintf(unknown, sizeof unknown, "OpenCL error %d", code);
  return unknown;
}

tesela_status tsl_opencl_fail(const tsl_device *device, const char *call, cl_int code, const char *detail) {
  const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
  return tsl_fail(memory ? TESELA_OUT_OF_MEMORY : TESELA_DEVICE_FAILED, "%s: %s: %s%s%s", device->name, call,
                  tsl_opencl_error_name(code), detail[0] != '\0' ? ", " : "", detail);
}

tesela_status tsl_opencl_check(const tsl_device *device, const char *call, cl_int code) {
  return code == CL_SUCCESS ? TESELA_OK : tsl_opencl_fail(device, call, code, "");
}
