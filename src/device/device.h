/* Devices behind one table of operations. A kind of device is one folder with one const tsl_device_kind,
 * which lists its devices; each device has one const tsl_device_ops. Other code uses only this header.
 *
 *   tsl_device ── buffers: memory of the device          created, written, read, destroyed
 *      │       ── streams: queues of work, in order      any number; each used by one thread at a time
 *      │       ── events:  marks in a stream, with time
 *      │       ── images:  buffers as kernels' two-dimensional textures, in one stream
 *      │       ── modules: compiled kernel text          ── kernels by name
 *
 * Ownership: the creator of an object destroys it before the device closes. Threads: any thread may call
 * any member at any time. But a stream, and the events recorded in it, are used by one thread at a time,
 * and a buffer is written by one stream at a time. Errors: a status with a message by tsl_fail(), which
 * starts with the device's name ("opencl:0: ...") and has the vendor's error name. On failure an
 * out-parameter is NULL and nothing stays allocated. */
#ifndef TSL_DEVICE_DEVICE_H
#define TSL_DEVICE_DEVICE_H

#include "base/pool.h"
#include "base/text.h"
#include "base/types.h"
#include "device/device_fragments.h"

typedef struct tsl_device tsl_device;
typedef struct tsl_device_ops tsl_device_ops;
typedef struct tsl_stream tsl_stream;
typedef struct tsl_event tsl_event;
typedef struct tsl_image tsl_image;
typedef struct tsl_module tsl_module;
typedef struct tsl_kernel tsl_kernel;

/* Capabilities of devices. A strategy has the required set in `needs`. X(NAME, bit, text for refusals). */
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
  X(FRAGMENTS, 16, "matrix instructions in OpenCL C (Intel's DPAS, AMD's MFMA or WMMA)")                     \
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
/* Returns the capabilities of the host's instruction sets, limited by TESELA_ISA. Does not search
 * for devices. */
unsigned tsl_host_offers(void);

/* Maximum number of devices in a group. */
enum { TSL_MEMBERS_MAX = 8 };

/* Device as the planner sees it: plain data, filled by list() of its kind, constant afterwards. */
struct tsl_device {
  const tsl_device_ops *ops;
  const char *kind;   /* "cpu" */
  int index;          /* in its kind */
  char name[128];     /* unique name that users type: "cpu", "opencl:0", "cuda:0", "cuda:0,cuda:1" */
  char label[128];    /* vendor's name of the device */
  char platform[128]; /* driver or platform with version */
  /* Validity key of compiled kernels and stored plans: label, architecture, driver version; no blanks. */
  char key[160];
  unsigned capabilities; /* set of TSL_CAN_... */
  int is_cpu;            /* a processor of the host in any API (PoCL): warm caches, few cores */
  int compute_units, clock_mhz;
  uint64_t memory_bytes, allocation_max, local_bytes;
  /* Maximum bytes of device memory for one plan: TESELA_DEVICE_MEMORY, else a part of the memory
   * that leaves room for drivers and displays. Not used on the cpu. */
  uint64_t memory_limit;
  /* Local memory that TSL_LOCAL_BYTES of a kernel may use where that is more than local_bytes; else 0. */
  uint64_t local_bytes_inside;
  /* Image limits: maximum texels of a row, maximum rows, and alignments in bytes of a layout's
   * offset and pitch; see tsl_image_fits(). Pitch alignment 0: images are copies with contiguous
   * rows. All are 0 without TSL_CAN_IMAGES. */
  int64_t image_width_max, image_height_max;
  size_t image_offset_alignment, image_pitch_alignment, image_pitch_max;
  uint64_t cache_bytes; /* last-level cache; 0: unknown */
  char pci[16];         /* PCI bus address "0000:3b:00.0"; "" for processors or where unknown */
  int group_items_max;  /* maximum work-items of a work-group */
  int group_size_max[3];
  uint64_t group_count_max[3];
  int warp;                       /* work-items that run in lock-step; 1: unknown or none */
  const tsl_fragments *fragments; /* matrix instructions, with TSL_CAN_FRAGMENTS; else NULL */
  int vector_f32, vector_f64;     /* preferred vector widths, in elements */
  size_t host_alignment;          /* alignment of host memory that buffer_wrap() needs; 0: not supported */
  int architecture;               /* CUDA: 90 for sm_90; else 0 */
  /* Predictions for the planner's model, from data sheets or estimated from units and clock. */
  double peak_f32, peak_f64; /* operations per second; a fused multiply-add counts as two */
  double bandwidth;          /* bytes per second of the device's memory */
  double link_bandwidth;     /* bytes per second between host and device; 0 where memory is shared */
  double launch_seconds;     /* from launch to start */
  int threads;               /* cpu: threads to use; else 0 */
  int host_threads;          /* maximum host threads for copies to the device; 0: all of the shared pool */
  /* cpu: sizes of the data caches of levels 1 to 3 that a core uses; 0: none or unknown */
  uint64_t level_bytes[3];
  /* TSL_CAN_SEVERAL: the member devices in order, which run plans of their own. Empty for other devices. */
  tsl_device *members[TSL_MEMBERS_MAX];
  int member_count;
  void *impl; /* private data of the kind */
};

/* Memory of a device. The kind embeds it as the first member of its own struct. */
typedef struct tsl_buffer {
  tsl_device *device;
  size_t bytes;
  void *host; /* permanent host address (cpu); NULL: use map() */
  bool askew; /* host memory not aligned for images: no image is possible */
} tsl_buffer;

/* Copy of rows between host memory and a buffer. Contiguous memory is one row. Pitches are bytes
 * from row to row, at least row_bytes. rows * row_bytes = 0 copies nothing. */
typedef struct tsl_copy {
  tsl_buffer *buffer;
  size_t offset; /* first row, in bytes from the start of the buffer */
  size_t device_pitch;
  void *host; /* write() only reads it */
  size_t host_pitch;
  size_t rows, row_bytes;
} tsl_copy;

/* Copy of rows from buffer to buffer, which may be on different devices. The two areas must not
 * overlap. Pitches are bytes from row to row, at least row_bytes. */
typedef struct tsl_copy_rect {
  tsl_buffer *from, *to;
  size_t from_offset, from_pitch, to_offset, to_pitch; /* bytes */
  size_t rows, row_bytes;
} tsl_copy_rect;

/* Pinned host memory for asynchronous copies. The kind embeds it as the first member of its own struct. */
typedef struct tsl_pinned {
  tsl_device *device;
  void *host; /* aligned for any type */
  size_t bytes;
} tsl_pinned;

/* Image: `height` rows of `width` texels of a buffer, `pitch` bytes from row to row. A texel is
 * four f32 (RGBA). Kernels read it as TSL_IMAGE. */
enum { TSL_TEXEL_BYTES = 16 };
typedef struct tsl_image_layout {
  tsl_buffer *buffer;
  size_t offset, pitch;  /* bytes */
  int64_t width, height; /* texels, rows */
} tsl_image_layout;

/* Three-dimensional tensor in a buffer, the first dimension dense, for box copies to local memory
 * in one instruction (NVIDIA's TMA). A box has `box` elements along the first two dimensions and
 * one along the third. Its elements outside of the tensor are read as zero and not written. Rows of
 * a box are at most 128 bytes; their 16-byte chunks are permuted by row (chunk ^ row % 8). */
typedef struct tsl_tensor {
  tsl_buffer *buffer;
  size_t offset;   /* bytes to the first element, a multiple of 16 */
  int element;     /* bytes: 1, 2 or 4 */
  int64_t size[3]; /* elements, 1 to 2^32 */
  /* bytes from element to element along the second and third dimension, multiples of 16 below 2^40 */
  int64_t pitch[2];
  int box[2]; /* 1 to 256 */
} tsl_tensor;
/* Tensor as a kernel argument by value. It has the buffer's address, and is invalid after the
 * buffer is destroyed. */
typedef struct tsl_tensor_map {
  _Alignas(64) unsigned char bytes[128];
} tsl_tensor_map;

typedef struct tsl_build {
  const char *name;    /* for messages and file names of the cache: "gemm/tile_local" */
  const char *text;    /* flattened source after its #define lines: everything that determines the kernel */
  const char *options; /* additional compiler options, "" for none */
  /* no compiler and no disk: TESELA_UNSUPPORTED where this process has not loaded the kernel */
  bool loaded_only;
} tsl_build;

/* Compiled kernel text: OpenCL's program binary or CUDA's cubin. `data` is from malloc(). */
typedef struct tsl_binary {
  void *data;
  size_t bytes;
} tsl_binary;

/* Launch geometry: work-groups and work-items per group. Unused dimensions are 1. */
typedef struct tsl_grid {
  uint64_t groups[3];
  int items[3];
} tsl_grid;

/* Kernel argument: a buffer, an image, or else `bytes` bytes at `value`. A kernel with an unused
 * buffer or image parameter still needs an argument. */
typedef struct tsl_argument {
  tsl_buffer *buffer;
  tsl_image *image;
  const void *value;
  size_t bytes;
} tsl_argument;
#define TSL_ARG_BUFFER(b) ((tsl_argument){.buffer = (b)})
#define TSL_ARG_IMAGE(i) ((tsl_argument){.image = (i)})
#define TSL_ARG_VALUE(v) ((tsl_argument){.value = &(v), .bytes = sizeof(v)})

/* Operations of a device. Members marked [optional: CAPABILITY] are NULL without that capability. */
struct tsl_device_ops {
  /* Folder (from src/) with this kind's dialect_impl.h, for tsl_source_flatten(). [optional: KERNELS] */
  const char *dialect_folder;
  /* Extension of the source file next to a cached binary: "cl" or "cu". [optional: KERNELS] */
  const char *source_extension;

  /* Compiler option for fast, relaxed arithmetic. [optional: KERNELS] */
  const char *relaxed_option;

  /* Makes the device ready (context, primary queue). Called by tsl_device_open(), once until
   * close(). Slow work belongs here and not in list(). */
  tesela_status (*open)(tsl_device *device);
  /* Undoes open(). All objects of the device must be destroyed before. Never fails. */
  void (*close)(tsl_device *device);

  /* Allocates at least `bytes` bytes, aligned for any type, uninitialized. A buffer of zero bytes is a valid
   * kernel argument. TESELA_OUT_OF_MEMORY has the requested and, where known, the free size. */
  tesela_status (*buffer_create)(tsl_device *device, size_t bytes, tsl_buffer **buffer);
  /* Makes a buffer over the caller's host memory without a copy. Host and device see equal bytes
   * after finish() of the streams that used it. `host` is aligned to device->host_alignment.
   * [optional: SHARED_MEMORY] */
  tesela_status (*buffer_wrap)(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer);
  /* Makes a buffer over the caller's device memory: an address in CUDA, a cl_mem of the device's context in
   * OpenCL. With bytes = 0 it extends to the end of the memory. Fails with TESELA_BAD_CALL for memory of
   * another device or context, or with fewer bytes. [optional: OPENCL, CUDA] */
  tesela_status (*buffer_adopt)(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer);
  /* Destroys a buffer. No work that uses it may be pending, unless its memory is the caller's. */
  void (*buffer_destroy)(tsl_buffer *buffer);
  /* Maps the buffer to a host address until unmap(), after the stream's earlier work. write != 0:
   * stores of the host reach the device at unmap(). [optional: SHARED_MEMORY] */
  tesela_status (*buffer_map)(tsl_stream *stream, tsl_buffer *buffer, int write, void **host);
  tesela_status (*buffer_unmap)(tsl_stream *stream, tsl_buffer *buffer, void *host);

  tesela_status (*stream_create)(tsl_device *device, tsl_stream **stream);
  /* Makes a stream over the caller's queue: a CUstream (NULL: the default stream), or an in-order
   * cl_command_queue. Fails with TESELA_BAD_CALL for a queue of another device or context.
   * [optional: OPENCL, CUDA] */
  tesela_status (*stream_adopt)(tsl_device *device, void *native, tsl_stream **stream);
  /* Destroys a stream, after a wait for its pending work unless the queue is the caller's. */
  void (*stream_destroy)(tsl_stream *stream);
  /* Waits until all of the stream's work is done, and reports a failure of that work. */
  tesela_status (*finish)(tsl_stream *stream);

  /* Copies from host to buffer in stream order. Host memory may change on return. */
  tesela_status (*write)(tsl_stream *stream, const tsl_copy *copy);
  /* Copies from buffer to host in stream order. Complete on return. */
  tesela_status (*read)(tsl_stream *stream, const tsl_copy *copy);
  /* Allocates pinned memory for asynchronous copies, owned by the caller. Copies to and from it
   * must be complete before it is destroyed. TESELA_OUT_OF_MEMORY where the system limits pinned
   * memory. [optional: these four and the two waits below, all or none] */
  tesela_status (*pinned_create)(tsl_device *device, size_t bytes, tsl_pinned **pinned);
  void (*pinned_destroy)(tsl_pinned *pinned);
  /* Enqueues a copy from pinned memory to a buffer. The memory must not change until the copy is done. */
  tesela_status (*write_later)(tsl_stream *stream, const tsl_copy *copy);
  /* Enqueues a copy from a buffer to pinned memory. */
  tesela_status (*read_later)(tsl_stream *stream, const tsl_copy *copy);
  /* Enqueues a copy between buffers of the device, which must not overlap. */
  tesela_status (*copy)(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                        size_t to_offset, size_t bytes);
  /* Returns true if copy_rows() reaches the other device's memory; both must be open. The first
   * call for a pair may prepare their link. Callers use device/cross_copy.h, which has a fallback.
   * [optional, with copy_rows()] */
  bool (*reaches)(tsl_device *device, tsl_device *other);
  /* Enqueues a copy of rows from buffer to buffer. One buffer is on the stream's device, the other
   * on it or on a device that it reaches. [optional] */
  tesela_status (*copy_rows)(tsl_stream *stream, const tsl_copy_rect *rows);
  /* Enqueues a fill of a range of bytes. */
  tesela_status (*fill)(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                        size_t bytes);

  /* Makes an image of a buffer for later launches on the stream, with the content after the
   * stream's earlier work. It is a view where the device supports that, else a copy in stream
   * order. The buffer must not be written while the image is in use. Fails with TESELA_BAD_CALL
   * where tsl_image_fits() is false. [optional: IMAGES] */
  tesela_status (*image_create)(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image);
  /* Destroys an image before its stream and its buffer. Allowed directly after a launch that uses
   * it: its memory lives until the launch is done. A stream may reuse a copy's memory for its next
   * image. [optional: IMAGES] */
  void (*image_destroy)(tsl_image *image);

  tesela_status (*event_create)(tsl_device *device, tsl_event **event);
  void (*event_destroy)(tsl_event *event);
  /* Marks the end of the stream's earlier work. An event may be recorded again. */
  tesela_status (*event_record)(tsl_stream *stream, tsl_event *event);
  /* Makes later work of the stream wait for an event that was recorded in another stream. The event
   * may be recorded again at once. [optional: as pinned_create] */
  tesela_status (*stream_wait)(tsl_stream *stream, tsl_event *event);
  /* Waits on the host for an event, and reports a failure of the work before it. */
  tesela_status (*event_wait)(tsl_event *event);
  /* Tells without waiting if a recorded event has occurred, and reports a failure of the work
   * before it. [optional: CUDA] */
  tesela_status (*event_done)(tsl_event *event, bool *done);
  /* Gets the device time between two recorded events of one stream, after a wait for the later one. */
  tesela_status (*event_seconds)(tsl_event *begin, tsl_event *end, double *seconds);

  /* Compiles a text. On TESELA_BUILD_FAILED the compiler's log is stored with
   * tsl_status_keep_log(). Callers use tsl_jit_module(), which caches. [optional: KERNELS] */
  tesela_status (*build)(tsl_device *device, const tsl_build *build, tsl_binary *binary);
  /* Appends compiler, version and everything else outside of tsl_build that determines the result
   * of build(). Part of the cache's key together with device->key. [optional: KERNELS] */
  tesela_status (*compiler)(tsl_device *device, tsl_text *text);
  /* Loads a binary. Fails with TESELA_BUILD_FAILED when the device rejects it. [optional: KERNELS] */
  tesela_status (*module_load)(tsl_device *device, const char *name, const tsl_binary *binary,
                               tsl_module **module);
  void (*module_destroy)(tsl_module *module);
  /* Gets a kernel of a module by its name in the source. It lives as long as the module. Any number
   * of threads may launch it; launch() locks where the API needs that. [optional: KERNELS] */
  tesela_status (*kernel_get)(tsl_module *module, const char *name, tsl_kernel **kernel);
  /* Sets the size of a kernel's TSL_LOCAL_BYTES for each group, at most local_bytes_inside. Called before its
   * first launch, always with one number. NULL where the compiler knows the size from the text. */
  tesela_status (*kernel_local_bytes)(tsl_kernel *kernel, size_t bytes);
  /* Lets launches of this kernel start while the previous work in the stream ends. The kernel itself waits
   * for that work before it accesses memory. No effect where the driver cannot. [optional: WGMMA] */
  void (*kernel_early)(tsl_kernel *kernel);
  /* Makes a map of a tensor. Fails with TESELA_DEVICE_FAILED where the driver refuses it.
   * [optional: WGMMA] */
  tesela_status (*tensor_map)(const tsl_tensor *tensor, tsl_tensor_map *map);
  /* Returns the maximum work-items per group for this kernel, limited by registers; at least 1.
   * [optional: KERNELS] */
  int (*kernel_items_max)(tsl_kernel *kernel);
  /* Enqueues a launch. Every groups[d] and items[d] is at least 1. Argument memory may change on
   * return. [optional: KERNELS] */
  tesela_status (*launch)(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                          const tsl_argument *arguments, int count);

  /* Returns the API's object for a stream, for vendors' libraries: OpenCL's cl_command_queue or
   * CUDA's CUstream. It belongs to the device. [optional: OPENCL, CUDA] */
  void *(*native_stream)(tsl_stream *stream);
  /* Returns OpenCL's cl_mem, or the address of the first byte in CUDA. */
  void *(*native_buffer)(tsl_buffer *buffer);
  /* Makes the device current for this thread's calls of a vendor's library, until leave() restores
   * the previous one. [optional: CUDA] */
  tesela_status (*enter)(tsl_device *device);
  void (*leave)(tsl_device *device);
};

typedef struct tsl_device_kind {
  const char *kind; /* "opencl" */
  const char *what; /* for `tesela devices`: "OpenCL platforms" */
  /* Calls found() for each device in a fixed order, with all members set except `kind`, `index`,
   * `name`, which the caller sets. found() copies the struct. Without devices it fails with
   * TESELA_NO_DEVICE and the reason. */
  tesela_status (*list)(void (*found)(void *argument, const tsl_device *device), void *argument);
  /* Lets a closed device be opened later in the caller's API context (cl_context); false where the
   * device is not in that context. [optional: OPENCL] */
  bool (*adopt)(tsl_device *device, void *context);
  /* Frees device->impl at the end. [optional] */
  void (*forget)(tsl_device *device);
  /* nonzero: at most one device, named without an index ("cpu") */
  int single;
  /* Returns true if an address is in the device's own memory. The device may be closed. [optional:
   * kinds whose memory has addresses] */
  bool (*owns)(const tsl_device *device, const void *address);
  /* lower bound of the seconds until a first device is usable after drivers are loaded; 0: none */
  double start_least;
  /* Returns true if files tell that all devices of the kind are the host's processor. Loads
   * nothing; false: unknown. [optional] */
  bool (*is_processor)(void);
} tsl_device_kind;

/* Returns the default team of a run on a processor: as many threads of the shared pool as the device has. */
tsl_team tsl_device_team(const tsl_device *device);
/* Returns the team that copies operands between host memory and the device. */
tsl_team tsl_device_host_team(const tsl_device *device);
/* Limits a processor's threads, and adapts its predictions. No effect above its present number.
 * Called before the device is used. */
void tsl_device_limit(tsl_device *device, int threads);
/* Estimates the bytes per second of a processor's memory: about 10 GB/s a core, limited by the
 * socket at ten cores. */
double tsl_device_bandwidth_of(int threads);

/* Returns the minimum pitch in bytes of an image of `width` texels (at least 1). The device must
 * have images. */
size_t tsl_image_pitch(const tsl_device *device, int64_t width);
/* Returns true if the device supports the layout: width and height within limits, offset and pitch
 * aligned, all rows inside the buffer. Where images are copies, the pitch must be a row's bytes. */
bool tsl_image_fits(const tsl_image_layout *layout);
/* Checks a layout like tsl_image_fits(). Fails with TESELA_BAD_CALL, the layout and the device's rules. */
tesela_status tsl_image_check(const tsl_image_layout *layout);

/* Writes contiguous bytes with write() of the device. */
tesela_status tsl_device_write(tsl_stream *stream, tsl_buffer *buffer, size_t offset, const void *host,
                               size_t bytes);
tesela_status tsl_device_read(tsl_stream *stream, tsl_buffer *buffer, size_t offset, void *host,
                              size_t bytes);

#endif
