/* The OpenCL room's own page: what its files share. Nothing outside this folder includes it, tests apart.
 *
 *   functions.h  which functions of the library are used      peaks.c   the planner's guesses
 *   opencl_library.c    loads it; names its errors                   opencl_memory.c  buffers and copies
 *   opencl_list.c       platforms and devices, open and close        opencl_image.c   images over buffers
 *   opencl_adopt.c      contexts, queues and memory of others
 *   icd_probe.c     platforms, before they are loaded
 *   opencl_fragments.c  matrix instructions, by a test compile       queue.c   streams and events
 *                                                             build.c   programs and modules
 *                                                             opencl_log.c     whose lines a compiler speaks
 * of opencl_ptx.c     code that NVIDIA's compiler lacks opencl_launch.c  kernels */
#ifndef TSL_DEVICE_OPENCL_OPENCL_H
#define TSL_DEVICE_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <pthread.h>

#include "device/device.h"
#include "device/opencl/functions.h"

extern const tsl_device_kind tsl_device_kind_opencl;

/* The library's functions; filled by tsl_opencl_load(), once in a process's life. */
typedef struct tsl_opencl_functions {
#define TSL_OPENCL_MEMBER(name) cl_api_##name name;
  TSL_OPENCL_FUNCTION_LIST(TSL_OPENCL_MEMBER)
#undef TSL_OPENCL_MEMBER
} tsl_opencl_functions;
extern tsl_opencl_functions tsl_opencl;

/* Loads the library that TESELA_OPENCL names, else the distribution's. TESELA_NO_DEVICE says why it cannot.
 * The first library that loads stays the process's: a later path in the variable is checked and not used. */
tesela_status tsl_opencl_load(void);

/* "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" for a code that has no name here. */
const char *tsl_opencl_error_name(cl_int code);
/* Fails with "opencl:0: clFinish: CL_OUT_OF_RESOURCES" and, unless it is "", ", <detail>" behind it: with
 * TESELA_OUT_OF_MEMORY where the code says so, else with TESELA_DEVICE_FAILED. */
tesela_status tsl_opencl_fail(const tsl_device *device, const char *call, cl_int code, const char *detail);
tesela_status tsl_opencl_check(const tsl_device *device, const char *call, cl_int code);
/* Calls a function that returns a code: TSL_CL(device, clFinish, queue) is a tesela_status. */
#define TSL_CL(device, function, ...) tsl_opencl_check(device, #function, tsl_opencl.function(__VA_ARGS__))

/* device->impl: made by list(), freed by forget(). While the device is open, it has a context and a queue for
 * what has no stream. */
typedef struct tsl_opencl_device {
  cl_platform_id platform;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_context given; /* the caller's, which it is opened in; NULL: one of its own */
  /* What build() gives is the source, though the platform has binaries. For one, PoCL makes code of every
   * kernel for groups of any size, which takes twice as long as that for the one size of a launch and is
   * never run; what it compiled from a source it keeps itself, in its own cache. */
  bool keeps_source;
} tsl_opencl_device;
static inline const tsl_opencl_device *tsl_opencl_of(const tsl_device *device) {
  return device->impl;
}

typedef struct tsl_opencl_buffer {
  tsl_buffer base; /* base.bytes is what was asked for; the memory object has at least one byte */
  cl_mem memory;
} tsl_opencl_buffer;

/* An in-order queue with profiling, and the memory of the last image that was a copy, for the next one of its
 * size (NULL: none). */
struct tsl_stream {
  tsl_device *device;
  cl_command_queue queue;
  cl_mem image;
  int64_t image_width, image_height;
  bool adopted; /* the queue is the caller's, and retained */
};

/* What CL_DEVICE_VENDOR_ID answers: the makers' numbers on the PCI bus. */
enum { TSL_OPENCL_AMD = 0x1002, TSL_OPENCL_NVIDIA = 0x10de, TSL_OPENCL_INTEL = 0x8086 };

/* Questions about a device: a number of any width (0 where the device does not answer), a text (trimmed, cut
 * to `size` with its NUL, "" where there is none), and whether it has an extension. */
uint64_t tsl_opencl_number(cl_device_id id, cl_device_info what);
void tsl_opencl_text(cl_device_id id, cl_device_info what, char *out, size_t size);
void tsl_opencl_platform_text(cl_platform_id platform, cl_platform_info what, char *out, size_t size);
bool tsl_opencl_has(cl_device_id id, const char *extension);

/* Whether NVIDIA's own driver is behind the device. */
bool tsl_opencl_is_nvidia(cl_device_id id);
/* 10 * major + minor of an NVIDIA GPU's compute capability; 0 where the device does not answer. */
int tsl_opencl_architecture(cl_device_id id);

/* Fills the predictions (peaks, bandwidths, launch time), the warp, the cache, what more there is of local
 * memory, and the place on the bus of a device whose other fields are filled. */
void tsl_opencl_guess(cl_device_id id, tsl_device *device);
/* The kind's is_processor(), on files below `root` ("" for this machine). */
bool tsl_opencl_is_processor_at(const char *root);
bool tsl_opencl_is_processor(void);

/* Words for compilers: plain OpenCL C 1.2, and no warnings (build.c says why). */
#define TSL_OPENCL_LANGUAGE "-cl-std=CL1.2 -w"

/* The device's matrix instructions, as far as its compiler takes them; NULL: none. */
const tsl_fragments *tsl_opencl_fragments(cl_platform_id platform, cl_device_id id);
/* Appends the kernel by which that is found out, for halves, or for bytes (`whole`). */
tesela_status tsl_opencl_fragments_text(const tsl_fragments *fragments, bool whole, tsl_text *text);
/* Whether the device's compiler takes a text; no error is left behind. */
bool tsl_opencl_compiles(cl_platform_id platform, cl_device_id id, const char *text);

/* Fills the limits of images of a device that has them. */
void tsl_opencl_image_limits(cl_device_id id, tsl_device *device);
cl_mem tsl_opencl_image_memory(const tsl_image *image);

/* A copy of a compiler's log in which "<kernel>:12" has become "strategy/gemm/element/element.cl:7", by the
 * #line directives of the text that was compiled: NVIDIA's compiler counts its lines and ignores those. The
 * caller frees it; NULL when memory runs out. */
char *tsl_opencl_log_with_files(const char *log, const char *text);

/* Whether a kernel's source has code for sm_90a, which stands in comments of its PTX; and the same PTX,
 * NVIDIA's binary with a NUL behind it, with that code in force. Fails with TESELA_BUILD_FAILED where the
 * binary is no such text. */
bool tsl_opencl_ptx_wanted(const char *source);
tesela_status tsl_opencl_ptx_open(const char *name, const char *binary, tsl_text *text);

/* Wraps a program for the cache: 8 bytes of magic, a 128-bit hash of what follows, and what follows: the
 * vendor's binary, or, where the vendor gives none or its own cache has it, the options and the source, each
 * with its NUL. The hash is checked before a vendor sees the bytes: PoCL 3.1 crashes on a binary that is cut
 * short. */
tesela_status tsl_opencl_seal(bool is_source, const void *payload, size_t bytes, tsl_binary *binary);
tesela_status tsl_opencl_seal_source(const tsl_build *build, tsl_binary *binary);

/* The kind's adopt(). */
bool tsl_opencl_adopt(tsl_device *device, void *context);

/* Members of the vtable, each in its file; device.h says what they do. */
tesela_status tsl_opencl_buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer);
tesela_status tsl_opencl_buffer_wrap(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer);
tesela_status tsl_opencl_buffer_adopt(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer);
void tsl_opencl_buffer_destroy(tsl_buffer *buffer);
tesela_status tsl_opencl_buffer_map(tsl_stream *stream, tsl_buffer *buffer, int write, void **host);
tesela_status tsl_opencl_buffer_unmap(tsl_stream *stream, tsl_buffer *buffer, void *host);
tesela_status tsl_opencl_write(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_opencl_read(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_opencl_pinned_create(tsl_device *device, size_t bytes, tsl_pinned **pinned);
void tsl_opencl_pinned_destroy(tsl_pinned *pinned);
tesela_status tsl_opencl_write_later(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_opencl_read_later(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_opencl_copy(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                              size_t to_offset, size_t bytes);
bool tsl_opencl_reaches(tsl_device *device, tsl_device *other);
tesela_status tsl_opencl_copy_rows(tsl_stream *stream, const tsl_copy_rect *rows);
tesela_status tsl_opencl_fill(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                              size_t bytes);
tesela_status tsl_opencl_stream_create(tsl_device *device, tsl_stream **stream);
tesela_status tsl_opencl_stream_adopt(tsl_device *device, void *native, tsl_stream **stream);
void tsl_opencl_stream_destroy(tsl_stream *stream);
tesela_status tsl_opencl_finish(tsl_stream *stream);
tesela_status tsl_opencl_image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image);
void tsl_opencl_image_destroy(tsl_image *image);
tesela_status tsl_opencl_event_create(tsl_device *device, tsl_event **event);
void tsl_opencl_event_destroy(tsl_event *event);
tesela_status tsl_opencl_event_record(tsl_stream *stream, tsl_event *event);
tesela_status tsl_opencl_stream_wait(tsl_stream *stream, tsl_event *event);
tesela_status tsl_opencl_event_wait(tsl_event *event);
tesela_status tsl_opencl_event_seconds(tsl_event *begin, tsl_event *end, double *seconds);
tesela_status tsl_opencl_build(tsl_device *device, const tsl_build *build, tsl_binary *binary);
tesela_status tsl_opencl_compiler(tsl_device *device, tsl_text *text);
tesela_status tsl_opencl_module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                     tsl_module **module);
void tsl_opencl_module_destroy(tsl_module *module);
tesela_status tsl_opencl_kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel);
int tsl_opencl_kernel_items_max(tsl_kernel *kernel);
tesela_status tsl_opencl_launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                                const tsl_argument *arguments, int count);

/* A program made callable, and its kernels: made at kernel_get(), freed with the module. */
struct tsl_module {
  tsl_device *device;
  cl_program program;
  char *name;           /* the build's, for messages */
  pthread_mutex_t lock; /* of `kernels` */
  tsl_kernel *kernels;
};
void tsl_opencl_kernels_free(tsl_module *module);

#endif
