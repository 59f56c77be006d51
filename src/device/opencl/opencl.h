/* Private header of the OpenCL device.
 *
 *   functions.h         list of used functions               peaks.c          predictions for the planner
 *   opencl_library.c    loading; names of errors             opencl_memory.c  buffers and copies
 *   opencl_list.c       platforms and devices, open, close   opencl_image.c   images over buffers
 *   opencl_adopt.c      the caller's contexts, queues, memory
 *   icd_probe.c         platforms, before they are loaded
 *   opencl_fragments.c  matrix instructions, by a test compile   queue.c   streams and events
 *                                                            build.c          programs and modules
 *                                                            opencl_log.c     source lines of compiler logs
 *   opencl_ptx.c        code that NVIDIA's compiler lacks    opencl_launch.c  kernels */
#ifndef TSL_DEVICE_OPENCL_OPENCL_H
#define TSL_DEVICE_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <pthread.h>

#include "device/device_operations.h"
#include "device/opencl/functions.h"

extern const tsl_device_kind tsl_device_kind_opencl;

/* Filled by tsl_opencl_load(). */
typedef struct tsl_opencl_functions {
#define TSL_OPENCL_MEMBER(name) cl_api_##name name;
  TSL_OPENCL_FUNCTION_LIST(TSL_OPENCL_MEMBER)
#undef TSL_OPENCL_MEMBER
} tsl_opencl_functions;
extern tsl_opencl_functions tsl_opencl;

/* Loads the library of TESELA_OPENCL, else the distribution's; TESELA_NO_DEVICE with the reason. The first
 * loaded library is never replaced: a later path in the variable is checked and not used. */
tesela_status tsl_opencl_load(void);

/* Returns "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" for an unknown code. */
const char *tsl_opencl_error_name(cl_int code);
/* Fails with "opencl:0: clFinish: CL_OUT_OF_RESOURCES" and ", <detail>" unless that is "".
 * TESELA_OUT_OF_MEMORY for its codes, else TESELA_DEVICE_FAILED. */
tesela_status tsl_opencl_fail(const tsl_device *device, const char *call, cl_int code, const char *detail);
/* Returns TESELA_OK for CL_SUCCESS, else fails like tsl_opencl_fail(). */
tesela_status tsl_opencl_check(const tsl_device *device, const char *call, cl_int code);
/* Calls a function that returns a code: TSL_CL(device, clFinish, queue) is a tesela_status. */
#define TSL_CL(device, function, ...) tsl_opencl_check(device, #function, tsl_opencl.function(__VA_ARGS__))

/* device->impl, from list() until forget(). An open device has a context, and a queue without a stream. */
typedef struct tsl_opencl_device {
  cl_platform_id platform;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_context given; /* the caller's context for open(); NULL: an own one */
  /* build() returns the source: for a binary PoCL compiles every kernel also for groups of any size, in twice
   * the time. PoCL caches compiled sources itself. */
  bool keeps_source;
} tsl_opencl_device;
static inline const tsl_opencl_device *tsl_opencl_of(const tsl_device *device) {
  return device->impl;
}

typedef struct tsl_opencl_buffer {
  tsl_buffer base; /* base.bytes: requested; the memory has at least one byte */
  cl_mem memory;
} tsl_opencl_buffer;

/* In-order queue with profiling. `image`: memory of the last image copy for the next of its size, or NULL. */
struct tsl_stream {
  tsl_device *device;
  cl_command_queue queue;
  cl_mem image;
  int64_t image_width, image_height;
  bool adopted; /* the caller's queue, retained */
};

/* CL_DEVICE_VENDOR_ID: PCI vendor numbers. */
enum { TSL_OPENCL_AMD = 0x1002, TSL_OPENCL_NVIDIA = 0x10de, TSL_OPENCL_INTEL = 0x8086 };

/* Returns a number of any width; 0: no answer. */
uint64_t tsl_opencl_number(cl_device_id id, cl_device_info what);
/* Gets a text: trimmed, cut to `size` with its NUL, "" without an answer. */
void tsl_opencl_text(cl_device_id id, cl_device_info what, char *out, size_t size);
void tsl_opencl_platform_text(cl_platform_id platform, cl_platform_info what, char *out, size_t size);
bool tsl_opencl_has(cl_device_id id, const char *extension);

/* Returns true if the device uses NVIDIA's own driver. */
bool tsl_opencl_is_nvidia(cl_device_id id);
/* Returns 10 * major + minor of an NVIDIA GPU's compute capability; 0: no answer. */
int tsl_opencl_architecture(cl_device_id id);

/* Fills predictions, warp size, cache size, local_bytes_inside and PCI address, after all other members. */
void tsl_opencl_guess(cl_device_id id, tsl_device *device);
/* Returns true if the ICD files below `root` ("": this machine) name only processors' libraries. */
bool tsl_opencl_lists_only_processors_at(const char *root);
bool tsl_opencl_lists_only_processors(void);

/* Reasons are in build.c. */
#define TSL_OPENCL_LANGUAGE "-cl-std=CL1.2 -w"

/* Returns the matrix instructions that the device's compiler supports; NULL: none. */
const tsl_fragments *tsl_opencl_fragments(cl_platform_id platform, cl_device_id id);
/* Appends the test kernel for halves, or for bytes (`whole`). */
tesela_status tsl_opencl_fragments_text(const tsl_fragments *fragments, bool whole, tsl_text *text);
/* Returns true if the device's compiler accepts a text. Leaves no error message. */
bool tsl_opencl_compiles(cl_platform_id platform, cl_device_id id, const char *text);

/* Fills the image limits of a device with TSL_CAN_IMAGES. */
void tsl_opencl_image_limits(cl_device_id id, tsl_device *device);
cl_mem tsl_opencl_image_memory(const tsl_image *image);

/* Returns a copy of a log with "<kernel>:12" replaced by "strategy/gemm/ladder/element/element.cl:7", from
 * the text's #line directives, which NVIDIA ignores. The caller frees it; NULL: no memory. */
char *tsl_opencl_log_with_files(const char *log, const char *text);

/* Returns true if a source has code for sm_90a in comments of its PTX. */
bool tsl_opencl_has_sm90a(const char *source);
/* Appends NVIDIA's PTX (with its NUL), code for sm_90a enabled. TESELA_BUILD_FAILED if it is not PTX. */
tesela_status tsl_opencl_enable_sm90a(const char *name, const char *binary, tsl_text *text);

/* Wraps a program for the cache: 8 bytes of magic, the payload's 128-bit hash, and the payload: the vendor's
 * binary, or options and source, each with its NUL. The hash protects PoCL 3.1 from truncated binaries. */
tesela_status tsl_opencl_seal(bool is_source, const void *payload, size_t bytes, tsl_binary *binary);
/* Wraps the options and the source of a build. */
tesela_status tsl_opencl_seal_source(const tsl_build *build, tsl_binary *binary);

bool tsl_opencl_adopt(tsl_device *device, void *context);

TSL_KERNEL_OPERATIONS(TSL_DECLARE_OPERATION, opencl)
TSL_SHARED_OPERATIONS(TSL_DECLARE_OPERATION, opencl)

/* Loaded program; kernel_get() makes its kernels, module_destroy() frees them. */
struct tsl_module {
  tsl_device *device;
  cl_program program;
  char *name; /* the build's, for messages */
  pthread_mutex_t lock;
  tsl_kernel *kernels;
};
void tsl_opencl_kernels_free(tsl_module *module);

#endif
