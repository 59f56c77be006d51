/* Compiling and launching opencl_mma. */
#include "base/memory.h"
#include "base/status.h"
#include "strategy/gemm/opencl_mma/opencl_mma.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/opencl_mma/"

/* What build() leaves in work->state. */
typedef struct opencl_mma_mma_kernels {
  tsl_kernel *multiply, *pack, *fold; /* fold: NULL where k is not split */
} opencl_mma_mma_kernels;

/* The structs of the same names in the kernels' files. Scalars of 32 bits end the first one's first member.
 */
typedef struct opencl_mma_arguments {
  tsl_gemm_sizes sizes;
  uint32_t scalars[2];
  int64_t band, tiles_m, tiles_n;
} opencl_mma_arguments;
typedef struct opencl_mma_group_arguments {
  opencl_mma_arguments whole;
  int64_t maps, sums, split_k, wanted, wanted_above, rests, rests_row;
  uint32_t p, magic, bias, none;
} opencl_mma_group_arguments;

enum { UNIT_GROUPS = 16, FOLD_ITEMS = 256 };

/* Whether the plan's kernels split k; a run without products then has one part. */
static bool is_split(const tsl_work *work, const tsl_opencl_mma *tile) {
  const tsl_problem *problem = &tile->problem;
  return tsl_opencl_mma_shares_of(tile, problem->m, problem->n, problem->k, work->device).split_k > 1;
}

/* --- building --- */

tesela_status tsl_opencl_mma_build(tsl_work *work) {
  const tsl_opencl_mma tile = tsl_opencl_mma_of(&work->problem, &work->config);
  const tsl_problem *problem = &tile.problem;
  char defines[256];
  opencl_mma_mma_kernels made = {NULL, NULL, NULL};
  void *block;
  snprintf(defines, sizeof defines,
           "#define MMA_A %s\n#define MMA_B %s\n#define C_FORM %d\n#define A_MN_MAJOR %d\n#define B_MN_MAJOR "
           "%d\n#define SPLIT %d\n",
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type),
           tsl_launch_form(problem->c.type), tile.a_across, tile.b_across, is_split(work, &tile));
  const bool is_group = tile.warps == 4;
  TSL_TRY(tsl_launch_kernel_with(work, is_group ? FOLDER "opencl_mma_group.cl" : FOLDER "opencl_mma.cl",
                                 is_group ? "tsl_gemm_opencl_mma_group" : "tsl_gemm_opencl_mma", tile.items,
                                 defines, &made.multiply));
  if (work->device->ops->kernel_local_bytes != NULL)
    TSL_TRY(work->device->ops->kernel_local_bytes(made.multiply, (size_t)tile.local_bytes));
  if (is_split(work, &tile)) {
    snprintf(defines, sizeof defines, "#define C_FORM %d\n", tsl_launch_form(problem->c.type));
    TSL_TRY(tsl_launch_kernel_with(work, FOLDER "opencl_mma_split_k_reduce.cl", "tsl_gemm_opencl_mma_fold",
                                   FOLD_ITEMS, defines, &made.fold));
  }
  TSL_TRY(tsl_pack_rows_kernel(work, tile.size, &made.pack));
  TSL_TRY(tsl_alloc(sizeof made, "opencl_mma's kernels", &block));
  *(opencl_mma_mma_kernels *)block = made;
  work->reduces = is_group && problem->c.type == TESELA_I32 && !tile.swapped && made.fold == NULL &&
                  problem->alpha[0] == 1 && problem->beta[0] == 0;
  work->state = block;
  return TESELA_OK;
}

void tsl_opencl_mma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* --- running --- */

/* A pitch that is never used is none: addresses of rows that are not there must be aligned, too. */
static int64_t opencl_mma_pitch_of(const tsl_rows *rows, int64_t stride) {
  return rows->rows <= 1 ? 0 : stride;
}

/* Copies take rows of dense elements that start at multiples of 16 bytes; copies of panels, rows in their
 * order. */
static bool opencl_mma_lies_well(const tsl_rows_place *operand, const tsl_rows *rows,
                                 const tsl_opencl_mma *tile) {
  const int size = tile->size;
  if (tile->warps == 4 && rows->rows > 1 && (operand->row_stride <= 0 || operand->row_stride > INT32_MAX))
    return false;
  return (operand->step == 1 || rows->elements <= 1) && operand->offset * size % 16 == 0 &&
         operand->row_stride * size % 16 == 0;
}

/* Groups of `items` for so many items' work, and no more than keep the device busy. */
static tsl_grid opencl_mma_grid_of(int64_t work, int items, const tsl_device *device) {
  const int64_t needed = (work + items - 1) / items,
                most = (int64_t)UNIT_GROUPS * (device->compute_units > 0 ? device->compute_units : 1);
  return (tsl_grid){{tsl_launch_limited(device, 0, needed < most ? needed : most), 1, 1}, {items, 1, 1}};
}

/* Packs A, B or none, and says in `sizes` and `buffers` where they lie then. */
static tesela_status opencl_mma_prepare(const tsl_work *work, const tsl_opencl_mma *tile, tsl_buffer *scratch,
                                        tsl_stream *stream, tsl_gemm_sizes *sizes, tsl_buffer *buffers[2]) {
  tsl_kernel *pack = ((const opencl_mma_mma_kernels *)work->state)->pack;
  const tsl_rows rows_a = tsl_rows_of(sizes->m, sizes->k, tile->a_across, tile->size),
                 rows_b = tsl_rows_of(sizes->n, sizes->k, tile->b_across, tile->size);
  tsl_rows_place a = {
      buffers[0], sizes->a_offset,
      opencl_mma_pitch_of(&rows_a, tile->a_across ? sizes->a_col_stride : sizes->a_row_stride),
      tile->a_across ? sizes->a_row_stride : sizes->a_col_stride, 0};
  tsl_rows_place b = {
      buffers[1], sizes->b_offset,
      opencl_mma_pitch_of(&rows_b, tile->b_across ? sizes->b_row_stride : sizes->b_col_stride),
      tile->b_across ? sizes->b_col_stride : sizes->b_row_stride, 0};
  if (!opencl_mma_lies_well(&a, &rows_a, tile))
    TSL_TRY(tsl_pack_rows(work, pack, &rows_a, tile->size, 1, scratch, 0, stream, &a));
  if (!opencl_mma_lies_well(&b, &rows_b, tile))
    TSL_TRY(tsl_pack_rows(work, pack, &rows_b, tile->size, 1, scratch, tile->a_bytes, stream, &b));
  buffers[0] = a.buffer;
  buffers[1] = b.buffer;
  sizes->a_offset = a.offset;
  sizes->a_row_stride = tile->a_across ? a.step : a.row_stride;
  sizes->a_col_stride = tile->a_across ? a.row_stride : a.step;
  sizes->b_offset = b.offset;
  sizes->b_row_stride = tile->b_across ? b.row_stride : b.step;
  sizes->b_col_stride = tile->b_across ? b.step : b.row_stride;
  return TESELA_OK;
}

/* C from the sums of all parts. */
static tesela_status opencl_mma_fold(const tsl_work *work, const tsl_argument *c, const tsl_argument *scratch,
                                     const tsl_argument *argument, int64_t m, int64_t n, tsl_stream *stream) {
  const opencl_mma_mma_kernels *kernels = work->state;
  const tsl_argument list[] = {*c, *scratch, *argument};
  const tsl_grid grid = opencl_mma_grid_of((n + 3) / 4 * m, FOLD_ITEMS, work->device);
  return work->device->ops->launch(stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const opencl_mma_mma_kernels *kernels = work->state;
  const tsl_opencl_mma tile = tsl_opencl_mma_of(&work->problem, &work->config);
  tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const bool any = sizes.k > 0;
  if (tile.swapped)
    sizes = tsl_launch_swapped(&sizes);
  /* A kernel wants a buffer in every place, also where nothing is read. */
  tsl_buffer *buffers[2] = {operands->c.buffer, operands->c.buffer};
  if (any) {
    buffers[0] = tile.swapped ? operands->b.buffer : operands->a.buffer;
    buffers[1] = tile.swapped ? operands->a.buffer : operands->b.buffer;
    TSL_TRY(opencl_mma_prepare(work, &tile, operands->scratch, stream, &sizes, buffers));
  } else {
    sizes.a_offset = sizes.a_row_stride = sizes.a_col_stride = 0;
    sizes.b_offset = sizes.b_row_stride = sizes.b_col_stride = 0;
  }
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &sizes);
  const tsl_opencl_mma_shares shares =
      tsl_opencl_mma_shares_of(&tile, sizes.m, sizes.n, sizes.k, work->device);
  opencl_mma_group_arguments given = {
      .whole = {.sizes = sizes, .band = tile.band, .tiles_m = shares.tiles_m, .tiles_n = shares.tiles_n},
      .maps = tile.a_bytes + tile.b_bytes,
      .sums = tile.a_bytes + tile.b_bytes + shares.groups * TSL_OPENCL_MMA_MAPS,
      .split_k = shares.split_k,
      .wanted = operands->wanted.is_told ? operands->wanted.at : -1,
      .wanted_above = operands->wanted.above,
      .rests = operands->rests.at,
      .rests_row = operands->rests.row,
      .p = operands->rests.p,
      .magic = operands->rests.magic,
      .bias = operands->rests.bias};
  memcpy(given.whole.scalars, &scaled.scalars, sizeof given.whole.scalars);
  const tsl_grid grid = tsl_opencl_mma_grid(&tile, &shares);
  const tsl_argument a = TSL_ARG_BUFFER(buffers[0]), b = TSL_ARG_BUFFER(buffers[1]),
                     c = TSL_ARG_BUFFER(operands->c.buffer), all = TSL_ARG_VALUE(given),
                     whole = TSL_ARG_VALUE(given.whole);
  if (tile.warps != 4) {
    const tsl_argument list[] = {a, b, c, whole};
    return work->device->ops->launch(stream, kernels->multiply, &grid, list, sizeof list / sizeof *list);
  }
  const tsl_argument scratch = TSL_ARG_BUFFER(operands->scratch), list[] = {a, b, c, scratch, all};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grid, list, sizeof list / sizeof *list));
  return kernels->fold != NULL ? opencl_mma_fold(work, &c, &scratch, &all, sizes.m, sizes.n, stream)
                               : TESELA_OK;
}
