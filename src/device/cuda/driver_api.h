/* The used part of the CUDA driver's ABI (CUDA 11 and later), so that the build needs no CUDA toolkit. Every
 * function returns a result code, 0 for success. */
#ifndef TSL_DEVICE_CUDA_DRIVER_API_H
#define TSL_DEVICE_CUDA_DRIVER_API_H

#include <stddef.h>

typedef int tsl_cu_device;
typedef unsigned long long tsl_cu_address;
typedef struct tsl_cu_context_object *tsl_cu_context;
typedef struct tsl_cu_stream_object *tsl_cu_stream;
typedef struct tsl_cu_event_object *tsl_cu_event;
typedef struct tsl_cu_module_object *tsl_cu_module;
typedef struct tsl_cu_function_object *tsl_cu_function;

/* Memory kind of a side. */
enum { TSL_CU_MEMORY_HOST = 1, TSL_CU_MEMORY_DEVICE = 2 };

/* CUDA_MEMCPY2D. Only members of a side's memory kind are read; x is in bytes, y in rows. */
typedef struct tsl_cu_copy_2d {
  size_t from_x, from_y;
  unsigned from_memory;
  const void *from_host;
  tsl_cu_address from_device;
  void *from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  unsigned to_memory;
  void *to_host;
  tsl_cu_address to_device;
  void *to_array;
  size_t to_pitch;
  size_t row_bytes, rows;
} tsl_cu_copy_2d;

/* CUDA_MEMCPY3D_PEER, with one layer. */
typedef struct tsl_cu_copy_peer {
  size_t from_x, from_y, from_z, from_level;
  unsigned from_memory;
  const void *from_host;
  tsl_cu_address from_device;
  void *from_array;
  tsl_cu_context from_context;
  size_t from_pitch, from_height;
  size_t to_x, to_y, to_z, to_level;
  unsigned to_memory;
  void *to_host;
  tsl_cu_address to_device;
  void *to_array;
  tsl_cu_context to_context;
  size_t to_pitch, to_height;
  size_t row_bytes, rows, layers;
} tsl_cu_copy_peer;

/* CUlaunchAttribute, its value padded to 64 bytes. */
typedef struct tsl_cu_launch_attribute {
  int id, unused;
  union {
    int allowed;
    char bytes[64];
  } value;
} tsl_cu_launch_attribute;
typedef struct tsl_cu_launch {
  unsigned groups[3], items[3], shared_bytes;
  tsl_cu_stream stream;
  tsl_cu_launch_attribute *attributes;
  unsigned count;
} tsl_cu_launch;
enum { TSL_CU_LAUNCH_EARLY = 6 }; /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */

/* Arguments of cuTensorMapEncodeTiled. */
enum {
  TSL_CU_TENSOR_U8 = 0,
  TSL_CU_TENSOR_U16 = 1,
  TSL_CU_TENSOR_U32 = 2,
  TSL_CU_TENSOR_SWIZZLE_128 = 3,
  TSL_CU_TENSOR_FETCH_128 = 2
};

/* For cuDeviceGetAttribute. */
typedef enum tsl_cu_attribute {
  TSL_CU_GROUP_ITEMS_MAX = 1,
  TSL_CU_GROUP_SIZE_MAX_X = 2, /* y and z follow */
  TSL_CU_GROUP_COUNT_MAX_X = 5,
  TSL_CU_STATIC_SHARED_MAX = 8, /* bytes of shared memory that a block may declare */
  TSL_CU_WARP_SIZE = 10,
  TSL_CU_PITCH_MAX = 11,
  TSL_CU_CLOCK_KHZ = 13,
  TSL_CU_MULTIPROCESSORS = 16,
  TSL_CU_INTEGRATED = 18,
  TSL_CU_MEMORY_CLOCK_KHZ = 36,
  TSL_CU_MEMORY_BUS_BITS = 37,
  TSL_CU_L2_CACHE_BYTES = 38,
  TSL_CU_CAPABILITY_MAJOR = 75,
  TSL_CU_CAPABILITY_MINOR = 76,
  TSL_CU_SHARED_MAX = 97, /* bytes of shared memory that a block may request at launch */
  TSL_CU_F32_PER_F64 = 87 /* throughput ratio */
} tsl_cu_attribute;

/* For cuPointerGetAttributes, which gives 0 for an unknown address. */
enum {
  TSL_CU_POINTER_MEMORY = 2,
  TSL_CU_POINTER_DEVICE_ADDRESS = 3,
  TSL_CU_POINTER_IS_MANAGED = 8,
  TSL_CU_POINTER_ORDINAL = 9,
  TSL_CU_POINTER_IS_PLAIN = 10, /* memory of cuMemAlloc: CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE */
  TSL_CU_POINTER_START = 11,
  TSL_CU_POINTER_BYTES = 12
};
/* Default streams of a context and of a thread. */
enum { TSL_CU_STREAM_LEGACY = 1, TSL_CU_STREAM_PER_THREAD = 2 };

/* For cuFuncGetAttribute and cuFuncSetAttribute. */
enum { TSL_CU_FUNCTION_ITEMS_MAX = 0, TSL_CU_FUNCTION_SHARED_MAX = 8 };
/* For cuModuleLoadDataEx; the size is passed as a pointer. */
enum { TSL_CU_JIT_ERROR_LOG = 5, TSL_CU_JIT_ERROR_LOG_BYTES = 6 };
/* No synchronization with the default stream. */
enum { TSL_CU_STREAM_NON_BLOCKING = 1 };
enum { TSL_CU_EVENT_DEFAULT = 0 };

/* X(NAME, code, status, whether it ends the context: later calls return the code until the process ends). */
#define TSL_CU_RESULT_LIST(X)                                                                                \
  X(OUT_OF_MEMORY, 2, TESELA_OUT_OF_MEMORY, 0)                                                               \
  X(NOT_INITIALIZED, 3, TESELA_DEVICE_FAILED, 0)                                                             \
  X(NO_DEVICE, 100, TESELA_NO_DEVICE, 0)                                                                     \
  X(INVALID_IMAGE, 200, TESELA_BUILD_FAILED, 0)                                                              \
  X(NO_BINARY_FOR_GPU, 209, TESELA_BUILD_FAILED, 0)                                                          \
  X(ECC_UNCORRECTABLE, 214, TESELA_DEVICE_FAILED, 1)                                                         \
  X(INVALID_PTX, 218, TESELA_BUILD_FAILED, 0)                                                                \
  X(NVLINK_UNCORRECTABLE, 220, TESELA_DEVICE_FAILED, 1)                                                      \
  X(JIT_COMPILER_NOT_FOUND, 221, TESELA_BUILD_FAILED, 0)                                                     \
  X(UNSUPPORTED_PTX_VERSION, 222, TESELA_BUILD_FAILED, 0)                                                    \
  X(JIT_COMPILATION_DISABLED, 223, TESELA_BUILD_FAILED, 0)                                                   \
  X(CONTAINED, 226, TESELA_DEVICE_FAILED, 1)                                                                 \
  X(INVALID_SOURCE, 300, TESELA_BUILD_FAILED, 0)                                                             \
  X(NOT_FOUND, 500, TESELA_DEVICE_FAILED, 0)                                                                 \
  X(ILLEGAL_ADDRESS, 700, TESELA_DEVICE_FAILED, 1)                                                           \
  X(LAUNCH_TIMEOUT, 702, TESELA_DEVICE_FAILED, 1)                                                            \
  X(CONTEXT_IS_DESTROYED, 709, TESELA_DEVICE_FAILED, 1)                                                      \
  X(ASSERT, 710, TESELA_DEVICE_FAILED, 1)                                                                    \
  X(HARDWARE_STACK_ERROR, 714, TESELA_DEVICE_FAILED, 1)                                                      \
  X(ILLEGAL_INSTRUCTION, 715, TESELA_DEVICE_FAILED, 1)                                                       \
  X(MISALIGNED_ADDRESS, 716, TESELA_DEVICE_FAILED, 1)                                                        \
  X(INVALID_ADDRESS_SPACE, 717, TESELA_DEVICE_FAILED, 1)                                                     \
  X(INVALID_PC, 718, TESELA_DEVICE_FAILED, 1)                                                                \
  X(LAUNCH_FAILED, 719, TESELA_DEVICE_FAILED, 1)                                                             \
  X(TENSOR_MEMORY_LEAK, 721, TESELA_DEVICE_FAILED, 1)                                                        \
  X(MPS_CLIENT_TERMINATED, 810, TESELA_DEVICE_FAILED, 1)

enum {
#define TSL_CU_RESULT_MEMBER(name, code, status, ends) TSL_CU_##name = (code),
  TSL_CU_RESULT_LIST(TSL_CU_RESULT_MEMBER)
#undef TSL_CU_RESULT_MEMBER
      TSL_CU_SUCCESS = 0,
  TSL_CU_NOT_READY = 600 /* pending work */
};

/* X(member, symbol, parameters). */
#define TSL_CU_LIST(X)                                                                                       \
  X(error_name, cuGetErrorName, (int code, const char **text))                                               \
  X(error_text, cuGetErrorString, (int code, const char **text))                                             \
  X(init, cuInit, (unsigned flags))                                                                          \
  X(driver_version, cuDriverGetVersion, (int *version)) /* 1000 major + 10 minor */                          \
  X(device_count, cuDeviceGetCount, (int *count))                                                            \
  X(device_get, cuDeviceGet, (tsl_cu_device * device, int ordinal))                                          \
  X(device_name, cuDeviceGetName, (char *name, int size, tsl_cu_device device))                              \
  X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, tsl_cu_device device))                              \
  X(device_attribute, cuDeviceGetAttribute, (int *value, tsl_cu_attribute attribute, tsl_cu_device device))  \
  X(device_pci, cuDeviceGetPCIBusId, (char *text, int size, tsl_cu_device device))                           \
  X(context_retain, cuDevicePrimaryCtxRetain, (tsl_cu_context * context, tsl_cu_device device))              \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (tsl_cu_device device))                                   \
  X(context_push, cuCtxPushCurrent_v2, (tsl_cu_context context))                                             \
  X(context_pop, cuCtxPopCurrent_v2, (tsl_cu_context * context))                                             \
  X(context_current, cuCtxGetCurrent, (tsl_cu_context * context))                                            \
  X(memory_take, cuMemAlloc_v2, (tsl_cu_address * address, size_t bytes))                                    \
  X(memory_free, cuMemFree_v2, (tsl_cu_address address))                                                     \
  X(pinned_take, cuMemHostAlloc, (void **host, size_t bytes, unsigned flags))                                \
  X(pinned_free, cuMemFreeHost, (void *host))                                                                \
  X(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * all_bytes))                                 \
  X(copy_2d, cuMemcpy2DAsync_v2, (const tsl_cu_copy_2d *copy, tsl_cu_stream stream))                         \
  X(copy_in, cuMemcpyHtoDAsync_v2,                                                                           \
    (tsl_cu_address end, const void *from, size_t bytes, tsl_cu_stream stream))                              \
  X(copy_out, cuMemcpyDtoHAsync_v2, (void *dst, tsl_cu_address from, size_t bytes, tsl_cu_stream stream))    \
  X(copy, cuMemcpyDtoDAsync_v2,                                                                              \
    (tsl_cu_address end, tsl_cu_address from, size_t bytes, tsl_cu_stream stream))                           \
  X(copy_peer, cuMemcpyPeerAsync,                                                                            \
    (tsl_cu_address end, tsl_cu_context to_context, tsl_cu_address from, tsl_cu_context from_context,        \
     size_t bytes, tsl_cu_stream stream))                                                                    \
  X(copy_peer_rows, cuMemcpy3DPeerAsync, (const tsl_cu_copy_peer *copy, tsl_cu_stream stream))               \
  X(peer_can, cuDeviceCanAccessPeer, (int *can, tsl_cu_device device, tsl_cu_device peer))                   \
  X(peer_enable, cuCtxEnablePeerAccess, (tsl_cu_context peer, unsigned flags))                               \
  X(fill, cuMemsetD8Async, (tsl_cu_address end, unsigned char byte, size_t count, tsl_cu_stream stream))     \
  X(stream_create, cuStreamCreate, (tsl_cu_stream * stream, unsigned flags))                                 \
  X(stream_context, cuStreamGetCtx, (tsl_cu_stream stream, tsl_cu_context * context))                        \
  X(context_device, cuCtxGetDevice, (tsl_cu_device * device))                                                \
  X(pointer_attributes, cuPointerGetAttributes,                                                              \
    (unsigned count, int *attributes, void **values, tsl_cu_address address))                                \
  X(stream_finish, cuStreamSynchronize, (tsl_cu_stream stream))                                              \
  X(stream_destroy, cuStreamDestroy_v2, (tsl_cu_stream stream))                                              \
  X(stream_wait, cuStreamWaitEvent, (tsl_cu_stream stream, tsl_cu_event event, unsigned flags))              \
  X(event_create, cuEventCreate, (tsl_cu_event * event, unsigned flags))                                     \
  X(event_record, cuEventRecord, (tsl_cu_event event, tsl_cu_stream stream))                                 \
  X(event_wait, cuEventSynchronize, (tsl_cu_event event))                                                    \
  X(event_query, cuEventQuery, (tsl_cu_event event))                                                         \
  X(event_elapsed, cuEventElapsedTime, (float *milliseconds, tsl_cu_event begin, tsl_cu_event end))          \
  X(event_destroy, cuEventDestroy_v2, (tsl_cu_event event))                                                  \
  X(module_load, cuModuleLoadDataEx,                                                                         \
    (tsl_cu_module * module, const void *image, unsigned count, int *options, void **values))                \
  X(module_unload, cuModuleUnload, (tsl_cu_module module))                                                   \
  X(module_function, cuModuleGetFunction,                                                                    \
    (tsl_cu_function * function, tsl_cu_module module, const char *name))                                    \
  X(function_attribute, cuFuncGetAttribute, (int *value, int attribute, tsl_cu_function function))           \
  X(function_set, cuFuncSetAttribute, (tsl_cu_function function, int attribute, int value))                  \
  X(launch, cuLaunchKernel,                                                                                  \
    (tsl_cu_function function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned items_x,    \
     unsigned items_y, unsigned items_z, unsigned shared_bytes, tsl_cu_stream stream, void **arguments,      \
     void **extra))
/* Functions of CUDA 11.8 and 12.0; NULL where the driver lacks them. */
#define TSL_CU_NEWER_LIST(X)                                                                                 \
  X(launch_with, cuLaunchKernelEx,                                                                           \
    (const tsl_cu_launch *launch, tsl_cu_function function, void **arguments, void **extra))                 \
  X(tensor_map, cuTensorMapEncodeTiled,                                                                      \
    (void *map, int type, unsigned dimensions, tsl_cu_address address, const uint64_t *sizes,                \
     const uint64_t *pitches, const unsigned *box, const unsigned *steps, int interleave, int swizzle,       \
     int promotion, int outside))

typedef struct tsl_cu_api {
#define TSL_CU_MEMBER(member, symbol, parameters) int(*member) parameters;
  TSL_CU_LIST(TSL_CU_MEMBER)
  TSL_CU_NEWER_LIST(TSL_CU_MEMBER)
#undef TSL_CU_MEMBER
} tsl_cu_api;

#endif
