/* Compiling and launching cuda_mma. */
#include "base/memory.h"
#include "base/status.h"
#include "host/int_math.h"
#include "strategy/gemm/cuda_mma/cuda_mma.h"
#include "strategy/gemm/cuda_mma/cuda_mma_shared.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/cuda_mma/"

/* What build() leaves in work->state. */
typedef struct mma_mma_kernels {
  tsl_kernel *multiply, *fold, *pack; /* pack: NULL where nothing is packed */
} mma_mma_kernels;

enum { FOLD_ITEMS = 256, UNIT_BLOCKS = 16 };

tesela_status tsl_cuda_mma_build(tsl_work *work) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  const tsl_problem *problem = &tile.problem;
  const int form = tsl_launch_form(problem->c.type);
  const tsl_cuda_mma_shares shares = tsl_cuda_mma_shares_of(&tile, work->device);
  char defines[320];
  mma_mma_kernels made = {.fold = NULL};
  void *block;
  snprintf(defines, sizeof defines,
           "#define STAGES %d\n#define WARP_M %d\n#define WARP_N %d\n#define GROUPS %d\n#define ELEMENT %d\n"
           "#define A_TYPE %s\n#define B_TYPE %s\n#define IS_EIGHT %d\n#define A_MN_MAJOR %d\n"
           "#define B_MN_MAJOR %d\n#define C_FORM %d\n#define SPLIT %d\n",
           tile.stages, tile.warp_m, tile.warp_n, tile.groups, tile.element,
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type), tile.is_eight,
           tile.a_across, tile.b_across, form, shares.sums_bytes > 0);
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_mma.cu", "tsl_gemm_cuda_mma", tile.items, defines,
                                 &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(made.multiply, (size_t)tile.shared_bytes));
  /* For parts, and where there are no products. */
  const bool folds = shares.sums_bytes > 0 || !tsl_problem_reads(&work->problem, TSL_OPERAND_A);
  snprintf(defines, sizeof defines, "#define C_FORM %d\n#define SHARES %d\n", form,
           tsl_launch_fold_items(shares.parts));
  if (folds)
    TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_mma_split_k_reduce.cu", "tsl_gemm_cuda_mma_fold",
                                   FOLD_ITEMS, defines, &made.fold));
  made.pack = NULL;
  if (tile.packs)
    TSL_TRY(tsl_pack_rows_kernel(work, tile.element, &made.pack));
  if (work->device->capabilities & TSL_CAN_WGMMA) {
    ops->kernel_early(made.multiply);
    if (folds)
      ops->kernel_early(made.fold);
  }
  TSL_TRY(tsl_alloc(sizeof made, "cuda_mma's kernels", &block));
  *(mma_mma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_mma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* --- running --- */

/* A factor as copies find it: its lines, which are what lies side by side, a row of A, or where A lies
 * across, all its elements of one k; and elements from product to product of a batch. */
typedef struct mma_factor {
  tsl_rows rows;
  tsl_rows_place place;
  int64_t step;
} mma_factor;

/* One run; A, B and the sizes are those of C = A B as the kernel sees it, swapped or not. */
typedef struct mma_running {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_cuda_mma tile;
  tsl_cuda_mma_shares shares;
  tsl_gemm_sizes sizes;
  mma_factor a, b;
  bool is_split; /* parts of k go to memory, and the fold adds them up */
  cuda_mma_matrix result;
  cuda_mma_scalar alpha, beta;
  int64_t first, count; /* products of the batch that a launch takes */
  tsl_stream *stream;
} mma_running;

/* The bits of alpha or beta, as the kernels take them: 32 of them in f32 or i32. */
static cuda_mma_scalar mma_scalar_of(const tsl_gemm_argument *scaled, int index) {
  cuda_mma_scalar scalar;
  memcpy(&scalar, &scaled->scalars.i32[index], sizeof scalar);
  return scalar;
}

static bool mma_is_aligned(tsl_buffer *buffer) {
  return (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

/* Where the sums of parts start in scratch memory, behind packed factors. */
static int64_t sums_offset(const mma_running *run) {
  return (run->tile.a_bytes + run->tile.b_bytes) / 4;
}

/* C from the sums of all parts; or from nothing, where there are none. */
static tesela_status mma_fold(const mma_running *run) {
  const tsl_work *work = run->work;
  const mma_mma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  tsl_buffer *c = run->operands->c.buffer;
  cuda_mma_fold_arguments given = {.m = s->m,
                                   .n = s->n,
                                   .pitch = run->shares.pitch,
                                   .part = s->m * run->shares.pitch,
                                   .c_step = run->operands->c.step,
                                   .c = run->result,
                                   .parts = s->k > 0 ? (int)run->shares.parts : 0,
                                   .alpha = run->alpha,
                                   .beta = run->beta};
  given.c.offset += run->first * given.c_step;
  const int64_t blocks =
                    tsl_ceil_div(given.m * given.n, FOLD_ITEMS / tsl_launch_fold_items(run->shares.parts)),
                most = (int64_t)UNIT_BLOCKS * work->device->compute_units;
  const tsl_grid grid = {{(uint64_t)tsl_min(blocks, most), (uint64_t)run->count, 1}, {FOLD_ITEMS, 1, 1}};
  const long long from = given.parts > 0 ? sums_offset(run) : 0;
  const tsl_argument list[] = {TSL_ARG_BUFFER(c),
                               TSL_ARG_BUFFER(given.parts > 0 ? run->operands->scratch : c),
                               TSL_ARG_VALUE(from), TSL_ARG_VALUE(given)};
  return work->device->ops->launch(run->stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

/* Bytes of a factor's copies. */
static int mma_width_of(const mma_running *run, const mma_factor *factor) {
  const tsl_rows_place *place = &factor->place;
  return mma_is_aligned(place->buffer) ? tsl_cuda_mma_width(run->tile.element, place->step, place->row_stride,
                                                            factor->rows.rows, place->offset, factor->step)
                                       : 0;
}

/* What is to be packed goes to byte `end` of scratch memory. */
static tesela_status mma_prepare(const mma_running *run, int64_t end, mma_factor *factor) {
  const mma_mma_kernels *kernels = run->work->state;
  return kernels->pack && mma_width_of(run, factor) < 16
             ? tsl_pack_rows(run->work, kernels->pack, &factor->rows, run->tile.element, 1,
                             run->operands->scratch, end, run->stream, &factor->place)
             : TESELA_OK;
}

/* A factor as the kernel has it. by_rows: its lines are rows of the matrix, not columns. */
static cuda_mma_matrix mma_matrix_of(const mma_running *run, const mma_factor *factor, bool by_rows) {
  const tsl_rows_place *place = &factor->place;
  return (cuda_mma_matrix){place->offset + run->first * factor->step,
                           by_rows ? place->row_stride : place->step,
                           by_rows ? place->step : place->row_stride, mma_width_of(run, factor)};
}

/* Of `lines` rows of A (columns of B), from one to the next and along k so many elements. */
static mma_factor mma_factor_of(const tsl_cuda_mma *tile, const tsl_operand *operand, bool across,
                                int64_t lines, int64_t k, int64_t offset, int64_t line, int64_t along) {
  return (mma_factor){tsl_rows_of(lines, k, across, tile->element),
                      {operand->buffer, offset, across ? along : line, across ? line : along, 0},
                      operand->step};
}

static tesela_status mma_multiply(const mma_running *run) {
  const tsl_work *work = run->work;
  const mma_mma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_cuda_mma_shares *shares = &run->shares;
  const int64_t panels = tsl_ceil_div(s->k, run->tile.depth), c_step = run->operands->c.step;
  cuda_mma_arguments given = {
      .m = (int)s->m,
      .n = (int)s->n,
      .k = (int)s->k,
      .tiles_m = (int)shares->tiles_m,
      .tiles_n = (int)shares->tiles_n,
      .parts = (int)shares->parts,
      .part_panels = (int)(panels / shares->parts),
      .longer_parts = (int)(panels % shares->parts),
      .a = mma_matrix_of(run, &run->a, !run->tile.a_across),
      .b = mma_matrix_of(run, &run->b, run->tile.b_across),
      .c = run->is_split ? (cuda_mma_matrix){sums_offset(run), shares->pitch, 1, 1} : run->result,
      .c_part = run->is_split ? s->m * shares->pitch : 0,
      .a_step = run->a.step,
      .b_step = run->b.step,
      .c_step = c_step,
      .alpha = run->alpha,
      .beta = run->beta,
  };
  if (!run->is_split)
    given.c.offset += run->first * c_step;
  tsl_buffer *c = run->is_split ? run->operands->scratch : run->operands->c.buffer;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a.place.buffer), TSL_ARG_BUFFER(run->b.place.buffer),
                               TSL_ARG_BUFFER(c), TSL_ARG_VALUE(given)};
  const tsl_grid grid = {{(uint64_t)shares->blocks, (uint64_t)run->count, 1}, {run->tile.items, 1, 1}};
  return work->device->ops->launch(run->stream, kernels->multiply, &grid, list, sizeof list / sizeof *list);
}

/* Whether four numbers of a row of C are one store. */
static bool by_quads(const mma_running *run) {
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_operand *c = &run->operands->c;
  return s->c_col_stride == 1 && s->c_offset % 4 == 0 && c->step % 4 == 0 &&
         (s->m == 1 || s->c_row_stride % 4 == 0) && mma_is_aligned(c->buffer);
}

tesela_status tsl_cuda_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(&work->problem, &work->config, work->device);
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &sizes);
  const int64_t batch = tsl_problem_batch(&work->problem),
                most = (int64_t)tsl_launch_limited(work->device, 1, batch);
  mma_running run = {.work = work,
                     .operands = operands,
                     .tile = tile,
                     .shares = tsl_cuda_mma_shares_of(&tile, work->device),
                     .sizes = tile.swapped ? tsl_launch_swapped(&sizes) : sizes,
                     .alpha = mma_scalar_of(&scaled, 0),
                     .beta = mma_scalar_of(&scaled, 1),
                     .stream = stream};
  const tsl_gemm_sizes *s = &run.sizes;
  run.a = mma_factor_of(&tile, tile.swapped ? &operands->b : &operands->a, tile.a_across, s->m, s->k,
                        s->a_offset, s->a_row_stride, s->a_col_stride);
  run.b = mma_factor_of(&tile, tile.swapped ? &operands->a : &operands->b, tile.b_across, s->n, s->k,
                        s->b_offset, s->b_col_stride, s->b_row_stride);
  if (s->k > 0) {
    TSL_TRY(mma_prepare(&run, 0, &run.a));
    TSL_TRY(mma_prepare(&run, tile.a_bytes, &run.b));
  }
  run.is_split = run.shares.sums_bytes > 0;
  run.result = (cuda_mma_matrix){s->c_offset, s->c_row_stride, s->c_col_stride, by_quads(&run)};
  for (; run.first < batch; run.first += most) {
    run.count = tsl_min(most, batch - run.first);
    if (s->k > 0)
      TSL_TRY(mma_multiply(&run));
    if (s->k == 0 || run.is_split)
      TSL_TRY(mma_fold(&run));
  }
  return TESELA_OK;
}
