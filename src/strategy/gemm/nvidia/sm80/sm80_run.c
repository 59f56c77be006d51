/* Kernels and launches of the sm_80 base: packing, the product, and the split-k reduction. */
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"
#include "strategy/gemm/nvidia/sm80/sm80_shared.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* State of a plan. Finding the tile and the schedule takes 0.4 us, a tenth of a small run. */
typedef struct sm80_kernels {
  tsl_sm80_tile tile;
  tsl_sm80_schedule schedule;
  tsl_kernel *multiply, *reduce, *pack; /* NULL: not needed */
  atomic_ullong tickets;                /* last ticket of runs whose blocks join sums */
} sm80_kernels;

enum { REDUCE_ITEMS = 256, UNIT_BLOCKS = 16 };

/* Returns the groups of parts in a reduction's block; one for bits=rows, which adds parts in order. */
static int sm80_reduce_shares(const tsl_sm80_tile *tile, int64_t parts) {
  return tile->row_parts.count > 1    ? 1
         : tile->trait->reduce_shares ? tile->trait->reduce_shares
                                      : tsl_launch_fold_items(parts);
}

/* Returns the bytes of a copy of whole panels, for an operand of this width. */
static int narrow_copy(const tsl_sm80_tile *tile, int width) {
  return tile->packs || width == 0 ? 16 : width;
}

tesela_status tsl_sm80_build(tsl_work *work) {
  const tsl_device_ops *ops = work->device->ops;
  const tsl_sm80_tile made_tile = tsl_sm80_tile_of(&work->problem, &work->config, work->device),
                      *tile = &made_tile;
  const tsl_problem *problem = &tile->problem;
  const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(tile, work->device);
  const int form = tile->sum == 4          ? tsl_launch_form(problem->c.type)
                   : tsl_sm80_is_c64(tile) ? 6
                                           : 3 + tile->numbers;
  char text[440];
  sm80_kernels made = {.tile = made_tile, .schedule = schedule};
  void *block;
  const int length = snprintf(
      text, sizeof text,
      "#define STAGES %d\n#define WARP_M %d\n#define WARP_N %d\n#define GROUPS %d\n#define A_MN_MAJOR %d\n"
      "#define B_MN_MAJOR %d\n#define C_FORM %d\n#define SPLIT %d\n#define PARTIAL %d\n#define SHORT %d\n",
      tile->stages, tile->warp_m, tile->warp_n, tile->groups, tile->a_mn_major, tile->b_mn_major, form,
      tile->sum == 4 && schedule.sums_bytes > 0, tile->is_partial, tile->is_short);
  if (tile->sum == 4)
    snprintf(text + length, sizeof text - (size_t)length,
             "#define ELEMENT %d\n#define A_TYPE %s\n#define B_TYPE %s\n#define IS_EIGHT %d\n"
             "#define A_COPY %d\n#define B_COPY %d\n#define ROUNDS %d\n",
             tile->element, tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type),
             tsl_sm80_is_eight(problem), narrow_copy(tile, tile->a_width), narrow_copy(tile, tile->b_width),
             !tsl_sm80_truncates(problem, work->device));
  else
    snprintf(text + length, sizeof text - (size_t)length,
             "#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n#define STAYS %d\n#define SWAPPED %d\n"
             "#define FOLDS %d\n#define JOINS %d\n#define A_COPY %d\n#define B_COPY %d\n",
             problem->conjugate_a ? -1 : 1, problem->conjugate_b ? -1 : 1, tile->is_persistent, tile->swapped,
             tile->folds, schedule.joins, tile->a_width ? 16 : 8, tile->b_width ? 16 : 8);
  TSL_TRY(tsl_launch_kernel_with(work, tile->trait->path, tile->trait->kernel, tile->items, text,
                                 &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(&made.multiply, (size_t)schedule.shared_bytes));
  snprintf(text, sizeof text, "#define C_FORM %d\n#define SHARES %d\n", form,
           sm80_reduce_shares(tile, schedule.parts));
  /* For split-k and for k = 0. */
  if ((schedule.sums_bytes > 0 && !schedule.joins) || !tsl_problem_reads(&work->problem, TSL_OPERAND_A))
    TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/nvidia/sm80/sm80_split_k_reduce.cu",
                                   "tsl_gemm_sm80_reduce", REDUCE_ITEMS, text, &made.reduce));
  if (tile->packs)
    TSL_TRY(tsl_pack_rows_kernel(work, tile->element, &made.pack));
  if (work->device->capabilities & TSL_CAN_WGMMA) {
    ops->kernel_early(made.multiply);
    if (made.reduce)
      ops->kernel_early(made.reduce);
  }
  TSL_TRY(tsl_alloc(sizeof made, "sm_80's kernels", &block));
  atomic_init(&made.tickets, tsl_launch_first_ticket(work));
  memcpy(block, &made, sizeof made);
  work->state = block;
  return TESELA_OK;
}

void tsl_sm80_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

typedef struct sm80_operand {
  tsl_rows rows;        /* lines after packing: rows of A, or for MN-major A a k each */
  tsl_rows_place place; /* present location: the operand, or its packed copy */
  int64_t step;         /* elements between products of a batch */
} sm80_operand;

/* Launch. A, B and the sizes are the kernel's: C = A B, swapped or not. */
typedef struct sm80_launch {
  const tsl_work *work;
  const tsl_operands *operands;
  const tsl_sm80_tile *tile;
  tsl_sm80_schedule schedule;
  tsl_gemm_sizes sizes;
  sm80_operand a, b;
  bool is_split;      /* split-k: parts go to the workspace, and the reduction adds them */
  sm80_matrix result; /* C for the kernels, from the batch's first product on */
  sm80_scalars scalars;
  int64_t first, count; /* products of the batch that the launch takes */
  tsl_launch_wanted wanted;
  tsl_stream *stream;
} sm80_launch;

/* Returns alpha and beta in the type of the sums. An empty sum is not scaled: alpha = infinity must not make
 * it NaN. */
static sm80_scalars sm80_scalars_of(const sm80_launch *run) {
  const tsl_problem *problem = &run->work->problem;
  sm80_scalars scalars = {.f64 = {.alpha = {0}}};
  if (run->tile->sum == 4) {
    const tsl_gemm_argument scaled = tsl_launch_scalars(run->work, &run->sizes);
    memcpy(&scalars, &scaled.scalars, sizeof scalars.narrow);
    return scalars;
  }
  for (int part = 0; part < 2; part++) {
    scalars.f64.alpha[part] = run->sizes.k > 0 ? problem->alpha[part] : 0;
    scalars.f64.beta[part] = problem->beta[part];
  }
  return scalars;
}

bool tsl_sm80_is_aligned(tsl_buffer *buffer, int bytes) {
  return (uintptr_t)buffer->device->ops->native_buffer(buffer) % (unsigned)bytes == 0;
}

/* Returns where partial sums begin in the workspace, in real numbers. */
static int64_t sm80_sums_offset(const sm80_launch *run) {
  return (run->tile->a_bytes + run->tile->b_bytes) / 4;
}

/* Enqueues the split-k reduction; for k = 0 it writes C from sums of 0. */
static tesela_status sm80_reduce(const sm80_launch *run) {
  const tsl_device *device = run->work->device;
  const sm80_kernels *kernels = run->work->state;
  const tsl_gemm_sizes *s = &run->sizes;
  tsl_buffer *c = run->operands->c.buffer;
  sm80_reduce_arguments args = {.m = s->m,
                                .n = s->n,
                                .pitch = run->schedule.pitch,
                                .part = s->m * run->schedule.pitch,
                                .c_step = run->operands->c.batch_step,
                                .c = run->result,
                                .parts = s->k > 0 ? (int)run->schedule.parts : 0,
                                .scalars = run->scalars,
                                .wanted = run->wanted.at,
                                .wanted_above = run->wanted.above};
  args.c.offset += run->first * args.c_step;
  const int64_t across = REDUCE_ITEMS / sm80_reduce_shares(run->tile, run->schedule.parts),
                blocks = tsl_min(tsl_ceil_div(args.m * args.n, across),
                                 (int64_t)UNIT_BLOCKS * device->compute_units);
  const tsl_grid grid = {{(uint64_t)blocks, (uint64_t)run->count, 1}, {REDUCE_ITEMS, 1, 1}};
  const long long from = args.parts > 0 ? sm80_sums_offset(run) : 0;
  const tsl_argument list[] = {TSL_ARG_BUFFER(c), TSL_ARG_BUFFER(args.parts > 0 ? run->operands->scratch : c),
                               TSL_ARG_VALUE(from), TSL_ARG_VALUE(args)};
  return device->ops->launch(run->stream, kernels->reduce, &grid, list, sizeof list / sizeof *list);
}

static int sm80_width_of(const sm80_launch *run, const sm80_operand *operand) {
  const tsl_rows_place *place = &operand->place;
  const int element = run->tile->element,
            width = tsl_sm80_is_aligned(place->buffer, 16)
                        ? tsl_sm80_width(element, run->tile->trait->copy_min, place->step, place->row_stride,
                                         operand->rows.rows, place->offset, operand->step)
                        : 0;
  return width || element < 8 ? width : tsl_sm80_is_aligned(place->buffer, 8) ? 8 : 4;
}

/* Packs the operand, if needed, to byte `end` of the workspace, and updates its place. */
static tesela_status sm80_prepare(const sm80_launch *run, int64_t end, sm80_operand *operand) {
  const sm80_kernels *kernels = run->work->state;
  return kernels->pack && sm80_width_of(run, operand) < 16
             ? tsl_pack_rows(run->work, kernels->pack, &operand->rows, run->tile->element, 1,
                             run->operands->scratch, end, run->stream, &operand->place)
             : TESELA_OK;
}

/* Returns an operand for the kernel. by_rows: its lines are rows of the matrix, not columns. */
static sm80_matrix sm80_matrix_of(const sm80_launch *run, const sm80_operand *operand, bool by_rows) {
  const tsl_rows_place *place = &operand->place;
  return (sm80_matrix){place->offset + run->first * operand->step, by_rows ? place->row_stride : place->step,
                       by_rows ? place->step : place->row_stride, sm80_width_of(run, operand)};
}

/* Returns an operand of `lines` rows of A (columns of B), `line` elements apart and `along` along k. */
static sm80_operand sm80_operand_of(const tsl_sm80_tile *tile, const tsl_operand *operand, bool mn_major,
                                    int64_t lines, int64_t k, int64_t offset, int64_t line, int64_t along) {
  return (sm80_operand){tsl_rows_of(lines, k, mn_major, tile->element),
                        {operand->buffer, offset, mn_major ? along : line, mn_major ? line : along, 0},
                        operand->batch_step};
}

static tesela_status sm80_multiply(const sm80_launch *run) {
  const tsl_device *device = run->work->device;
  const sm80_kernels *kernels = run->work->state;
  const tsl_sm80_tile *tile = run->tile;
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_sm80_schedule *schedule = &run->schedule;
  const int64_t panels = tsl_ceil_div(s->k, tile->depth), c_step = run->operands->c.batch_step;
  sm80_arguments args = {.m = (int)s->m,
                         .n = (int)s->n,
                         .k = (int)s->k,
                         .tiles_m = (int)schedule->tiles_m,
                         .tiles_n = (int)schedule->tiles_n,
                         .parts = (int)schedule->parts,
                         .part_panels = (int)(panels / schedule->parts),
                         .longer_parts = (int)(panels % schedule->parts),
                         .a = sm80_matrix_of(run, &run->a, !tile->a_mn_major),
                         .b = sm80_matrix_of(run, &run->b, tile->b_mn_major),
                         .c = run->result,
                         .a_step = run->a.step,
                         .b_step = run->b.step,
                         .c_step = c_step,
                         .scalars = run->scalars,
                         .wanted = run->wanted.at,
                         .wanted_above = run->wanted.above};
  args.c.offset += run->first * c_step;
  if (tile->folds) {
    args.fold_panels = (int)(tile->row_parts.depth / tile->depth);
    args.totals = (long long)(uintptr_t)device->ops->native_buffer(run->operands->scratch);
  } else if (tile->row_parts.count > 1) { /* the last part is shorter */
    args.part_panels = (int)(tile->row_parts.depth / tile->depth);
    args.longer_parts = 0;
  }
  if (schedule->joins) {
    args.partials = (long long)(uintptr_t)device->ops->native_buffer(run->operands->scratch);
    args.flags = args.partials + schedule->sums_bytes;
    args.ticket = tsl_launch_next_ticket(&((sm80_kernels *)run->work->state)->tickets);
  }
  if (run->is_split) { /* f64 is scaled by 1; narrower kernels do not scale partial sums */
    args.c = (sm80_matrix){sm80_sums_offset(run), schedule->pitch, 1, 1};
    args.c_part = s->m * schedule->pitch;
    args.scalars = (sm80_scalars){.f64 = {.alpha = {1}}};
  }
  tsl_buffer *c = run->is_split ? run->operands->scratch : run->operands->c.buffer;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a.place.buffer), TSL_ARG_BUFFER(run->b.place.buffer),
                               TSL_ARG_BUFFER(c), TSL_ARG_VALUE(args)};
  const int64_t resident = (int64_t)tsl_launch_units(device) * tile->groups,
                blocks = tile->is_persistent ? tsl_min(schedule->blocks, resident) : schedule->blocks;
  const tsl_grid grid = {{(uint64_t)blocks, (uint64_t)run->count, 1}, {tile->items, 1, 1}};
  return device->ops->launch(run->stream, kernels->multiply, &grid, list, sizeof list / sizeof *list);
}

/* Returns the vectors that can be stored to C at once (sm80_matrix.width): pairs of c64 count as 2. */
static int count_stored_vectors(const sm80_launch *run) {
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_operand *c = &run->operands->c;
  const int elements =
      run->tile->trait->store_elements / (tsl_sm80_is_c64(run->tile) ? 1 : run->tile->numbers);
  const bool is_vector =
      tsl_sm80_is_vector(elements, s->c_col_stride, s->c_row_stride, s->m, s->c_offset, c->batch_step);
  if (!tsl_sm80_is_aligned(c->buffer, 16))
    return 0;
  return tsl_sm80_is_c64(run->tile) ? 1 + is_vector : elements == 1 || is_vector;
}

tesela_status tsl_sm80_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const sm80_kernels *kernels = work->state;
  const tsl_sm80_tile *tile = &kernels->tile;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const int64_t batch = tsl_problem_batch(&work->problem),
                most = (int64_t)tsl_launch_limited(work->device, 1, batch);
  sm80_launch run = {.work = work,
                     .operands = operands,
                     .tile = tile,
                     .schedule = kernels->schedule,
                     .sizes = tile->swapped ? tsl_launch_swapped(&sizes) : sizes,
                     .wanted = tsl_launch_wanted_of(work, operands),
                     .stream = stream};
  const tsl_gemm_sizes *s = &run.sizes;
  run.a = sm80_operand_of(tile, tile->swapped ? &operands->b : &operands->a, tile->a_mn_major, s->m, s->k,
                          s->a_offset, s->a_row_stride, s->a_col_stride);
  run.b = sm80_operand_of(tile, tile->swapped ? &operands->a : &operands->b, tile->b_mn_major, s->n, s->k,
                          s->b_offset, s->b_col_stride, s->b_row_stride);
  run.scalars = sm80_scalars_of(&run);
  run.is_split = run.schedule.sums_bytes > 0 && !run.schedule.joins;
  run.result = (sm80_matrix){s->c_offset, s->c_row_stride, s->c_col_stride, count_stored_vectors(&run)};
  if (s->k > 0) {
    TSL_TRY(sm80_prepare(&run, 0, &run.a));
    TSL_TRY(sm80_prepare(&run, tile->a_bytes, &run.b));
  }
  for (; run.first < batch; run.first += most) {
    run.count = tsl_min(most, batch - run.first);
    if (s->k > 0)
      TSL_TRY(sm80_multiply(&run));
    if (s->k == 0 || run.is_split)
      TSL_TRY(sm80_reduce(&run));
  }
  return TESELA_OK;
}
