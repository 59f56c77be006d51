/* Helpers for strategies with portable kernels: compile a kernel for a config, make grid and arguments. */
#ifndef TSL_STRATEGY_LAUNCH_H
#define TSL_STRATEGY_LAUNCH_H

#include "strategy/strategy.h"

#include <stdatomic.h>

#define TSL_INDEX int64_t
#include "strategy/kernel_launch/gemm_shared.h"

/* Maximum of work-items of a group along one dimension that a user may set; devices allow fewer. */
enum { TSL_LAUNCH_ITEMS_MOST = 16384 };
/* Resident work-items and 32-bit registers of a compute unit (NVIDIA; registers also AMD). */
enum { TSL_UNIT_ITEMS = 2048, TSL_UNIT_REGISTERS = 65536 };
/* Table entry of parameter `relaxed`, which only a user sets: 1 compiles kernels with the device's fast,
 * relaxed arithmetic (tsl_accuracy_relaxed()). */
#define TSL_LAUNCH_RELAXED                                                                                   \
  "relaxed", "1: the compiler's fast, relaxed arithmetic, which may change results", 0
enum { TSL_LAUNCH_RELAXED_MOST = 1 };

/* State of a strategy with one kernel, in work->state after build(). */
typedef struct tsl_launch {
  tsl_kernel *kernel;
  tsl_grid grid;
} tsl_launch;

/* Sizes and strides in elements: the struct of kernel/kernel_gemm.h without its final scalars. */
typedef struct tsl_gemm_sizes {
  TSL_GEMM_SIZES
} tsl_gemm_sizes;

/* Returns the sizes and strides of a run. k is 0 where alpha is 0; A and B are then not read. */
tsl_gemm_sizes tsl_launch_sizes(const tsl_work *work, const tsl_operands *operands);

/* Source of one module: path of a kernel file below src/, and lines defined before its text. */
typedef struct tsl_launch_module {
  const char *path;
  const char *defines; /* "#define" lines; "": none */
} tsl_launch_module;

/* Maximum number of modules of tsl_launch_compile_ahead(). */
enum { TSL_LAUNCH_AHEAD_MAX = 8 };

/* Compiles modules of a strategy concurrently in new threads, at most TSL_LAUNCH_AHEAD_MAX, and waits. The
 * functions below find the modules in memory, or compile again and report the failure. Does nothing in a
 * process of one thread. For compilers that run concurrently (NVRTC). */
void tsl_launch_compile_ahead(tsl_work *work, const tsl_launch_module *modules, int count);

/* Returns the compute units for persistent blocks: all but this thread's reserved units
 * (device/reserved_units.h), and at least half. */
int tsl_launch_units(const tsl_device *device);

/* Returns the first ticket of a plan: a number that flags, in memory with arbitrary contents, are unlikely to
 * hold; and a new ticket, never 0, the value of a flag that was read. Concurrent runs have different ones. */
unsigned long long tsl_launch_first_ticket(const tsl_work *work);
unsigned long long tsl_launch_next_ticket(atomic_ullong *tickets);

/* Predicate of a run as the first argument of CUDA kernels: device address of an int, and the number that it
 * must exceed. Address 0: the result is needed. */
typedef struct tsl_launch_wanted {
  int64_t at;    /* device address; 0: the result is needed */
  int64_t above; /* the kernel exits at once unless the int is above this number */
} tsl_launch_wanted;
/* Returns the predicate of a run; address 0 where the run has none, and on devices without CUDA. */
tsl_launch_wanted tsl_launch_wanted_of(const tsl_work *work, const tsl_operands *operands);

/* Returns the sizes of C' = B' A'. */
tsl_gemm_sizes tsl_launch_swapped(const tsl_gemm_sizes *sizes);
/* Operands of a run in the order of its kernel: for C' = B' A' where swapped. */
typedef struct tsl_launch_operands {
  tsl_gemm_sizes sizes;
  tsl_buffer *a, *b, *c;          /* never NULL: arguments need buffers, even if nothing is read */
  int64_t a_step, b_step, c_step; /* strides between products of a batch */
} tsl_launch_operands;
tsl_launch_operands tsl_launch_operands_of(const tsl_work *work, const tsl_operands *operands, bool swapped);

/* Returns true if reading along `stride` is better than along `other`: contiguous, or at least closer. */
bool tsl_launch_along(int64_t stride, int64_t other);

/* Kernel argument for the problem's type: its first `bytes` bytes. */
typedef struct tsl_gemm_argument {
  tsl_gemm_sizes sizes;
  union {
    float f32[4];
    double f64[4];
    uint32_t i32[4];
  } scalars;
  size_t bytes; /* length of the argument: sizes and scalars, two or of complex types four */
} tsl_gemm_argument;
/* Returns the argument with the problem's scalars; alpha is 0 where k is 0. */
tsl_gemm_argument tsl_launch_scalars(const tsl_work *work, const tsl_gemm_sizes *sizes);
/* Returns the argument with alpha = 1 and beta = 0, for sums that are scaled later. */
tsl_gemm_argument tsl_launch_unscaled(const tsl_work *work, const tsl_gemm_sizes *sizes);

/* Appends the definitions before a kernel's text: TSL_REAL, the type of the sums (TESELA_TYPE_DEFAULT: none);
 * TSL_PARAM_<NAME> for each parameter of `strategy` (NULL: none) in the text `kernel` (NULL: all). */
void tsl_launch_defines(tesela_type real, const tsl_strategy *strategy, const tsl_config *config,
                        const char *kernel, tsl_text *text);

/* Appends the definitions for kernel/kernel_elements.h where elements and sums differ in type. */
void tsl_launch_define_types(const tsl_problem *problem, tsl_text *text);
/* Returns the number of a type in kernel/kernel_elements.h. */
int tsl_launch_type_code(tesela_type type);

/* Returns PTX's word for a type of A or B; for f32 the word of the instructions that round it (tf32). */
const char *tsl_launch_ptx_word(tesela_type type);
/* Returns the number of C's type in matrix kernels: 0 f32, 1 f16, 2 bf16, 3 i32. */
int tsl_launch_form(tesela_type type);
/* Returns the items that share the partial sums of one element in the split-k reduction. */
int tsl_launch_fold_items(int64_t parts);

/* Compiles `path` (from src/) with TSL_REAL, the type of the sums, and TSL_PARAM_<NAME>. Stores the kernel
 * and the grid in a new tsl_launch in work->state. TESELA_UNSUPPORTED: the compiled kernel allows fewer
 * work-items than the grid needs. */
tesela_status tsl_launch_build(tsl_work *work, const char *path, const char *kernel, const tsl_grid *grid);
/* Builds like tsl_launch_build() with another TSL_REAL (TESELA_TYPE_DEFAULT: none) and more "#define"s. */
tesela_status tsl_launch_build_with(tsl_work *work, const char *path, const char *kernel,
                                    const tsl_grid *grid, tesela_type real, const char *defines);
void tsl_launch_release(tsl_work *work);
/* Gets a kernel of `path`, owned by the device, for groups of `items` work-items. Compiles a text once. */
tesela_status tsl_launch_kernel(tsl_work *work, const char *path, const char *name, int items,
                                tsl_kernel **kernel);
/* Gets a kernel like tsl_launch_kernel(), with additional lines before the text. */
tesela_status tsl_launch_kernel_with(tsl_work *work, const char *path, const char *name, int items,
                                     const char *defines, tsl_kernel **kernel);
/* Lets launches start while the stream's previous work ends, if the kernel begins by TSL_START(). */
void tsl_launch_early(const tsl_work *work, tsl_kernel *kernel);
/* Does so for a grid, where a unit has at most `resident` groups with `bytes` of local memory each. Launches
 * with many more groups are left out. Requests local memory such that groups spread evenly. Otherwise
 * successive launches fill some units while others are idle. */
tesela_status tsl_launch_early_evenly(const tsl_work *work, const tsl_grid *grid, int resident, int64_t bytes,
                                      bool is_requested, tsl_kernel **kernel);

/* Launches a gemm kernel with pointers to A, B and C and the argument struct of kernel/kernel_gemm.h. */
tesela_status tsl_launch_gemm(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
/* Launches a kernel that computes C' = B' A' where swapped. */
tesela_status tsl_launch_gemm_swapped(const tsl_work *work, const tsl_operands *operands, bool swapped,
                                      tsl_stream *stream);

/* Returns NULL if the device supports the grid and kernels can count its groups, else a refusal that names
 * the dimension. refuse() and run() must make the grid alike. A grid without groups is not launched. */
const char *tsl_launch_fits(const tsl_device *device, const tsl_grid *grid);
/* Returns `groups`, limited to the device's maximum along `dimension`, for kernels that loop. */
uint64_t tsl_launch_limited(const tsl_device *device, int dimension, int64_t groups);

/* Makes a grid of items_x x items_y groups over `columns` x `rows` elements, dimension 0 along columns.
 * Returns a refusal if the device cannot, else NULL. Dimension 1 may have too few groups: kernels loop. */
const char *tsl_launch_grid(const tsl_device *device, int64_t columns, int64_t rows, int items_x, int items_y,
                            tsl_grid *grid);

/* Makes a grid of groups of `items` work-items along dimension 0, one row an item. Returns a refusal, or
 * NULL. There may be fewer groups than `rows` need: kernels loop. */
const char *tsl_launch_rows(const tsl_device *device, int64_t rows, int items, tsl_grid *grid);

/* Returns the predicted seconds of a launch right after another. `share`: fraction of launch_seconds where
 * launches overlap; a graphics processor's OpenCL driver has as much work again for each. */
double tsl_launch_second_seconds(const tsl_device *device, double share);
/* Predicts the seconds of kernels whose groups own items_x x items_y elements of C, with the launch. Adds
 * bytes / bandwidth, and operations with padding / (`efficiency` * peak of the busy units). */
double tsl_launch_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          int64_t items_x, int64_t items_y);
/* Arithmetic of a compute unit, for models that count its clocks. */
typedef struct tsl_launch_pace {
  double count, clock; /* compute units; hertz */
  double lanes;        /* multiply-adds that a unit starts in a clock */
  double slots;        /* instructions that its schedulers issue while all lanes start one multiply-add */
} tsl_launch_pace;
tsl_launch_pace tsl_launch_pace_of(const tsl_problem *problem, const tsl_device *device);

/* Returns the seconds of one item on a GPU with `waits` dependent memory accesses: a lower bound for launches
 * with few items. 0 on processors, whose caches hide the latency. */
double tsl_launch_chain_seconds(const tsl_device *device, double waits);

#endif
