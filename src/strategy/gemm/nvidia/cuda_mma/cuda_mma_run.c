#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_mma/cuda_mma.h"
#include "strategy/gemm/nvidia/cuda_mma/cuda_mma_shared.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/nvidia/cuda_mma/"

typedef struct mma_kernels {
  tsl_kernel *multiply, *fold, *pack; /* pack: NULL without packing */
} mma_kernels;

enum { FOLD_ITEMS = 256, UNIT_BLOCKS = 16 };

tesela_status tsl_cuda_mma_build(tsl_work *work) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  const tsl_problem *problem = &tile.problem;
  const int form = tsl_launch_form(problem->c.type);
  const tsl_cuda_mma_schedule schedule = tsl_cuda_mma_get_schedule(&tile, work->device);
  char defines[320];
  mma_kernels made = {.fold = NULL};
  void *block;
  snprintf(defines, sizeof defines,
           "#define STAGES %d\n#define WARP_M %d\n#define WARP_N %d\n#define GROUPS %d\n#define ELEMENT %d\n"
           "#define A_TYPE %s\n#define B_TYPE %s\n#define IS_EIGHT %d\n#define A_MN_MAJOR %d\n"
           "#define B_MN_MAJOR %d\n#define C_FORM %d\n#define SPLIT %d\n",
           tile.stages, tile.warp_m, tile.warp_n, tile.groups, tile.element,
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type), tile.is_eight,
           tile.a_mn_major, tile.b_mn_major, form, schedule.sums_bytes > 0);
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_mma.cu", "tsl_gemm_cuda_mma", tile.items, defines,
                                 &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(made.multiply, (size_t)tile.shared_bytes));
  /* For split-k and for k = 0. */
  const bool folds = schedule.sums_bytes > 0 || !tsl_problem_reads(&work->problem, TSL_OPERAND_A);
  snprintf(defines, sizeof defines, "#define C_FORM %d\n#define SHARES %d\n", form,
           tsl_launch_fold_items(schedule.parts));
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
  *(mma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_mma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

typedef struct mma_factor {
  tsl_rows rows;        /* lines after packing: rows of A, or for MN-major A a k each */
  tsl_rows_place place; /* present location: the operand, or its packed copy */
  int64_t step;         /* elements between products of a batch */
} mma_factor;

/* Launch. A, B and the sizes are the kernel's: C = A B, swapped or not. */
typedef struct mma_launch_state {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_cuda_mma tile;
  tsl_cuda_mma_schedule schedule;
  tsl_gemm_sizes sizes;
  mma_factor a, b;
  bool is_split; /* split-k: parts go to the workspace, and the reduction adds them */
  cuda_mma_matrix result;
  cuda_mma_scalar alpha, beta;
  int64_t first, count; /* products of the batch that the launch takes */
  tsl_stream *stream;
} mma_launch_state;

/* Returns alpha (index 0) or beta (1) in the kernels' 32 bits. */
static cuda_mma_scalar mma_scalar_of(const tsl_gemm_argument *scaled, int index) {
  cuda_mma_scalar scalar;
  memcpy(&scalar, &scaled->scalars.i32[index], sizeof scalar);
  return scalar;
}

static bool mma_is_aligned(tsl_buffer *buffer) {
  return (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

/* Returns where partial sums begin in the workspace, in words of four bytes. */
static int64_t sums_offset(const mma_launch_state *run) {
  return (run->tile.a_bytes + run->tile.b_bytes) / 4;
}

/* Enqueues the split-k reduction; for k = 0 it writes C from sums of 0. */
static tesela_status mma_fold(const mma_launch_state *run) {
  const tsl_work *work = run->work;
  const mma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  tsl_buffer *c = run->operands->c.buffer;
  cuda_mma_fold_arguments args = {.m = s->m,
                                  .n = s->n,
                                  .pitch = run->schedule.pitch,
                                  .part = s->m * run->schedule.pitch,
                                  .c_step = run->operands->c.batch_step,
                                  .c = run->result,
                                  .parts = s->k > 0 ? (int)run->schedule.parts : 0,
                                  .alpha = run->alpha,
                                  .beta = run->beta};
  args.c.offset += run->first * args.c_step;
  const int64_t blocks =
                    tsl_ceil_div(args.m * args.n, FOLD_ITEMS / tsl_launch_fold_items(run->schedule.parts)),
                most = (int64_t)UNIT_BLOCKS * work->device->compute_units;
  const tsl_grid grid = {{(uint64_t)tsl_min(blocks, most), (uint64_t)run->count, 1}, {FOLD_ITEMS, 1, 1}};
  const long long from = args.parts > 0 ? sums_offset(run) : 0;
  const tsl_argument list[] = {TSL_ARG_BUFFER(c), TSL_ARG_BUFFER(args.parts > 0 ? run->operands->scratch : c),
                               TSL_ARG_VALUE(from), TSL_ARG_VALUE(args)};
  return work->device->ops->launch(run->stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

static int mma_width_of(const mma_launch_state *run, const mma_factor *factor) {
  const tsl_rows_place *place = &factor->place;
  return mma_is_aligned(place->buffer) ? tsl_cuda_mma_width(run->tile.element, place->step, place->row_stride,
                                                            factor->rows.rows, place->offset, factor->step)
                                       : 0;
}

/* Packs the operand, if needed, to byte `end` of the workspace, and updates its place. */
static tesela_status mma_prepare(const mma_launch_state *run, int64_t end, mma_factor *factor) {
  const mma_kernels *kernels = run->work->state;
  return kernels->pack && mma_width_of(run, factor) < 16
             ? tsl_pack_rows(run->work, kernels->pack, &factor->rows, run->tile.element, 1,
                             run->operands->scratch, end, run->stream, &factor->place)
             : TESELA_OK;
}

/* Returns an operand for the kernel. by_rows: its lines are rows of the matrix, not columns. */
static cuda_mma_matrix mma_matrix_of(const mma_launch_state *run, const mma_factor *factor, bool by_rows) {
  const tsl_rows_place *place = &factor->place;
  return (cuda_mma_matrix){place->offset + run->first * factor->step,
                           by_rows ? place->row_stride : place->step,
                           by_rows ? place->step : place->row_stride, mma_width_of(run, factor)};
}

/* Returns an operand of `lines` rows of A (columns of B), `line` elements apart and `along` along k. */
static mma_factor mma_factor_of(const tsl_cuda_mma *tile, const tsl_operand *operand, bool across,
                                int64_t lines, int64_t k, int64_t offset, int64_t line, int64_t along) {
  return (mma_factor){tsl_rows_of(lines, k, across, tile->element),
                      {operand->buffer, offset, across ? along : line, across ? line : along, 0},
                      operand->batch_step};
}

static tesela_status mma_multiply(const mma_launch_state *run) {
  const tsl_work *work = run->work;
  const mma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_cuda_mma_schedule *schedule = &run->schedule;
  const int64_t panels = tsl_ceil_div(s->k, run->tile.depth), c_step = run->operands->c.batch_step;
  cuda_mma_arguments args = {
      .m = (int)s->m,
      .n = (int)s->n,
      .k = (int)s->k,
      .tiles_m = (int)schedule->tiles_m,
      .tiles_n = (int)schedule->tiles_n,
      .parts = (int)schedule->parts,
      .part_panels = (int)(panels / schedule->parts),
      .longer_parts = (int)(panels % schedule->parts),
      .a = mma_matrix_of(run, &run->a, !run->tile.a_mn_major),
      .b = mma_matrix_of(run, &run->b, run->tile.b_mn_major),
      .c = run->is_split ? (cuda_mma_matrix){sums_offset(run), schedule->pitch, 1, 1} : run->result,
      .c_part = run->is_split ? s->m * schedule->pitch : 0,
      .a_step = run->a.step,
      .b_step = run->b.step,
      .c_step = c_step,
      .alpha = run->alpha,
      .beta = run->beta,
  };
  if (!run->is_split)
    args.c.offset += run->first * c_step;
  tsl_buffer *c = run->is_split ? run->operands->scratch : run->operands->c.buffer;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a.place.buffer), TSL_ARG_BUFFER(run->b.place.buffer),
                               TSL_ARG_BUFFER(c), TSL_ARG_VALUE(args)};
  const tsl_grid grid = {{(uint64_t)schedule->blocks, (uint64_t)run->count, 1}, {run->tile.items, 1, 1}};
  return work->device->ops->launch(run->stream, kernels->multiply, &grid, list, sizeof list / sizeof *list);
}

/* Returns true if four adjacent elements of a row of C can be stored at once. */
static bool by_quads(const mma_launch_state *run) {
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_operand *c = &run->operands->c;
  return s->c_col_stride == 1 && s->c_offset % 4 == 0 && c->batch_step % 4 == 0 &&
         (s->m == 1 || s->c_row_stride % 4 == 0) && mma_is_aligned(c->buffer);
}

tesela_status tsl_cuda_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(&work->problem, &work->config, work->device);
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &sizes);
  const int64_t batch = tsl_problem_batch(&work->problem),
                most = (int64_t)tsl_launch_limited(work->device, 1, batch);
  mma_launch_state run = {.work = work,
                          .operands = operands,
                          .tile = tile,
                          .schedule = tsl_cuda_mma_get_schedule(&tile, work->device),
                          .sizes = tile.swapped ? tsl_launch_swapped(&sizes) : sizes,
                          .alpha = mma_scalar_of(&scaled, 0),
                          .beta = mma_scalar_of(&scaled, 1),
                          .stream = stream};
  const tsl_gemm_sizes *s = &run.sizes;
  run.a = mma_factor_of(&tile, tile.swapped ? &operands->b : &operands->a, tile.a_mn_major, s->m, s->k,
                        s->a_offset, s->a_row_stride, s->a_col_stride);
  run.b = mma_factor_of(&tile, tile.swapped ? &operands->a : &operands->b, tile.b_mn_major, s->n, s->k,
                        s->b_offset, s->b_col_stride, s->b_row_stride);
  if (s->k > 0) {
    TSL_TRY(mma_prepare(&run, 0, &run.a));
    TSL_TRY(mma_prepare(&run, tile.a_bytes, &run.b));
  }
  run.is_split = run.schedule.sums_bytes > 0;
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
