#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.h"
#include "strategy/gemm/nvidia/cuda_dmma/cuda_dmma_shared.h"

#include <stdio.h>

#define FOLDER "strategy/gemm/nvidia/cuda_dmma/"

typedef struct dmma_kernels {
  tsl_kernel *multiply, *fold;
} dmma_kernels;

enum { FOLD_ITEMS = 256, FOLD_ELEMENTS = 32, UNIT_BLOCKS = 16 };

tesela_status tsl_cuda_dmma_build(tsl_work *work) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&work->problem, &work->config, work->device);
  const tsl_device_ops *ops = work->device->ops;
  char defines[300];
  dmma_kernels made = {.fold = NULL};
  void *block;
  snprintf(
      defines, sizeof defines,
      "#define STAGES %d\n#define WARP_M %d\n#define WARP_N %d\n#define GROUPS %d\n#define A_MN_MAJOR %d\n"
      "#define B_MN_MAJOR %d\n#define NUMBERS %d\n#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n"
      "#define STAYS %d\n",
      tile.stages, tile.warp_m, tile.warp_n, tile.groups, tile.a_mn_major, tile.b_mn_major, tile.numbers,
      tile.problem.conjugate_a ? -1 : 1, tile.problem.conjugate_b ? -1 : 1, tile.is_persistent);
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_dmma.cu", "tsl_gemm_cuda_dmma", tile.items, defines,
                                 &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(made.multiply, (size_t)tile.shared_bytes));
  /* For split-k and for k = 0. */
  const bool folds = tsl_cuda_dmma_get_schedule(&tile, work->device).sums_bytes > 0 ||
                     !tsl_problem_reads(&work->problem, TSL_OPERAND_A);
  if (folds)
    TSL_TRY(tsl_launch_kernel_with(
        work, FOLDER "cuda_dmma_split_k_reduce.cu", "tsl_gemm_cuda_dmma_fold", FOLD_ITEMS,
        tile.numbers == 2 ? "#define NUMBERS 2\n" : "#define NUMBERS 1\n", &made.fold));
  if (work->device->capabilities & TSL_CAN_WGMMA) {
    ops->kernel_early(made.multiply);
    if (folds)
      ops->kernel_early(made.fold);
  }
  TSL_TRY(tsl_alloc(sizeof made, "cuda_dmma's kernels", &block));
  *(dmma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_dmma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* Returns 1 if 16 bytes can be accessed along stride `along`, in all products of a batch; else 0. */
static int dmma_is_wide(int numbers, const tsl_operand *operand, int64_t along, int64_t line, int64_t lines,
                        int64_t offset) {
  return tsl_cuda_dmma_pairs(numbers, along, line, lines, offset) && operand->batch_step * numbers % 2 == 0 &&
         (uintptr_t)operand->buffer->device->ops->native_buffer(operand->buffer) % 16 == 0;
}

/* Launch. A, B and the sizes are the kernel's: C = A B, swapped or not. */
typedef struct dmma_launch_state {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_cuda_dmma tile;
  tsl_cuda_dmma_schedule schedule;
  tsl_gemm_sizes sizes;
  const tsl_operand *a, *b;
  bool is_split;           /* split-k: parts go to the workspace, and the reduction adds them */
  cuda_dmma_matrix result; /* C for the kernels, from the batch's first product on */
  int64_t first, count;    /* products of the batch that the launch takes */
  tsl_launch_wanted wanted;
  tsl_stream *stream;
} dmma_launch_state;

/* Enqueues the split-k reduction; for k = 0 it writes C from sums of 0. */
static tesela_status dmma_fold(const dmma_launch_state *run) {
  const tsl_work *work = run->work;
  const dmma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  tsl_buffer *c = run->operands->c.buffer;
  cuda_dmma_fold_arguments args = {.m = s->m,
                                   .n = s->n,
                                   .pitch = run->schedule.pitch,
                                   .part = s->m * run->schedule.pitch,
                                   .c_step = run->operands->c.batch_step,
                                   .c = run->result,
                                   .parts = s->k > 0 ? (int)run->schedule.parts : 0,
                                   .alpha = {work->problem.alpha[0], work->problem.alpha[1]},
                                   .beta = {work->problem.beta[0], work->problem.beta[1]},
                                   .wanted = run->wanted.at,
                                   .wanted_above = run->wanted.above};
  args.c.offset += run->first * args.c_step;
  const int64_t blocks = tsl_ceil_div(args.m * args.n, FOLD_ELEMENTS),
                most = (int64_t)UNIT_BLOCKS * work->device->compute_units;
  const tsl_grid grid = {{(uint64_t)tsl_min(blocks, most), (uint64_t)run->count, 1}, {FOLD_ITEMS, 1, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(c), TSL_ARG_BUFFER(args.parts > 0 ? run->operands->scratch : c),
                               TSL_ARG_VALUE(args)};
  return work->device->ops->launch(run->stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

/* Returns A (`is_a`) or B for the kernel; across: it is MN-major. Strides in elements. */
static cuda_dmma_matrix dmma_factor(const dmma_launch_state *run, const tsl_operand *operand, bool across,
                                    int64_t offset, int64_t row, int64_t col, int64_t rows, int64_t cols,
                                    bool is_a) {
  const bool by_rows = is_a != across; /* elements of a row of the matrix are adjacent */
  return (cuda_dmma_matrix){offset + run->first * operand->batch_step, row, col,
                            by_rows ? dmma_is_wide(run->tile.numbers, operand, col, row, rows, offset)
                                    : dmma_is_wide(run->tile.numbers, operand, row, col, cols, offset)};
}

static tesela_status dmma_multiply(const dmma_launch_state *run) {
  const tsl_work *work = run->work;
  const dmma_kernels *kernels = work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_cuda_dmma_schedule *schedule = &run->schedule;
  const int64_t panels = tsl_ceil_div(s->k, run->tile.depth), c_step = run->operands->c.batch_step;
  cuda_dmma_arguments args = {
      .m = (int)s->m,
      .n = (int)s->n,
      .k = (int)s->k,
      .tiles_m = (int)schedule->tiles_m,
      .tiles_n = (int)schedule->tiles_n,
      .parts = (int)schedule->parts,
      .part_panels = (int)(panels / schedule->parts),
      .longer_parts = (int)(panels % schedule->parts),
      .a = dmma_factor(run, run->a, run->tile.a_mn_major, s->a_offset, s->a_row_stride, s->a_col_stride, s->m,
                       s->k, true),
      .b = dmma_factor(run, run->b, run->tile.b_mn_major, s->b_offset, s->b_row_stride, s->b_col_stride, s->k,
                       s->n, false),
      .c = run->is_split ? (cuda_dmma_matrix){0, schedule->pitch, 1, 1} : run->result,
      .c_part = s->m * schedule->pitch,
      .a_step = run->a->batch_step,
      .b_step = run->b->batch_step,
      .c_step = c_step,
      .alpha = {1},
      .wanted = run->wanted.at,
      .wanted_above = run->wanted.above,
  };
  if (!run->is_split) {
    args.c.offset += run->first * c_step, args.c_part = 0;
    for (int part = 0; part < 2; part++)
      args.alpha[part] = work->problem.alpha[part], args.beta[part] = work->problem.beta[part];
  }
  tsl_buffer *c = run->is_split ? run->operands->scratch : run->operands->c.buffer;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a->buffer), TSL_ARG_BUFFER(run->b->buffer),
                               TSL_ARG_BUFFER(c), TSL_ARG_VALUE(args)};
  const int64_t room = (int64_t)tsl_launch_units(work->device) * run->tile.groups,
                blocks = run->tile.is_persistent ? tsl_min(schedule->blocks, room) : schedule->blocks;
  const tsl_grid grid = {{(uint64_t)blocks, (uint64_t)run->count, 1}, {run->tile.items, 1, 1}};
  return work->device->ops->launch(run->stream, kernels->multiply, &grid, list, sizeof list / sizeof *list);
}

tesela_status tsl_cuda_dmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&work->problem, &work->config, work->device);
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const int64_t batch = tsl_problem_batch(&work->problem),
                most = (int64_t)tsl_launch_limited(work->device, 1, batch);
  dmma_launch_state run = {.work = work,
                           .operands = operands,
                           .tile = tile,
                           .schedule = tsl_cuda_dmma_get_schedule(&tile, work->device),
                           .sizes = tile.swapped ? tsl_launch_swapped(&sizes) : sizes,
                           .a = tile.swapped ? &operands->b : &operands->a,
                           .b = tile.swapped ? &operands->a : &operands->b,
                           .wanted = tsl_launch_wanted_of(work, operands),
                           .stream = stream};
  const tsl_gemm_sizes *s = &run.sizes;
  run.is_split = run.schedule.sums_bytes > 0;
  run.result = (cuda_dmma_matrix){
      s->c_offset, s->c_row_stride, s->c_col_stride,
      dmma_is_wide(tile.numbers, &operands->c, s->c_col_stride, s->c_row_stride, s->m, s->c_offset)};
  for (; run.first < batch; run.first += most) {
    run.count = tsl_min(most, batch - run.first);
    if (s->k > 0)
      TSL_TRY(dmma_multiply(&run));
    if (s->k == 0 || run.is_split)
      TSL_TRY(dmma_fold(&run));
  }
  return TESELA_OK;
}
