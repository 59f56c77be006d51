/* Devices: what a processor can do, behind one vtable. A kind of device is one folder with one const
 * tsl_device_kind; it lists its devices, and each device has one const tsl_device_ops. The rest of tesela
 * sees this page only.
 *
 *   tsl_device ── buffers: memory of the device          created, written, read, destroyed
 *      │       ── streams: queues of work, in order      any number; each used by one thread at a time
 *      │       ── events:  marks in a stream, with time
 *      │       ── images:  buffers as kernels' two-dimensional textures, in one stream
 *      │       ── modules: compiled kernel text          ── kernels by name
 *
 * Ownership: who creates destroys, and before the device closes. Everything is created on a device and dies
 * on the same one. Threads: every member may be called from any thread at any time, except that a stream, and
 * the events recorded in it, are used by one thread at a time. A buffer is written by one stream at a time.
 * Errors: a status with tsl_fail()'s sentence, which starts with the device's name ("opencl:0: ...") and
 * holds the vendor's error name. On failure an out-parameter is NULL and nothing is left behind.
 */
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

/* What a device offers; a strategy's `needs` is a set of these. X(NAME, bit, text for refusals). */
#define TSL_CAPABILITY_LIST(X)                                                                               \
  X(HOST, 0, "runs C code of this library on host memory")                                                   \
  X(KERNELS, 1, "compiles the kernel dialect")                                                               \
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

/* The text of the first capability in `needs` that is missing in `offers`, or NULL. */
const char *tsl_capability_missing(unsigned needs, unsigned offers);
/* The host's instruction sets, those of TESELA_ISA and below; no device is looked for. */
unsigned tsl_host_offers(void);

/* Most devices that work together. */
enum { TSL_MEMBERS_MAX = 8 };

/* A device as the planner sees it. Plain data, filled by its kind's list(), constant afterwards. */
struct tsl_device {
  const tsl_device_ops *ops;
  const char *kind;   /* "cpu" */
  int index;          /* among its kind */
  char name[128];     /* "cpu", "opencl:0", "cuda:0", "cuda:0,cuda:1": unique, what users type */
  char label[128];    /* the vendor's name for it */
  char platform[128]; /* driver or platform with version */
  /* What must be equal for compiled kernels and remembered plans to be valid: label, architecture, driver
   * version; no blanks. */
  char key[160];
  unsigned capabilities; /* of TSL_CAN_... */
  int is_cpu;            /* a processor of the host, whatever the API (PoCL): warm caches, few cores */
  int compute_units, clock_mhz;
  uint64_t memory_bytes, allocation_max, local_bytes;
  /* Most bytes of its memory that one plan may take: TESELA_DEVICE_MEMORY, else what is left beside drivers
   * and displays. Of no matter on the cpu. */
  uint64_t memory_limit;
  /* Local memory that a kernel's TSL_LOCAL_BYTES may take where that is more than local_bytes; else 0. */
  uint64_t local_bytes_inside;
  /* Images: the most texels of a row, the most rows, and what a layout's offset and pitch are multiples of,
   * in bytes; see tsl_image_fits(). A pitch alignment of 0: images are copies, and their rows touch. All of
   * it is 0 without TSL_CAN_IMAGES. */
  int64_t image_width_max, image_height_max;
  size_t image_offset_alignment, image_pitch_alignment, image_pitch_max;
  uint64_t cache_bytes; /* of the last level of cache before the device's memory; 0 where nothing tells */
  char pci[16]; /* place on the PCI bus, "0000:3b:00.0"; "" where it is not known, or for a processor */
  int group_items_max; /* work-items of a work-group */
  int group_size_max[3];
  uint64_t group_count_max[3];
  int warp;                       /* work-items that run in step; 1 unknown or none */
  const tsl_fragments *fragments; /* its matrix instructions, with TSL_CAN_FRAGMENTS; else NULL */
  int vector_f32, vector_f64;     /* preferred vector widths, in elements */
  size_t host_alignment; /* alignment of host memory that buffer_wrap() takes without copying; 0: it takes
                            none */
  int architecture;      /* CUDA: 90 for sm_90; else 0 */
  /* Predictions of the planner's model: datasheet arithmetic or a guess from units and clock, never a
   * promise. */
  double peak_f32, peak_f64; /* operations a second, a fused multiply-add counting two */
  double bandwidth;          /* bytes a second of the device's memory */
  double link_bandwidth;     /* bytes a second between host and device; 0 where memory is shared */
  double launch_seconds;     /* from launch to start */
  int threads;               /* cpu: threads to use; else 0 */
  int host_threads;        /* most of the host's that may bring operands to it; 0: all of the shared pool's */
  uint64_t level_bytes[3]; /* cpu: data caches of levels 1 to 3 that a core uses, each whole; 0: not there or
                              unknown */
  /* TSL_CAN_SEVERAL: the devices that it stands for, in their order; they run plans of their own. Else there
   * are none. */
  tsl_device *members[TSL_MEMBERS_MAX];
  int member_count;
  void *impl; /* the kind's own */
};

/* Memory of a device. The kind embeds it as the first member of its own struct. */
typedef struct tsl_buffer {
  tsl_device *device;
  size_t bytes;
  void *host; /* where the host sees it too, at all times (cpu); else NULL, and map() is the way */
  bool askew; /* over host memory that is not aligned as images need it: none fits it */
} tsl_buffer;

/* A block of rows, copied between host memory and a buffer. Contiguous memory is one row. `device_pitch` and
 * `host_pitch` are the bytes between a row's start and the next, at least row_bytes. rows * row_bytes = 0
 * copies nothing. */
typedef struct tsl_copy {
  tsl_buffer *buffer;
  size_t offset; /* bytes from the buffer's start to the first row */
  size_t device_pitch;
  void *host; /* read only by write() */
  size_t host_pitch;
  size_t rows, row_bytes;
} tsl_copy;

/* A block of rows, copied from a buffer to another one, which may be another device's; the two do not
 * overlap. Pitches are as above. */
typedef struct tsl_copy_rect {
  tsl_buffer *from, *to;
  size_t from_offset, from_pitch, to_offset, to_pitch; /* bytes */
  size_t rows, row_bytes;
} tsl_copy_rect;

/* Memory of the host from which and to which a device copies by itself, while host and device do something
 * else. The kind embeds it as the first member of its own struct. */
typedef struct tsl_pinned {
  tsl_device *device;
  void *host; /* aligned for any type */
  size_t bytes;
} tsl_pinned;

/* An image: rows of texels, four f32 side by side each (RGBA), that kernels read as TSL_IMAGE. This says
 * which bytes of a buffer it shows: `height` rows of `width` texels, `pitch` bytes from a row's start to the
 * next. */
enum { TSL_TEXEL_BYTES = 16 };
typedef struct tsl_image_layout {
  tsl_buffer *buffer;
  size_t offset, pitch;  /* bytes */
  int64_t width, height; /* texels, rows */
} tsl_image_layout;

/* Three dimensions of elements in a buffer, the first dense, as kernels copy boxes of them to local memory in
 * one instruction (NVIDIA's tensor memory accelerator). Boxes have `box` elements along the first two
 * dimensions and one along the third; what of them lies outside is zeros where it is read, and is not
 * written. Rows of a box are at most 128 bytes, and their chunks of 16 bytes are exchanged by row (chunk ^
 * row % 8). */
typedef struct tsl_tensor {
  tsl_buffer *buffer;
  size_t offset;    /* bytes to the first element, a multiple of 16 */
  int element;      /* bytes: 1, 2 or 4 */
  int64_t size[3];  /* elements, 1 to 2^32 */
  int64_t pitch[2]; /* bytes from one to the next along the second and third dimension, multiples of 16 below
                       2^40 */
  int box[2];       /* 1 to 256 */
} tsl_tensor;
/* Such a tensor as kernels are given it: an argument by value. It says where the buffer lies, and dies with
 * it. */
typedef struct tsl_tensor_map {
  _Alignas(64) unsigned char bytes[128];
} tsl_tensor_map;

/* Where compiled text comes from and what it is compiled with. */
typedef struct tsl_build {
  const char *name; /* for messages and the cache's file names: "gemm/tile_local" */
  const char
      *text; /* flattened source with its #define lines in front: all that decides what the kernel is */
  const char *options; /* further compiler options, "" for none */
  bool loaded_only;    /* no compiler and no disk: TESELA_UNSUPPORTED where this process has not loaded it */
} tsl_build;

/* A compiled kernel text: OpenCL's program binary, CUDA's cubin. `data` is from malloc(). */
typedef struct tsl_binary {
  void *data;
  size_t bytes;
} tsl_binary;

/* Launch geometry: work-groups and work-items per group. Unused dimensions are 1. */
typedef struct tsl_grid {
  uint64_t groups[3];
  int items[3];
} tsl_grid;

/* A kernel argument: a buffer, an image, or else `bytes` bytes at `value`. A kernel that takes a buffer or an
 * image and uses none of it gets one all the same. */
typedef struct tsl_argument {
  tsl_buffer *buffer;
  tsl_image *image;
  const void *value;
  size_t bytes;
} tsl_argument;
#define TSL_ARG_BUFFER(b) ((tsl_argument){.buffer = (b)})
#define TSL_ARG_IMAGE(i) ((tsl_argument){.image = (i)})
#define TSL_ARG_VALUE(v) ((tsl_argument){.value = &(v), .bytes = sizeof(v)})

/* What one device does. Members marked [optional] may be NULL; the capability that says whether they are
 * there stands beside them. */
struct tsl_device_ops {
  /* Folder (from src/) with this kind's dialect_impl.h, for tsl_source_flatten(). [optional: KERNELS] */
  const char *dialect_folder;
  /* "cl" or "cu": extension of the source kept beside a cached binary. [optional: KERNELS] */
  const char *source_extension;

  /* The compiler's option for fast, relaxed arithmetic. [optional: KERNELS] */
  const char *relaxed_option;

  /* Makes the device ready (context, primary queue). Called by tsl_device_open(), once until close; slow
   * things belong here and not in list(). */
  tesela_status (*open)(tsl_device *device);
  /* Undoes open(). Nothing created on the device is alive any more. Never fails. */
  void (*close)(tsl_device *device);

  /* Takes at least `bytes` bytes, aligned for any type; zero bytes give a buffer that may be passed to
   * kernels. Contents are undefined. TESELA_OUT_OF_MEMORY says how much was asked for and, where known, how
   * much is free. */
  tesela_status (*buffer_create)(tsl_device *device, size_t bytes, tsl_buffer **buffer);
  /* A buffer over host memory that stays the caller's; no copy is made, and after finish() of the streams
   * that used it, host and device see the same bytes. `host` is aligned to device->host_alignment. [optional:
   * SHARED_MEMORY] */
  tesela_status (*buffer_wrap)(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer);
  /* A buffer over the device's own memory that stays the caller's: an address in CUDA, a cl_mem of the
   * device's context in OpenCL. bytes 0: as many as there are from there on. TESELA_BAD_CALL where it is
   * memory of another device or context, or there are fewer. [optional: OPENCL, CUDA] */
  tesela_status (*buffer_adopt)(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer);
  /* No work that uses the buffer is pending, unless its memory is the caller's. */
  void (*buffer_destroy)(tsl_buffer *buffer);
  /* Makes the buffer's bytes visible at a host address until unmap(): waits for the stream's earlier work.
   * write != 0: what the host stores there reaches the device at unmap(). [optional: SHARED_MEMORY] */
  tesela_status (*buffer_map)(tsl_stream *stream, tsl_buffer *buffer, int write, void **host);
  tesela_status (*buffer_unmap)(tsl_stream *stream, tsl_buffer *buffer, void *host);

  tesela_status (*stream_create)(tsl_device *device, tsl_stream **stream);
  /* A stream over the API's own queue, which stays the caller's: a CUstream, NULL being the default stream,
   * or an in-order cl_command_queue. TESELA_BAD_CALL where it is of another device or context. [optional:
   * OPENCL, CUDA] */
  tesela_status (*stream_adopt)(tsl_device *device, void *native, tsl_stream **stream);
  /* Waits for pending work first, unless the queue is the caller's. */
  void (*stream_destroy)(tsl_stream *stream);
  /* Waits until all of the stream's work is done; a failure of that work is reported here. */
  tesela_status (*finish)(tsl_stream *stream);

  /* Host to buffer; buffer to host; in stream order. write(): host memory may be changed on return. read():
   * is complete on return. */
  tesela_status (*write)(tsl_stream *stream, const tsl_copy *copy);
  tesela_status (*read)(tsl_stream *stream, const tsl_copy *copy);
  /* Copies beside computing: memory of the host that the device reaches by itself; write() and read() between
   * it and buffers, enqueued and no more: copy->host lies in pinned memory of the device, and neither is
   * written before the copy is done nor read before it is. No copy is pending when the memory is destroyed.
   * TESELA_OUT_OF_MEMORY where the system does not give so much of it. [optional: these four and the two
   * waits below, all or none] */
  tesela_status (*pinned_create)(tsl_device *device, size_t bytes, tsl_pinned **pinned);
  void (*pinned_destroy)(tsl_pinned *pinned);
  tesela_status (*write_later)(tsl_stream *stream, const tsl_copy *copy);
  tesela_status (*read_later)(tsl_stream *stream, const tsl_copy *copy);
  /* Buffer to buffer of the same device, no overlap; enqueued. */
  tesela_status (*copy)(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                        size_t to_offset, size_t bytes);
  /* Whether copy_rows() reaches the other device's memory: both are open. The first question about a pair may
   * prepare their link. Callers go through device/cross_copy.h, which knows another way. [optional, with
   * copy_rows()] */
  bool (*reaches)(tsl_device *device, tsl_device *other);
  /* Rows from buffer to buffer; enqueued. One of them is the stream's device's, and so is the other, or its
   * device is one that is reached. [optional] */
  tesela_status (*copy_rows)(tsl_stream *stream, const tsl_copy_rect *rows);
  /* Every byte of the range; enqueued. */
  tesela_status (*fill)(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                        size_t bytes);

  /* An image of a buffer's bytes as the stream's earlier work leaves them, for kernels launched later on the
   * same stream: a view where the device can, else a copy made in stream order, so that the buffer is not
   * written while the image is in use. TESELA_BAD_CALL where tsl_image_fits() is false. [optional: IMAGES] */
  tesela_status (*image_create)(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image);
  /* May follow a launch that uses the image at once: what the image holds lives until that launch is done.
   * Before the stream's end, and before the buffer's. A stream may keep a copy's memory for its next image.
   * [optional: IMAGES] */
  void (*image_destroy)(tsl_image *image);

  tesela_status (*event_create)(tsl_device *device, tsl_event **event);
  void (*event_destroy)(tsl_event *event);
  /* Marks the moment when the stream's earlier work is done. An event may be recorded again. */
  tesela_status (*event_record)(tsl_stream *stream, tsl_event *event);
  /* What is enqueued on the stream from now on begins when the event, as it was last recorded in another
   * stream, has come; and the same for the host, which is told of a failure of the work before it. The event
   * was recorded, and may be recorded again at once. [optional: as pinned_create] */
  tesela_status (*stream_wait)(tsl_stream *stream, tsl_event *event);
  tesela_status (*event_wait)(tsl_event *event);
  /* Whether an event that was recorded has come, without waiting for it; a failure of the work before it is
   * told. [optional: CUDA] */
  tesela_status (*event_done)(tsl_event *event, bool *done);
  /* Device time between two recorded events of one stream; waits for the later one. */
  tesela_status (*event_seconds)(tsl_event *begin, tsl_event *end, double *seconds);

  /* Compiles text. On TESELA_BUILD_FAILED the compiler's log is kept with tsl_status_keep_log(). Callers go
   * through tsl_jit_module(), which caches. [optional: KERNELS] */
  tesela_status (*build)(tsl_device *device, const tsl_build *build, tsl_binary *binary);
  /* What the compiler is and which version, and everything else outside tsl_build that decides what build()
   * returns: part of the cache's key together with device->key. [optional: KERNELS] */
  tesela_status (*compiler)(tsl_device *device, tsl_text *text);
  /* Makes a binary callable. TESELA_BUILD_FAILED when the binary is not one that this device takes.
   * [optional: KERNELS] */
  tesela_status (*module_load)(tsl_device *device, const char *name, const tsl_binary *binary,
                               tsl_module **module);
  void (*module_destroy)(tsl_module *module);
  /* A kernel of a module, by its name in the source. It lives as long as the module and may be launched by
   * any number of threads (launch() sets its arguments under a lock where the API needs one). [optional:
   * KERNELS] */
  tesela_status (*kernel_get)(tsl_module *module, const char *name, tsl_kernel **kernel);
  /* Gives each group of a kernel that has a TSL_LOCAL_BYTES so many bytes for it, at most local_bytes_inside:
   * before its first launch, and the same number each time. NULL where compilers know it from the text. */
  tesela_status (*kernel_local_bytes)(tsl_kernel *kernel, size_t bytes);
  /* Lets launches of this kernel start while the work before them in the stream ends. The kernel waits for
   * that work itself before it reads or writes memory. Without effect where the driver cannot. [optional:
   * WGMMA] */
  void (*kernel_early)(tsl_kernel *kernel);
  /* Makes a map of a tensor. TESELA_DEVICE_FAILED where the driver refuses it. [optional: WGMMA] */
  tesela_status (*tensor_map)(const tsl_tensor *tensor, tsl_tensor_map *map);
  /* Most work-items per group for this kernel, registers considered; at least 1. [optional: KERNELS] */
  int (*kernel_items_max)(tsl_kernel *kernel);
  /* Enqueues. Every groups[d] and items[d] is at least 1. Argument memory may be changed on return.
   * [optional: KERNELS] */
  tesela_status (*launch)(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                          const tsl_argument *arguments, int count);

  /* The API's own objects behind ours, for strategies that call a vendor's library; they stay the device's. A
   * stream is OpenCL's cl_command_queue or CUDA's CUstream, a buffer OpenCL's cl_mem or the device address of
   * its first byte in CUDA. [optional: OPENCL, CUDA] */
  void *(*native_stream)(tsl_stream *stream);
  void *(*native_buffer)(tsl_buffer *buffer);
  /* Makes the device the one that this thread's calls of a vendor's library go to, until leave(), which puts
   * back what was there before. [optional: CUDA] */
  tesela_status (*enter)(tsl_device *device);
  void (*leave)(tsl_device *device);
};

/* A kind of device. */
typedef struct tsl_device_kind {
  const char *kind; /* "opencl" */
  const char *what; /* "OpenCL platforms": for `tesela devices` */
  /* Calls found() for each device, in a fixed order, with everything but `kind`, `index`, `name` filled in
   * (those are overwritten); found() copies the struct. No device is a failure with TESELA_NO_DEVICE, whose
   * sentence is the reason. */
  tesela_status (*list)(void (*found)(void *argument, const tsl_device *device), void *argument);
  /* Lets a device that is not open yet be opened in an API's context which stays the caller's (cl_context):
   * false where the device is not in it. [optional: OPENCL] */
  bool (*adopt)(tsl_device *device, void *context);
  /* Frees device->impl at the end. [optional] */
  void (*forget)(tsl_device *device);
  /* Nonzero: a machine never has more than one, which is named without an index ("cpu"). */
  int single;
  /* Whether the memory at an address is this device's own; the device need not be open. [optional: kinds
   * whose memory has addresses] */
  bool (*owns)(const tsl_device *device, const void *address);
  /* Seconds that it takes at the very least until a first device can be used, drivers loaded; 0: none. */
  double start_least;
  /* Whether a look at files tells that all its devices are the host's processor again. Loads nothing; false
   * where it cannot be told. [optional] */
  bool (*is_processor)(void);
} tsl_device_kind;

/* The threads that a run on a processor uses unless it is given others: as many of the shared pool's as the
 * device has. */
tsl_team tsl_device_team(const tsl_device *device);
/* The threads that bring operands from the host's memory to the device, and back. */
tsl_team tsl_device_host_team(const tsl_device *device);
/* Gives a processor fewer threads, and predictions to match; more than it has change nothing. Before it is
 * used. */
void tsl_device_limit(tsl_device *device, int threads);
/* Bytes a second of a processor's memory, as a guess: a core takes about 10 GB/s, and ten of them what a
 * socket has. */
double tsl_device_bandwidth_of(int threads);

/* The least pitch of an image of `width` texels (at least 1) on this device, which has images. */
size_t tsl_image_pitch(const tsl_device *device, int64_t width);
/* Whether the device makes an image of this layout: width and height from 1 to its limits; offset and pitch
 * of its alignments, the pitch exactly the row's bytes where images are copies; all rows, pitch and all, in
 * the buffer. */
bool tsl_image_fits(const tsl_image_layout *layout);
/* The same for image_create(): TESELA_BAD_CALL with the layout and the device's rules. */
tesela_status tsl_image_check(const tsl_image_layout *layout);

/* Contiguous copies, for callers without pitch. */
tesela_status tsl_device_write(tsl_stream *stream, tsl_buffer *buffer, size_t offset, const void *host,
                               size_t bytes);
tesela_status tsl_device_read(tsl_stream *stream, tsl_buffer *buffer, size_t offset, void *host,
                              size_t bytes);

#endif
