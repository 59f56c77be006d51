/* Declarations of the cuda device. Each device's primary context is shared with all users of CUDA in the
 * process: it is current only during a call, and never reset. */
#ifndef TSL_DEVICE_CUDA_CUDA_DEVICE_H
#define TSL_DEVICE_CUDA_CUDA_DEVICE_H

#include "device/cuda/driver_api.h"
#include "device/device_operations.h"

#include <stdatomic.h>

/* Filled by tsl_cuda_load(), constant afterwards. */
extern tsl_cu_api tsl_cuda;

typedef struct tsl_cuda_device {
  tsl_cu_device ordinal;
  tsl_cu_context context;      /* NULL while the device is closed */
  size_t pitch_max;            /* maximum pitch of two-dimensional copies */
  atomic_int ended;            /* result code that ended the context; 0: usable */
  atomic_uint_least64_t peers; /* bit for each ordinal below 64 with requested peer access */
} tsl_cuda_device;

typedef struct tsl_cuda_buffer {
  tsl_buffer base;
  tsl_cu_address address;
  bool adopted; /* the caller owns the memory */
} tsl_cuda_buffer;

struct tsl_stream {
  tsl_device *device;
  tsl_cu_stream handle;
  bool adopted; /* the caller owns the handle */
};

/* Argument of a kernel: tsl_cuda_image in include/dialect_impl.h has the same members. */
struct tsl_image {
  tsl_cu_address address;
  uint64_t pitch; /* bytes from a row to the next */
  int32_t width, height;
};

/* Loads TESELA_CUDA (read at each call), else libcuda.so.1. A loaded driver is never replaced. */
tesela_status tsl_cuda_load(void);

/* Fails with "cuda:0: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)<more>" for a result code. A code
 * that ends the context marks the device as unusable. `device` may be NULL before the devices are listed. */
tesela_status tsl_cuda_fail(tsl_device *device, const char *call, int code, const char *more);

/* Returns an attribute; 0: unknown to the driver. */
int tsl_cuda_attribute(tsl_cu_device ordinal, tsl_cu_attribute attribute);

/* Makes the device's context current for driver calls. Fails if the context has ended. */
tesela_status tsl_cuda_enter(tsl_device *device);
/* Restores the previous context. Fails unless `code`, the result of `call`, is success. */
tesela_status tsl_cuda_leave(tsl_device *device, const char *call, int code);
/* Returns true if the context is current in this thread and usable: enter and leave are not needed. */
bool tsl_cuda_is_entered(tsl_device *device);
/* Enters for clean-up without an error message. false: not entered, and leave must not be called. */
bool tsl_cuda_enter_quietly(tsl_device *device);
void tsl_cuda_leave_quietly(void);

/* Fills `device` except `ops` and `impl`. `driver`: for people; `driver_key`: without blanks. */
tesela_status tsl_cuda_describe(tsl_cu_device ordinal, const char *driver, const char *driver_key,
                                tsl_device *device);

bool tsl_cuda_owns(const tsl_device *device, const void *address);

TSL_KERNEL_OPERATIONS(TSL_DECLARE_OPERATION, cuda)
TSL_DECLARE_OPERATION(cuda, event_done)
TSL_DECLARE_OPERATION(cuda, kernel_local_bytes)
TSL_DECLARE_OPERATION(cuda, kernel_early)
TSL_DECLARE_OPERATION(cuda, tensor_map)

#endif
