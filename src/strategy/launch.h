/* Helpers for strategies that launch portable kernels: from a kernel file and a config to a compiled kernel,
 * and from a problem to launch geometry and arguments. */
#ifndef TSL_STRATEGY_LAUNCH_H
#define TSL_STRATEGY_LAUNCH_H

#include "strategy/strategy.h"

/* Structs that kernels know, too, say it as they do. */
#define TSL_INDEX int64_t
#include "strategy/gemm_shared.h"

/* Work-items of a group along one dimension that a user may name; devices allow fewer. */
enum { TSL_LAUNCH_ITEMS_MOST = 16384 };
/* What stands in a table of parameters, and its range: kernels that have it are compiled with the device's
 * fast, relaxed arithmetic where it is 1. Nobody chooses that but a user: see tsl_accuracy_relaxed(). */
#define TSL_LAUNCH_RELAXED                                                                                   \
  "relaxed", "1: the compiler's fast, relaxed arithmetic, which may change results", 0
enum { TSL_LAUNCH_RELAXED_MOST = 1 };

/* What a kernel strategy's build() leaves in work->state. */
typedef struct tsl_launch {
  tsl_kernel *kernel;
  tsl_grid grid;
} tsl_launch;

/* kernel/kernel_gemm.h's struct without the scalars that end it. Everything counts elements. */
typedef struct tsl_gemm_sizes {
  TSL_GEMM_SIZES
} tsl_gemm_sizes;

/* Those of a run. k is 0 where alpha is: A and B are not read then. */
tsl_gemm_sizes tsl_launch_sizes(const tsl_work *work, const tsl_operands *operands);

/* Source of one module: a kernel file below src/ and the lines defined in front of its text. */
typedef struct tsl_launch_module {
  const char *path;
  const char *defines;
} tsl_launch_module;

/* Most modules of one strategy that are compiled concurrently. */
enum { TSL_LAUNCH_AHEAD_MAX = 8 };

/* Compiles modules of a strategy in threads of their own and waits for them. The functions below then find
 * the modules in memory. A failure is not reported here: the function that needs the module compiles again
 * and reports. Does nothing in a process of one thread. For compilers that run concurrently (NVRTC). */
void tsl_launch_compile_ahead(tsl_work *work, const tsl_launch_module *modules, int count);

/* Units of a device that blocks may stay on until a kernel's end: all, but those that this thread leaves to
 * others (base/reserved_units.h). */
int tsl_launch_units(const tsl_device *device);

/* Address of the int of tsl_run_predicate, which CUDA's kernels read first, and what it must be above;
 * address 0: the run is wanted. */
typedef struct tsl_launch_wanted {
  int64_t at;
  int64_t above;
} tsl_launch_wanted;
tsl_launch_wanted tsl_launch_wanted_of(const tsl_work *work, const tsl_operands *operands);

/* Those of C' = B' A'. */
tsl_gemm_sizes tsl_launch_swapped(const tsl_gemm_sizes *sizes);
/* Whether a matrix is better read along the first stride than along the other: numbers follow each other
 * there, or are at least nearer. */
bool tsl_launch_along(int64_t stride, int64_t other);

/* The whole struct, for the problem's type: its first `bytes` bytes are the kernel's argument. */
typedef struct tsl_gemm_argument {
  tsl_gemm_sizes sizes;
  union {
    float f32[2];
    double f64[2];
    uint32_t i32[2];
  } scalars; /* alpha, beta */
  size_t bytes;
} tsl_gemm_argument;
tsl_gemm_argument tsl_launch_scalars(const tsl_work *work, const tsl_gemm_sizes *sizes);
/* The same with alpha = 1, beta = 0: for sums that are scaled later. */
tsl_gemm_argument tsl_launch_unscaled(const tsl_work *work, const tsl_gemm_sizes *sizes);

/* Appends what stands in front of every kernel's text: TSL_REAL (not where `real` is TESELA_TYPE_DEFAULT; the
 * type of the sums where kernels have no word for the type), and one TSL_PARAM_<NAME> per parameter of the
 * strategy (none where it is NULL) that the text `kernel` mentions (all where that is NULL). */
void tsl_launch_defines(tesela_type real, const tsl_strategy *strategy, const tsl_config *config,
                        const char *kernel, tsl_text *text);

/* Appends what kernel/kernel_elements.h asks for where elements are not of the type of their sums. */
void tsl_launch_define_types(const tsl_problem *problem, tsl_text *text);
/* Its number for a type. */
int tsl_launch_type_code(tesela_type type);

/* Of kernels of matrix instructions: PTX's word for a type of A and B, f32's that of the instructions that
 * round it; their number for C's: 0 f32, 1 f16, 2 bf16, 3 i32; and where k is split, the items that share the
 * parts of an element in the last step. */
const char *tsl_launch_ptx_word(tesela_type type);
int tsl_launch_form(tesela_type type);
int tsl_launch_fold_items(int64_t parts);

/* Compiles `path` (from src/) with TSL_REAL set to the type that sums of the problem's are made in, and one
 * #define TSL_PARAM_<NAME> per parameter of the strategy, upper case; finds `kernel`; keeps it in a new
 * tsl_launch with this grid. Fails with TESELA_UNSUPPORTED when the compiled kernel takes fewer work-items
 * than the grid asks for. */
tesela_status tsl_launch_build(tsl_work *work, const char *path, const char *kernel, const tsl_grid *grid);
/* The same with another TSL_REAL (TESELA_TYPE_DEFAULT: none), and with further lines ("#define ...") in
 * front. */
tesela_status tsl_launch_build_with(tsl_work *work, const char *path, const char *kernel,
                                    const tsl_grid *grid, tesela_type real, const char *defines);
void tsl_launch_release(tsl_work *work);
/* For strategies with several kernels in `path`: the same, but only finds one of them, for groups of `items`
 * work-items; text that was compiled before is not compiled again. */
tesela_status tsl_launch_kernel(tsl_work *work, const char *path, const char *name, int items,
                                tsl_kernel **kernel);
/* The same with further lines in front. */
tesela_status tsl_launch_kernel_with(tsl_work *work, const char *path, const char *name, int items,
                                     const char *defines, tsl_kernel **kernel);

/* Launches a gemm kernel with the portable argument list, in this order (see kernel/kernel_gemm.h):
 *   m n k, A offset row_stride col_stride, B ..., C ..., alpha, beta (of the problem's real type). */
tesela_status tsl_launch_gemm(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Whether the device takes a grid, and kernels can count its groups: NULL, or a refusal that says which
 * dimension is too long. A strategy has one function that makes its grids, which refuse() and run() both ask.
 * No groups: no launch. */
const char *tsl_launch_fits(const tsl_device *device, const tsl_grid *grid);
/* `groups` along a dimension, or as many as the device allows where they are more: for kernels that go on to
 * further ones. */
uint64_t tsl_launch_limited(const tsl_device *device, int dimension, int64_t groups);

/* Groups of items_x x items_y work-items over `columns` x `rows` units of work (dimension 0 along columns),
 * or a refusal when the device cannot. Along dimension 1, where devices allow fewer groups, the grid may be
 * smaller than the work: kernels go on to further rows. */
const char *tsl_launch_grid(const tsl_device *device, int64_t columns, int64_t rows, int items_x, int items_y,
                            tsl_grid *grid);

/* Groups of `items` work-items, each with a row of its own, all along dimension 0; or a refusal. Where the
 * device allows fewer groups than `rows` need, kernels go on to further rows. */
const char *tsl_launch_rows(const tsl_device *device, int64_t rows, int items, tsl_grid *grid);

/* The model of kernels whose groups own items_x x items_y elements of C: at least the bytes over the
 * bandwidth, at least the operations (those wasted in partial groups too) over `efficiency` of the peak, for
 * as many units as there are groups; plus the launch. */
double tsl_launch_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          int64_t items_x, int64_t items_y);
/* What one item takes on a GPU that waits for memory so many times, one after the other: the least where a
 * launch has too few items to fill each other's waits. 0 on processors, whose caches do not let them wait so
 * long. */
double tsl_launch_chain_seconds(const tsl_device *device, double waits);

#endif
