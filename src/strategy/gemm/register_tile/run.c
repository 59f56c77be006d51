/* Compiling and launching register_tile: which kernels a config needs, and what they are told. */
#include "base/memory.h"
#include "base/status.h"
#include "strategy/gemm/register_tile/register_tile.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/register_tile/"

/* The kernels' arguments, as register_tile.cl has them: sizes, the scalars (two or four, in the type of C's parts), and
 * three more numbers. Kernels that take a tsl_gemm_arguments take the front. */
typedef struct arguments {
  unsigned char bytes[sizeof(tsl_gemm_sizes) + 4 * sizeof(double) + 3 * sizeof(int64_t)];
  size_t front, whole;
} arguments;

/* What build() leaves in work->state. */
typedef struct tile_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum;             /* of the parts of k; NULL where there is one */
  tsl_kernel *copy_a, *copy_b; /* into panels; NULL where local memory has them */
  bool turned;                 /* C' = B' A' is computed */
} tile_kernels;

/* Rows of tiles in a band: as many as columns of tiles that the same number of groups take, so that their panels of A
 * and of B are about as many. */
enum { BAND = 8 };
/* Work-items of register_tile_sum.cl's groups; numbers along k that an item of the copies takes. */
enum { SUM_ITEMS = 64, CHUNK = 64 };

/* --- building --- */

/* As many groups on a unit as find room with all the registers that an item can have: the compiler is not asked to save
 * any, but knows that it need not wait for memory in one group alone. */
static int groups_wanted(const tsl_register_tile *tile) {
  return tile->items < 256 ? 256 / tile->items : 1;
}

static tesela_status build_local(tsl_work *work, const tsl_problem *turned, const tsl_register_tile *tile,
                                 tile_kernels *out) {
  char defines[128];
  snprintf(defines, sizeof defines, "#define A_ALONG_K %d\n#define B_ALONG_K %d\n#define GROUPS %d\n",
           tsl_launch_along(turned->a.col_stride, turned->a.row_stride),
           tsl_launch_along(turned->b.row_stride, turned->b.col_stride), groups_wanted(tile));
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "register_tile.cl", "tsl_gemm_register_tile", tile->items,
                                 defines, &out->multiply));
  if (tile->split == 1)
    return TESELA_OK;
  return tsl_launch_kernel(work, FOLDER "register_tile_sum.cl", "tsl_gemm_register_tile_sum", SUM_ITEMS,
                           &out->sum);
}

static tesela_status build_panels(tsl_work *work, const tsl_problem *turned, const tsl_register_tile *tile,
                                  tile_kernels *out) {
  static const char path[] = FOLDER "register_tile_panels.cl";
  char defines[96];
  snprintf(defines, sizeof defines, "#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n",
           turned->conjugate_a ? -1 : 1, turned->conjugate_b ? -1 : 1);
  TSL_TRY(tsl_launch_kernel_with(work, path, "tsl_gemm_register_tile_panels", tile->items, defines,
                                 &out->multiply));
  TSL_TRY(tsl_launch_kernel_with(work, path, "tsl_gemm_register_tile_copy_a", 1, defines, &out->copy_a));
  return tsl_launch_kernel_with(work, path, "tsl_gemm_register_tile_copy_b", 1, defines, &out->copy_b);
}

tesela_status tsl_register_tile_build(tsl_work *work) {
  const tsl_problem turned = tsl_register_tile_turned(&work->problem);
  const tsl_register_tile tile = tsl_register_tile_of(&work->problem, &work->config);
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tile_kernels), "register_tile's kernels", &block));
  tile_kernels *made = block;
  made->turned = turned.c.col_stride != work->problem.c.col_stride;
  const tesela_status status = tile.form == TSL_REGISTER_TILE_LOCAL
                                   ? build_local(work, &turned, &tile, made)
                                   : build_panels(work, &turned, &tile, made);
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  work->state = made;
  return TESELA_OK;
}

void tsl_register_tile_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* --- running --- */

/* One run. `sizes` are those of C = A B as the kernels see it, turned or not. */
typedef struct running {
  const tsl_work *work;
  const tile_kernels *kernels;
  tsl_register_tile tile;
  tsl_gemm_sizes sizes;
  tsl_buffer *a, *b, *c, *scratch;
  double alpha[2], beta[2];
  tsl_stream *stream;
} running;

static running start(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tile_kernels *kernels = work->state;
  /* A kernel wants a buffer in every place, also where nothing is read. */
  tsl_buffer *c = operands->c.buffer, *a = operands->a.buffer ? operands->a.buffer : c,
             *b = operands->b.buffer ? operands->b.buffer : c;
  return (running){
      .work = work,
      .kernels = kernels,
      .tile = tsl_register_tile_of(&work->problem, &work->config),
      .sizes = kernels->turned ? tsl_launch_turned(&sizes) : sizes,
      .a = kernels->turned ? b : a,
      .b = kernels->turned ? a : b,
      .c = c,
      .scratch = operands->scratch ? operands->scratch : c,
      /* An empty sum is not scaled: infinity times nothing is nothing. */
      .alpha = {sizes.k == 0 ? 0 : work->problem.alpha[0], sizes.k == 0 ? 0 : work->problem.alpha[1]},
      .beta = {work->problem.beta[0], work->problem.beta[1]},
      .stream = stream,
  };
}

static int64_t count_of(int64_t value, int64_t step) {
  return (value + step - 1) / step;
}

static tesela_status launch(const running *run, tsl_kernel *kernel, const tsl_grid *grid,
                            const tsl_argument *list, int count) {
  return run->work->device->ops->launch(run->stream, kernel, grid, list, count);
}

static tsl_argument pass(const arguments *all, bool whole) {
  return (tsl_argument){.value = all->bytes, .bytes = whole ? all->whole : all->front};
}

static void append(arguments *to, const void *from, size_t bytes) {
  memcpy(to->bytes + to->whole, from, bytes);
  to->whole += bytes;
}

static arguments arguments_of(const running *run, const tsl_gemm_sizes *sizes, const double alpha[2],
                              const double beta[2], int64_t part, int64_t part_step) {
  const tesela_type type = run->work->problem.c.type;
  const int parts = tsl_type(type)->is_complex ? 2 : 1;
  const int64_t more[] = {part, part_step, BAND};
  const double *const scalars[] = {alpha, beta};
  arguments all = {.whole = 0};
  append(&all, sizes, sizeof *sizes);
  for (int i = 0; i < 2 * parts; i++) {
    const double twice = scalars[i / parts][i % parts];
    const float single = (float)twice;
    if (tsl_type(type)->component == TESELA_F64)
      append(&all, &twice, sizeof twice);
    else
      append(&all, &single, sizeof single);
  }
  all.front = all.whole;
  append(&all, more, sizeof more);
  return all;
}

static uint64_t tiles_of(const running *run) {
  return (uint64_t)(count_of(run->sizes.m, run->tile.tile_m) * count_of(run->sizes.n, run->tile.tile_n));
}

/* Elements from row to row of a part of C in scratch memory. */
static int64_t pitch_of(const running *run) {
  return count_of(run->sizes.n, run->tile.lanes) * run->tile.lanes;
}

static tesela_status multiply(const running *run) {
  const tsl_register_tile *tile = &run->tile;
  static const double one[2] = {1, 0}, none[2] = {0, 0};
  const bool parts = tile->split > 1;
  const int64_t part = count_of(count_of(run->sizes.k, tile->split), tile->tile_k) * tile->tile_k;
  const int64_t pitch = pitch_of(run);
  tsl_gemm_sizes sizes = run->sizes;
  if (parts) {
    sizes.c_offset = 0;
    sizes.c_row_stride = pitch;
    sizes.c_col_stride = 1;
  }
  const arguments all =
      arguments_of(run, &sizes, parts ? one : run->alpha, parts ? none : run->beta, part, sizes.m * pitch);
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b),
                               TSL_ARG_BUFFER(parts ? run->scratch : run->c), pass(&all, true)};
  const tsl_grid grid = {{tiles_of(run), (uint64_t)tile->split, 1}, {tile->items, 1, 1}};
  return launch(run, run->kernels->multiply, &grid, list, 4);
}

static tesela_status sum(const running *run) {
  const uint64_t rows = (uint64_t)run->sizes.m, most = run->work->device->group_count_max[1];
  const int64_t pitch = pitch_of(run);
  const arguments all = arguments_of(run, &run->sizes, run->alpha, run->beta, 0, 0);
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), TSL_ARG_BUFFER(run->c), pass(&all, false),
                               TSL_ARG_VALUE(pitch)};
  const uint64_t across_row = (uint64_t)count_of(pitch / run->tile.lanes, SUM_ITEMS);
  const tsl_grid grid = {{across_row, rows < most ? rows : most, 1}, {SUM_ITEMS, 1, 1}};
  return launch(run, run->kernels->sum, &grid, list, 4);
}

/* Copies an operand into panels of `width` lines. */
static tesela_status copy(const running *run, tsl_kernel *kernel, tsl_buffer *operand, int64_t lines,
                          int width) {
  const arguments all = arguments_of(run, &run->sizes, run->alpha, run->beta, 0, 0);
  const tsl_argument list[] = {TSL_ARG_BUFFER(operand), TSL_ARG_BUFFER(run->scratch), pass(&all, false)};
  const tsl_grid grid = {{(uint64_t)count_of(run->sizes.k, CHUNK), (uint64_t)count_of(lines, width), 1},
                         {1, 1, 1}};
  return launch(run, kernel, &grid, list, 3);
}

static tesela_status multiply_panels(const running *run) {
  const arguments all = arguments_of(run, &run->sizes, run->alpha, run->beta, 0, 0);
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), TSL_ARG_BUFFER(run->c), pass(&all, true)};
  const tsl_grid grid = {{tiles_of(run), 1, 1}, {run->tile.items, 1, 1}};
  if (run->sizes.k > 0) {
    TSL_TRY(copy(run, run->kernels->copy_a, run->a, run->sizes.m, run->tile.micro_m));
    TSL_TRY(copy(run, run->kernels->copy_b, run->b, run->sizes.n, run->tile.micro_n));
  }
  return launch(run, run->kernels->multiply, &grid, list, 3);
}

tesela_status tsl_register_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const running run = start(work, operands, stream);
  if (run.tile.form != TSL_REGISTER_TILE_LOCAL)
    return multiply_panels(&run);
  TSL_TRY(multiply(&run));
  return run.tile.split > 1 ? sum(&run) : TESELA_OK;
}
