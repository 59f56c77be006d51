/* Devices behind one table of operations. A kind of device is one folder with one const tsl_device_kind,
 * which lists its devices; each device has one const tsl_device_ops. Other code uses only this header.
 *
 *   tsl_device ── buffers: memory of the device          created, written, read, destroyed
 *      │       ── streams: queues of work, in order      any number; each used by one thread at a time
 *      │       ── events:  marks in a stream, with time
 *      │       ── images:  buffers as kernels' two-dimensional textures, in one stream
 *      │       ── modules: compiled kernel text          ── kernels by name
 *
 * Ownership: the creator of an object destroys it before the device closes. Threads: all members are
 * thread-safe, but a stream and its events are used by one thread at a time. A buffer is written by one
 * stream at a time. Errors: tsl_fail() with a message that starts with the device's name and has the vendor's
 * error name. On failure an out-parameter is NULL and nothing stays allocated. */
#ifndef TSL_DEVICE_DEVICE_H
#define TSL_DEVICE_DEVICE_H

#include "core/pool.h"
#include "core/text.h"
#include "core/types.h"
#include "device/device_fragments.h"

typedef struct tsl_device tsl_device;
typedef struct tsl_device_ops tsl_device_ops;
typedef struct tsl_stream tsl_stream;
typedef struct tsl_event tsl_event;
typedef struct tsl_image tsl_image;
typedef struct tsl_module tsl_module;
typedef struct tsl_kernel tsl_kernel;

/* Capabilities of devices; tsl_strategy.needs has the required set. X(NAME, bit, text for refusals). */
#define TSL_CAPABILITY_LIST(X)                                                                               \
  X(HOST, 0, "host memory for C code of this library")                                                       \
  X(KERNELS, 1, "a compiler for kernels")                                                                    \
  X(LOCAL, 2, "local memory with barriers")                                                                  \
  X(F64, 3, "double precision")                                                                              \
  X(F16, 4, "half precision arithmetic")                                                                     \
  X(IMAGES, 5, "images")                                                                                     \
  X(SHARED_MEMORY, 6, "memory shared with the host")                                                         \
  X(CUDA, 7, "CUDA C++")                                                                                     \
  X(AVX2, 8, "AVX2 and FMA")                                                                                 \
  X(AVX512, 9, "AVX-512 (F, BW, DQ, VL)")                                                                    \
  X(OPENCL, 10, "OpenCL")                                                                                    \
  X(AVX512_VNNI, 11, "AVX-512 VNNI")                                                                         \
  X(AVX512_BF16, 12, "AVX-512 BF16")                                                                         \
  X(AMX, 13, "AMX (tiles of bf16 and 8-bit integers)")                                                       \
  X(MMA, 14, "NVIDIA's matrix instructions (PTX from sm_80 on)")                                             \
  X(MMA_GROUP, 15,                                                                                           \
    "matrix instructions of four warps together (sm_90), and panels copied by one instruction")              \
  X(FRAGMENTS, 16, "matrix instructions in OpenCL C (DPAS, MFMA, WMMA)")                                     \
  X(NEON, 17, "AArch64's Advanced SIMD")                                                                     \
  X(NEON_DOT, 18, "AArch64's SDOT and UDOT")                                                                 \
  X(NEON_BF16, 19, "AArch64's BFDOT")                                                                        \
  X(ASYNC_COPY, 20, "asynchronous copies to local memory (PTX from sm_80 on)")                               \
  X(WGMMA, 21, "CUDA on sm_90: matrix instructions of a warpgroup, tensor maps and clusters")                \
  X(SEVERAL, 22, "several devices together, as \"cuda:*\" names them")                                       \
  X(AVX512_PAIRS, 23, "two multiply-adds of 64 bytes a clock")

typedef enum tsl_capability {
#define TSL_CAPABILITY_MEMBER(name, bit, text) TSL_CAN_##name = 1 << (bit),
  TSL_CAPABILITY_LIST(TSL_CAPABILITY_MEMBER)
#undef TSL_CAPABILITY_MEMBER
} tsl_capability;

/* Returns the text of the first capability in `needs` that `offers` lacks; NULL: none. */
const char *tsl_capability_missing(unsigned needs, unsigned offers);
/* Returns the capabilities of the host's instruction sets, limited by TESELA_ISA. Searches for no device. */
unsigned tsl_host_offers(void);

enum { TSL_MEMBERS_MAX = 8 };

/* Device as the planner sees it: plain data, filled by list() of its kind, constant afterwards. */
struct tsl_device {
  const tsl_device_ops *ops;
  const char *kind;   /* "cpu" */
  int index;          /* index in its kind */
  char name[128];     /* unique name: "cpu", "opencl:0", "cuda:0", "cuda:0,cuda:1" */
  char label[128];    /* vendor's name */
  char platform[128]; /* driver or platform with version */
  /* Validity key of compiled kernels and stored plans: label, architecture, driver version; no blanks. */
  char key[160];
  unsigned capabilities; /* set of TSL_CAN_... */
  int is_cpu;            /* a processor of the host in any API (PoCL) */
  int compute_units, clock_mhz;
  uint64_t memory_bytes, allocation_max, local_bytes; /* all; of one buffer; local memory of a group */
  /* Maximum bytes of a plan: TESELA_DEVICE_MEMORY, else the memory less a reserve. Not used on the cpu. */
  uint64_t memory_limit;
  /* local memory available to TSL_LOCAL_BYTES where more than local_bytes; else 0 */
  uint64_t local_bytes_inside;
  /* Maximum texels of a row and rows; alignments of offset and pitch in bytes (tsl_image_fits()). Pitch
   * alignment 0: images are copies with contiguous rows. All are 0 without TSL_CAN_IMAGES. */
  int64_t image_width_max, image_height_max;
  size_t image_offset_alignment, image_pitch_alignment, image_pitch_max;
  uint64_t cache_bytes; /* last-level cache; 0: unknown */
  char pci[16];         /* PCI bus address "0000:3b:00.0"; "" for processors or where unknown */
  int group_items_max;  /* maximum work-items of a work-group */
  int group_size_max[3];
  uint64_t group_count_max[3];
  int warp;                       /* work-items that run in lock-step; 1: unknown or none */
  const tsl_fragments *fragments; /* matrix instructions, with TSL_CAN_FRAGMENTS; else NULL */
  int vector_f32, vector_f64;     /* preferred widths, in elements */
  size_t host_alignment;          /* alignment of host memory that buffer_wrap() needs; 0: not supported */
  int architecture;               /* CUDA: 90 for sm_90; else 0 */
  /* Predictions for the model, from data sheets or estimated from units and clock. */
  double peak_f32, peak_f64; /* operations per second; a fused multiply-add counts as two */
  double bandwidth;          /* bytes per second of the device's memory */
  double link_bandwidth;     /* bytes per second to the host; 0: shared memory */
  double launch_seconds;     /* seconds from launch to start */
  int threads;               /* cpu: threads to use; else 0 */
  int host_threads;          /* maximum host threads for copies to the device; 0: the shared pool */
  uint64_t level_bytes[3];   /* cpu: bytes of a core's level 1 to 3 data caches; 0: none or unknown */
  /* TSL_CAN_SEVERAL: the members in order, which run plans of their own. Else empty. */
  tsl_device *members[TSL_MEMBERS_MAX];
  int member_count;
  void *impl; /* private data of the kind */
};

/* Returns true for the cpu, whose strategies are C code that gets the caller's pointers. */
static inline bool tsl_device_is_host(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_HOST) != 0;
}
/* Returns the maximum work-items of a group of one dimension. */
static inline int tsl_device_line_items_max(const tsl_device *device) {
  return device->group_items_max < device->group_size_max[0] ? device->group_items_max
                                                             : device->group_size_max[0];
}
/* Returns the bytes of local memory that a group may request at launch. */
static inline uint64_t tsl_device_local_bytes_max(const tsl_device *device) {
  return device->local_bytes_inside > device->local_bytes ? device->local_bytes_inside : device->local_bytes;
}
/* Returns the maximum bytes of a plan. */
static inline uint64_t tsl_device_memory(const tsl_device *device) {
  return device->memory_limit > 0 ? device->memory_limit : device->memory_bytes;
}
/* Returns the maximum bytes of one buffer of a plan. */
static inline uint64_t tsl_device_allocation_max(const tsl_device *device) {
  const uint64_t all = tsl_device_memory(device);
  return all < device->allocation_max ? all : device->allocation_max;
}

/* Memory of a device; first member of the kind's own struct. */
typedef struct tsl_buffer {
  tsl_device *device;
  size_t bytes;
  void *host; /* permanent host address (cpu); NULL: use map() */
  bool askew; /* memory of the caller, not aligned for images */
} tsl_buffer;

/* Copy of rows between host memory and a buffer; rows * row_bytes may be 0. Pitches: bytes, >= row_bytes. */
typedef struct tsl_copy {
  tsl_buffer *buffer;
  size_t offset; /* first row, in bytes from the start of the buffer */
  size_t device_pitch;
  void *host; /* write() only reads it */
  size_t host_pitch;
  size_t rows, row_bytes;
} tsl_copy;

/* Copy of rows between buffers of any devices, in areas without overlap. Pitches: bytes, >= row_bytes. */
typedef struct tsl_copy_rect {
  tsl_buffer *from, *to;
  size_t from_offset, from_pitch, to_offset, to_pitch; /* bytes */
  size_t rows, row_bytes;
} tsl_copy_rect;

/* Pinned host memory for asynchronous copies; first member of the kind's own struct. */
typedef struct tsl_pinned {
  tsl_device *device;
  void *host;
  size_t bytes;
} tsl_pinned;

/* Image: `height` rows of `width` texels, `pitch` bytes apart. A texel is four f32 (RGBA). */
enum { TSL_TEXEL_BYTES = 16 };
typedef struct tsl_image_layout {
  tsl_buffer *buffer;
  size_t offset, pitch;  /* bytes */
  int64_t width, height; /* texels, rows */
} tsl_image_layout;

/* Three-dimensional tensor with a dense first dimension, for box copies to local memory (NVIDIA's TMA). A box
 * is box[0] x box[1] x 1 elements; elements outside of the tensor are read as zero and not written. Rows of a
 * box have at most 128 bytes; their 16-byte chunks are permuted by row (chunk ^ row % 8). */
typedef struct tsl_tensor {
  tsl_buffer *buffer;
  size_t offset;    /* bytes to the first element, a multiple of 16 */
  int element;      /* bytes: 1, 2 or 4 */
  int64_t size[3];  /* elements, 1 to 2^32 */
  int64_t pitch[2]; /* bytes between elements along dimensions 2 and 3: multiples of 16 below 2^40 */
  int box[2];       /* 1 to 256 */
} tsl_tensor;
/* Tensor as a kernel argument by value. Invalid after its buffer is destroyed. */
typedef struct tsl_tensor_map {
  _Alignas(64) unsigned char bytes[128];
} tsl_tensor_map;

typedef struct tsl_build {
  const char *name;    /* name for messages and cache files: "gemm/tile_local" */
  const char *text;    /* flattened source after its #define lines: determines the kernel */
  const char *options; /* additional compiler options, or "" */
  bool loaded_only;    /* neither compiler nor disk: TESELA_UNSUPPORTED if the kernel is not loaded */
} tsl_build;

/* OpenCL's program binary or CUDA's cubin. The owner frees `data` with free(). */
typedef struct tsl_binary {
  void *data;
  size_t bytes;
} tsl_binary;

/* Launch geometry. Unused dimensions are 1. */
typedef struct tsl_grid {
  uint64_t groups[3];
  int items[3];
} tsl_grid;

/* Kernel argument: a buffer, an image, or else `bytes` bytes at `value`. Unused parameters need one, too. */
typedef struct tsl_argument {
  tsl_buffer *buffer;
  tsl_image *image;
  const void *value;
  size_t bytes;
} tsl_argument;
#define TSL_ARG_BUFFER(b) ((tsl_argument){.buffer = (b)})
#define TSL_ARG_IMAGE(i) ((tsl_argument){.image = (i)})
#define TSL_ARG_VALUE(v) ((tsl_argument){.value = &(v), .bytes = sizeof(v)})

/* Operations of a device. [CAPABILITY]: NULL without it; [optional]: may be NULL. */
struct tsl_device_ops {
  /* Folder in src/ with this kind's dialect_impl.h, for tsl_source_flatten(). [KERNELS] */
  const char *dialect_folder;
  /* Extension of a cached binary's source file: "cl" or "cu". [KERNELS] */
  const char *source_extension;

  /* Compiler option for fast, relaxed arithmetic. [KERNELS] */
  const char *relaxed_option;

  /* Prepares the device (context, primary queue) for tsl_device_open(); slow work is here, not in list(). */
  tesela_status (*open)(tsl_device *device);
  /* Undoes open(). All objects of the device must be destroyed before. Never fails. */
  void (*close)(tsl_device *device);

  /* Allocates at least `bytes` bytes, aligned for any type, uninitialized. Zero bytes is valid. Fails with
   * TESELA_OUT_OF_MEMORY, the requested and, where known, the free size. */
  tesela_status (*buffer_create)(tsl_device *device, size_t bytes, tsl_buffer **buffer);
  /* Makes a buffer over the caller's host memory, aligned to device->host_alignment, without a copy. Host and
   * device see equal bytes after finish() of its streams. [SHARED_MEMORY] */
  tesela_status (*buffer_wrap)(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer);
  /* Makes a buffer over the caller's memory: an address in CUDA, a cl_mem in OpenCL. bytes = 0: to its end.
   * TESELA_BAD_CALL for another device or context, or too many bytes. [OPENCL, CUDA] */
  tesela_status (*buffer_adopt)(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer);
  /* Destroys a buffer. No work that uses it may be pending, unless its memory is the caller's. */
  void (*buffer_destroy)(tsl_buffer *buffer);
  /* Maps the buffer to the host until unmap(), after earlier work; write = 0: read only. [SHARED_MEMORY] */
  tesela_status (*buffer_map)(tsl_stream *stream, tsl_buffer *buffer, int write, void **host);
  tesela_status (*buffer_unmap)(tsl_stream *stream, tsl_buffer *buffer, void *host);

  tesela_status (*stream_create)(tsl_device *device, tsl_stream **stream);
  /* Makes a stream over the caller's queue: a CUstream (NULL: default), or an in-order cl_command_queue.
   * TESELA_BAD_CALL for another device or context. [OPENCL, CUDA] */
  tesela_status (*stream_adopt)(tsl_device *device, void *native, tsl_stream **stream);
  /* Destroys a stream, after a wait for its work unless the queue is the caller's. */
  void (*stream_destroy)(tsl_stream *stream);
  /* Waits for all of the stream's work, and reports a failure of that work. */
  tesela_status (*finish)(tsl_stream *stream);

  /* Copies from host to buffer in stream order. Host memory may change on return. */
  tesela_status (*write)(tsl_stream *stream, const tsl_copy *copy);
  /* Copies from buffer to host in stream order; complete on return. */
  tesela_status (*read)(tsl_stream *stream, const tsl_copy *copy);
  /* Allocates pinned memory, owned by the caller. Copies must be complete before it is destroyed.
   * TESELA_OUT_OF_MEMORY at a system limit. [optional: these four and the two waits] */
  tesela_status (*pinned_create)(tsl_device *device, size_t bytes, tsl_pinned **pinned);
  void (*pinned_destroy)(tsl_pinned *pinned);
  /* Enqueues a copy from pinned memory, which must not change until the copy is done. */
  tesela_status (*write_later)(tsl_stream *stream, const tsl_copy *copy);
  /* Enqueues a copy to pinned memory, which is undefined until the copy is done. */
  tesela_status (*read_later)(tsl_stream *stream, const tsl_copy *copy);
  /* Enqueues a copy between buffers of the device, without overlap. */
  tesela_status (*copy)(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                        size_t to_offset, size_t bytes);
  /* Returns true if copy_rows() reaches the other device's memory; both are open. The first call for a pair
   * may prepare their link. Callers use device/cross_copy.h instead. [optional, with copy_rows()] */
  bool (*reaches)(tsl_device *device, tsl_device *other);
  /* Enqueues a copy of rows. One buffer is on the stream's device, the other reached by it. [optional] */
  tesela_status (*copy_rows)(tsl_stream *stream, const tsl_copy_rect *rows);
  tesela_status (*fill)(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                        size_t bytes);

  /* Makes an image of a buffer for later launches on the stream: a view, or a copy in stream order. The
   * buffer must not be written meanwhile. TESELA_BAD_CALL where tsl_image_fits() is false. [IMAGES] */
  tesela_status (*image_create)(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image);
  /* Destroys an image before its stream and buffer, even while a launch uses it. [IMAGES] */
  void (*image_destroy)(tsl_image *image);

  tesela_status (*event_create)(tsl_device *device, tsl_event **event);
  void (*event_destroy)(tsl_event *event);
  /* Marks the end of the stream's earlier work. An event may be recorded again. */
  tesela_status (*event_record)(tsl_stream *stream, tsl_event *event);
  /* Makes later work of the stream wait for another stream's recorded event. [as pinned_create] */
  tesela_status (*stream_wait)(tsl_stream *stream, tsl_event *event);
  /* Waits on the host for an event, and reports a failure of the work before it. */
  tesela_status (*event_wait)(tsl_event *event);
  /* Tells if a recorded event has occurred, without a wait; reports a failure of earlier work. [CUDA] */
  tesela_status (*event_done)(tsl_event *event, bool *done);
  /* Waits for `end` and gets the device time between two recorded events of one stream. */
  tesela_status (*event_seconds)(tsl_event *begin, tsl_event *end, double *seconds);

  /* Compiles a text; tsl_jit_module() caches. On TESELA_BUILD_FAILED the log is stored with
   * tsl_status_keep_log(). The caller frees binary->data. [KERNELS] */
  tesela_status (*build)(tsl_device *device, const tsl_build *build, tsl_binary *binary);
  /* Appends compiler, version and all else that determines a build, for the cache's key. [KERNELS] */
  tesela_status (*compiler)(tsl_device *device, tsl_text *text);
  /* Loads a binary. Fails with TESELA_BUILD_FAILED when the device rejects it. [KERNELS] */
  tesela_status (*module_load)(tsl_device *device, const char *name, const tsl_binary *binary,
                               tsl_module **module);
  void (*module_destroy)(tsl_module *module);
  /* Gets a kernel by its name in the source, owned by the module. Launches are thread-safe. [KERNELS] */
  tesela_status (*kernel_get)(tsl_module *module, const char *name, tsl_kernel **kernel);
  /* Replaces *kernel by the same kernel with these bytes of TSL_LOCAL_BYTES, at most local_bytes_inside,
   * which is owned by the module, too. NULL where the compiler knows the size from the text. */
  tesela_status (*kernel_local_bytes)(tsl_kernel **kernel, size_t bytes);
  /* Lets launches start while the stream's previous work ends; the kernel itself waits for that work before
   * it accesses memory. No effect where the driver cannot. [WGMMA] */
  void (*kernel_early)(tsl_kernel *kernel);
  /* Makes a map of a tensor; TESELA_DEVICE_FAILED where the driver refuses it. [WGMMA] */
  tesela_status (*tensor_map)(const tsl_tensor *tensor, tsl_tensor_map *map);
  /* Returns the maximum work-items of a group, limited by registers; at least 1. [KERNELS] */
  int (*kernel_items_max)(tsl_kernel *kernel);
  /* Enqueues a launch; groups and items are >= 1. Argument memory may change on return. [KERNELS] */
  tesela_status (*launch)(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                          const tsl_argument *arguments, int count);

  /* Returns the stream's cl_command_queue or CUstream, which the device owns. [OPENCL, CUDA] */
  void *(*native_stream)(tsl_stream *stream);
  /* Returns the buffer's cl_mem, or its address in CUDA. */
  void *(*native_buffer)(tsl_buffer *buffer);
  /* Makes the device current for this thread's calls of a vendor's library, until leave(). [CUDA] */
  tesela_status (*enter)(tsl_device *device);
  void (*leave)(tsl_device *device);
};

typedef struct tsl_device_kind {
  const char *kind;
  const char *what; /* text for `tesela devices`: "OpenCL platforms" */
  /* Calls found() for each device in a fixed order; it copies the struct, and the caller sets `kind`, `index`
   * and `name`. Without devices: TESELA_NO_DEVICE and the reason. */
  tesela_status (*list)(void (*found)(void *argument, const tsl_device *device), void *argument);
  /* Lets a closed device open later in the caller's cl_context; false: it is not in that context. [OPENCL] */
  bool (*adopt)(tsl_device *device, void *context);
  /* Frees device->impl. [optional] */
  void (*forget)(tsl_device *device);
  int single; /* nonzero: at most one device, named without an index ("cpu") */
  /* Returns true if an address is in the device's memory; the device may be closed. [optional] */
  bool (*owns)(const tsl_device *device, const void *address);
  double start_least; /* minimum seconds from loaded drivers to a usable first device; 0: no start-up */
  /* Returns true if files tell that all devices of the kind are the processor. Loads nothing. [optional] */
  bool (*is_processor)(void);
} tsl_device_kind;

/* Returns the default team of a processor: device->threads threads of the shared pool. */
tsl_team tsl_device_team(const tsl_device *device);
/* Returns the team that copies operands between host memory and the device. */
tsl_team tsl_device_host_team(const tsl_device *device);
/* Limits a processor's threads and predictions, before its use. No effect at or above its present number. */
void tsl_device_limit(tsl_device *device, int threads);
/* Estimates a processor's bytes per second: about 10 GB/s a core, at most ten cores' rate. */
double tsl_device_bandwidth_of(int threads);

/* Returns the minimum pitch in bytes of an image of `width` >= 1 texels. The device must have images. */
size_t tsl_image_pitch(const tsl_device *device, int64_t width);
/* Returns true if the device supports the layout: size within limits, offset and pitch aligned, rows inside
 * the buffer. Where images are copies, the pitch must be a row's bytes. */
bool tsl_image_fits(const tsl_image_layout *layout);
/* Fails with TESELA_BAD_CALL, the layout and the device's rules where tsl_image_fits() is false. */
tesela_status tsl_image_check(const tsl_image_layout *layout);

/* Copies contiguous bytes in stream order; `host` may change on return. */
tesela_status tsl_device_write(tsl_stream *stream, tsl_buffer *buffer, size_t offset, const void *host,
                               size_t bytes);
/* Copies contiguous bytes in stream order; complete on return. */
tesela_status tsl_device_read(tsl_stream *stream, tsl_buffer *buffer, size_t offset, void *host,
                              size_t bytes);

#endif
