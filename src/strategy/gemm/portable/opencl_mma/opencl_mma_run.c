#include "core/memory.h"
#include "core/status.h"
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"
#include "strategy/kernel_launch/split_k_sum.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/portable/opencl_mma/"

typedef struct opencl_mma_kernels {
  tsl_kernel *multiply, *pack, *sum; /* pack: NULL in place; sum: adds the parts, NULL if no launch does */
  atomic_ullong tickets;             /* last ticket of runs whose groups join sums */
} opencl_mma_kernels;

/* Mirrors of the kernels' structs of equal names. Scalars are 32 bits wide and end the first member. */
typedef struct opencl_mma_arguments {
  tsl_gemm_sizes sizes;
  uint32_t scalars[2];
  int64_t band, tiles_m, tiles_n;
  int64_t split_k, sums;    /* parts of k, and the byte of scratch memory where their sums begin */
  int64_t a_width, b_width; /* bytes of a copy; 0: elements one by one */
  int64_t flags;            /* byte of the flags of parts in scratch memory */
  uint64_t ticket;          /* value of a flag after its part's sums were stored in this run */
} opencl_mma_arguments;
typedef struct opencl_mma_group_arguments {
  opencl_mma_arguments whole;
  int64_t maps; /* byte of scratch memory */
  /* byte of an int in scratch memory, or -1: nothing is done if the int is <= wanted_above */
  int64_t wanted, wanted_above;
  int64_t rests, rests_row; /* byte of C modulo p in scratch, and bytes of its rows; 0: C itself is written */
  uint32_t p, magic, bias, none;
} opencl_mma_group_arguments;

/* Returns the launch that adds the parts of k; one split: there is none. */
static tsl_split_k_sum sum_of(const tsl_opencl_mma_schedule *schedule) {
  return (tsl_split_k_sum){.splits = schedule->joins ? 1 : (int)schedule->split_k, .vector = 16, .shares = 1};
}

tesela_status tsl_opencl_mma_build(tsl_work *work) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(&work->problem, &work->config);
  const tsl_matrix_tile *tile = &mma.tile;
  const tsl_problem *problem = &tile->problem;
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, work->device);
  const tsl_split_k_sum sum = sum_of(&schedule);
  char defines[300];
  opencl_mma_kernels made = {.multiply = NULL};
  void *block;
  snprintf(defines, sizeof defines,
           "#define MMA_A %s\n#define MMA_B %s\n#define C_FORM %d\n#define A_MN_MAJOR %d\n#define B_MN_MAJOR "
           "%d\n#define SPLIT %d\n#define IN_PLACE %d\n#define JOINS %d\n",
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type),
           tsl_launch_form(problem->c.type), tile->a_mn_major, tile->b_mn_major, schedule.split_k > 1,
           mma.in_place, schedule.joins);
  const bool is_group = mma.warps == 4;
  TSL_TRY(tsl_launch_kernel_with(work, is_group ? FOLDER "opencl_mma_group.cl" : FOLDER "opencl_mma.cl",
                                 is_group ? "tsl_gemm_opencl_mma_group" : "tsl_gemm_opencl_mma", tile->items,
                                 defines, &made.multiply));
  if (work->device->ops->kernel_local_bytes != NULL)
    TSL_TRY(work->device->ops->kernel_local_bytes(&made.multiply, (size_t)tile->local_bytes));
  snprintf(defines, sizeof defines,
           "#define TSL_PARAM_VECTOR %d\n#define TSL_TYPE_AB %d\n#define TSL_TYPE_C %d\n", sum.vector,
           tsl_launch_type_code(problem->a.type), tsl_launch_type_code(problem->c.type));
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, defines, &made.sum));
  if (!mma.in_place)
    TSL_TRY(tsl_pack_rows_kernel(work, tile->size, &made.pack));
  TSL_TRY(tsl_alloc(sizeof made, "opencl_mma's kernels", &block));
  atomic_init(&made.tickets, tsl_launch_first_ticket(work));
  memcpy(block, &made, sizeof made);
  work->state = block;
  return TESELA_OK;
}

/* Returns true if the operand needs no packing: dense rows that start at multiples of 16 bytes, with
 * ascending addresses where panels are copied by boxes. */
static bool opencl_mma_lies_well(const tsl_rows_place *operand, const tsl_rows *rows,
                                 const tsl_opencl_mma *mma) {
  const int size = mma->tile.size;
  if (mma->warps == 4 && rows->rows > 1 && (operand->row_stride <= 0 || operand->row_stride > INT32_MAX))
    return false;
  return (operand->step == 1 || rows->elements <= 1) && operand->offset * size % 16 == 0 &&
         operand->row_stride * size % 16 == 0;
}

/* Packs A, or B, where needed, and updates its buffer and its strides in `sizes`. Sets the bytes of a copy.
 */
static tesela_status opencl_mma_prepare(const tsl_work *work, const tsl_opencl_mma *mma, bool is_b,
                                        tsl_buffer *scratch, tsl_stream *stream, tsl_gemm_sizes *sizes,
                                        tsl_buffer **buffer, int64_t *width) {
  const bool mn_major = is_b ? mma->tile.b_mn_major : mma->tile.a_mn_major;
  const tsl_rows rows = tsl_rows_of(is_b ? sizes->n : sizes->m, sizes->k, mn_major, mma->tile.size);
  int64_t *offset = is_b ? &sizes->b_offset : &sizes->a_offset;
  int64_t *by_line = is_b ? &sizes->b_col_stride : &sizes->a_row_stride,
          *by_depth = is_b ? &sizes->b_row_stride : &sizes->a_col_stride;
  int64_t *pitch = mn_major ? by_depth : by_line, *step = mn_major ? by_line : by_depth;
  /* The pitch of a single row is 0: addresses of absent rows must be aligned, too. */
  tsl_rows_place place = {*buffer, *offset, rows.rows <= 1 ? 0 : *pitch, *step, 0};
  if (!mma->in_place && !opencl_mma_lies_well(&place, &rows, mma))
    TSL_TRY(tsl_pack_rows(work, ((const opencl_mma_kernels *)work->state)->pack, &rows, mma->tile.size, 1,
                          scratch, is_b ? mma->a_bytes : 0, stream, &place));
  *buffer = place.buffer;
  *offset = place.offset;
  *pitch = place.row_stride;
  *step = place.step;
  *width = tsl_opencl_mma_width(mma->tile.size, place.offset, place.row_stride, place.step);
  return TESELA_OK;
}

/* Returns the modular output that the run writes instead of C; NULL: it writes C. */
static tsl_modular_output *opencl_mma_modular(const tsl_opencl_mma *mma,
                                              const tsl_opencl_mma_schedule *schedule,
                                              const tsl_run_hints *hints) {
  const tsl_problem *problem = &mma->tile.problem;
  return mma->warps == 4 && problem->c.type == TESELA_I32 && !mma->tile.swapped && schedule->split_k == 1 &&
                 problem->alpha[0] == 1 && problem->beta[0] == 0
             ? hints->modular
             : NULL;
}

tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const opencl_mma_kernels *kernels = work->state;
  const tsl_opencl_mma mma = tsl_opencl_mma_of(&work->problem, &work->config);
  const tsl_matrix_tile tile = mma.tile;
  const tsl_run_hints hints = operands->hints ? *operands->hints : (tsl_run_hints){.reuse = NULL};
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, work->device);
  tsl_modular_output *modular = opencl_mma_modular(&mma, &schedule, &hints);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  tsl_gemm_sizes sizes = own.sizes;
  tsl_buffer *buffers[2] = {own.a, own.b};
  int64_t widths[2] = {16, 16};
  if (sizes.k > 0) {
    TSL_TRY(
        opencl_mma_prepare(work, &mma, false, operands->scratch, stream, &sizes, &buffers[0], &widths[0]));
    TSL_TRY(opencl_mma_prepare(work, &mma, true, operands->scratch, stream, &sizes, &buffers[1], &widths[1]));
  } else {
    buffers[0] = buffers[1] = own.c; /* nothing is read */
    sizes.a_offset = sizes.a_row_stride = sizes.a_col_stride = 0;
    sizes.b_offset = sizes.b_row_stride = sizes.b_col_stride = 0;
  }
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &sizes);
  const int64_t sums = mma.a_bytes + mma.b_bytes + tsl_opencl_mma_maps(&mma, &schedule);
  opencl_mma_group_arguments given = {
      .whole = {.sizes = sizes,
                .band = mma.band,
                .tiles_m = tile.tiles_m,
                .tiles_n = tile.tiles_n,
                .split_k = schedule.split_k,
                .sums = sums,
                .a_width = widths[0],
                .b_width = widths[1],
                .flags = sums + schedule.sums_bytes,
                .ticket = schedule.joins
                              ? tsl_launch_next_ticket(&((opencl_mma_kernels *)work->state)->tickets)
                              : 0},
      .maps = mma.a_bytes + mma.b_bytes,
      .wanted = hints.wanted.is_set ? hints.wanted.at : -1,
      .wanted_above = hints.wanted.above};
  if (modular) {
    given.rests = modular->at, given.rests_row = modular->row;
    given.p = modular->p, given.magic = modular->magic, given.bias = modular->bias;
    modular->is_written = true;
  }
  memcpy(given.whole.scalars, &scaled.scalars, sizeof given.whole.scalars);
  const tsl_grid grid = {{(uint64_t)schedule.groups, 1, 1}, {tile.items, 1, 1}};
  const tsl_argument a = TSL_ARG_BUFFER(buffers[0]), b = TSL_ARG_BUFFER(buffers[1]),
                     c = TSL_ARG_BUFFER(operands->c.buffer), scratch = TSL_ARG_BUFFER(operands->scratch);
  const tsl_argument all = mma.warps == 4 ? TSL_ARG_VALUE(given) : TSL_ARG_VALUE(given.whole);
  const bool has_scratch = mma.warps == 4 || schedule.split_k > 1;
  const tsl_argument list[] = {a, b, c, has_scratch ? scratch : all, all};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grid, list, has_scratch ? 5 : 4));
  const tsl_split_k_sum sum = sum_of(&schedule);
  const int64_t pitch = tile.tiles_n * tile.tile_n;
  return tsl_split_k_sum_run(work, kernels->sum, &sum,
                             (tsl_split_k_sum_arguments){.first = given.whole.sums / 4,
                                                         .pitch = pitch,
                                                         .split_step = tile.tiles_m * tile.tile_m * pitch},
                             &own, operands->scratch, stream);
}
