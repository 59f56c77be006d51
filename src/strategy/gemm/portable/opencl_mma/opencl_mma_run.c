#include "core/memory.h"
#include "core/status.h"
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/portable/opencl_mma/"

typedef struct opencl_mma_kernels {
  tsl_kernel *multiply, *pack, *fold; /* fold: NULL without split-k */
} opencl_mma_kernels;

/* Mirrors of the kernels' structs of equal names. Scalars are 32 bits wide and end the first member. */
typedef struct opencl_mma_arguments {
  tsl_gemm_sizes sizes;
  uint32_t scalars[2];
  int64_t band, tiles_m, tiles_n;
} opencl_mma_arguments;
typedef struct opencl_mma_group_arguments {
  opencl_mma_arguments whole;
  int64_t maps, sums, split_k; /* maps, sums: bytes of scratch memory; split_k: parts of k */
  /* byte of an int in scratch memory, or -1: nothing is done if the int is <= wanted_above */
  int64_t wanted, wanted_above;
  int64_t rests, rests_row; /* byte of C modulo p in scratch, and bytes of its rows; 0: C itself is written */
  uint32_t p, magic, bias, none;
} opencl_mma_group_arguments;

enum { UNIT_GROUPS = 16, FOLD_ITEMS = 256 };

/* Returns true if the plan's kernels split k; a run with k = 0 has one part. */
static bool is_split(const tsl_work *work, const tsl_opencl_mma *tile) {
  const tsl_problem *problem = &tile->problem;
  return tsl_opencl_mma_get_schedule(tile, problem->m, problem->n, problem->k, work->device).split_k > 1;
}

tesela_status tsl_opencl_mma_build(tsl_work *work) {
  const tsl_opencl_mma tile = tsl_opencl_mma_of(&work->problem, &work->config);
  const tsl_problem *problem = &tile.problem;
  char defines[256];
  opencl_mma_kernels made = {NULL, NULL, NULL};
  void *block;
  snprintf(defines, sizeof defines,
           "#define MMA_A %s\n#define MMA_B %s\n#define C_FORM %d\n#define A_MN_MAJOR %d\n#define B_MN_MAJOR "
           "%d\n#define SPLIT %d\n",
           tsl_launch_ptx_word(problem->a.type), tsl_launch_ptx_word(problem->b.type),
           tsl_launch_form(problem->c.type), tile.a_mn_major, tile.b_mn_major, is_split(work, &tile));
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
  *(opencl_mma_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_opencl_mma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* Returns the pitch, or 0 for a single row: addresses of absent rows must be aligned, too. */
static int64_t opencl_mma_pitch_of(const tsl_rows *rows, int64_t stride) {
  return rows->rows <= 1 ? 0 : stride;
}

/* Returns true if the operand needs no packing: dense rows that start at multiples of 16 bytes, with
 * ascending addresses where panels are copied by boxes. */
static bool opencl_mma_lies_well(const tsl_rows_place *operand, const tsl_rows *rows,
                                 const tsl_opencl_mma *tile) {
  const int size = tile->size;
  if (tile->warps == 4 && rows->rows > 1 && (operand->row_stride <= 0 || operand->row_stride > INT32_MAX))
    return false;
  return (operand->step == 1 || rows->elements <= 1) && operand->offset * size % 16 == 0 &&
         operand->row_stride * size % 16 == 0;
}

/* Returns a grid of groups of `items` for `work` items, limited to the groups that keep the device busy. */
static tsl_grid opencl_mma_grid_of(int64_t work, int items, const tsl_device *device) {
  const int64_t needed = (work + items - 1) / items,
                most = (int64_t)UNIT_GROUPS * (device->compute_units > 0 ? device->compute_units : 1);
  return (tsl_grid){{tsl_launch_limited(device, 0, needed < most ? needed : most), 1, 1}, {items, 1, 1}};
}

/* Packs A and B where needed, and updates their strides in `sizes` and their buffers. */
static tesela_status opencl_mma_prepare(const tsl_work *work, const tsl_opencl_mma *tile, tsl_buffer *scratch,
                                        tsl_stream *stream, tsl_gemm_sizes *sizes, tsl_buffer *buffers[2]) {
  tsl_kernel *pack = ((const opencl_mma_kernels *)work->state)->pack;
  const tsl_rows rows_a = tsl_rows_of(sizes->m, sizes->k, tile->a_mn_major, tile->size),
                 rows_b = tsl_rows_of(sizes->n, sizes->k, tile->b_mn_major, tile->size);
  tsl_rows_place a = {
      buffers[0], sizes->a_offset,
      opencl_mma_pitch_of(&rows_a, tile->a_mn_major ? sizes->a_col_stride : sizes->a_row_stride),
      tile->a_mn_major ? sizes->a_row_stride : sizes->a_col_stride, 0};
  tsl_rows_place b = {
      buffers[1], sizes->b_offset,
      opencl_mma_pitch_of(&rows_b, tile->b_mn_major ? sizes->b_row_stride : sizes->b_col_stride),
      tile->b_mn_major ? sizes->b_col_stride : sizes->b_row_stride, 0};
  if (!opencl_mma_lies_well(&a, &rows_a, tile))
    TSL_TRY(tsl_pack_rows(work, pack, &rows_a, tile->size, 1, scratch, 0, stream, &a));
  if (!opencl_mma_lies_well(&b, &rows_b, tile))
    TSL_TRY(tsl_pack_rows(work, pack, &rows_b, tile->size, 1, scratch, tile->a_bytes, stream, &b));
  buffers[0] = a.buffer;
  buffers[1] = b.buffer;
  sizes->a_offset = a.offset;
  sizes->a_row_stride = tile->a_mn_major ? a.step : a.row_stride;
  sizes->a_col_stride = tile->a_mn_major ? a.row_stride : a.step;
  sizes->b_offset = b.offset;
  sizes->b_row_stride = tile->b_mn_major ? b.row_stride : b.step;
  sizes->b_col_stride = tile->b_mn_major ? b.step : b.row_stride;
  return TESELA_OK;
}

/* Returns the modular output that the run writes instead of C; NULL: it writes C. */
static tsl_modular_output *opencl_mma_modular(const tsl_work *work, const tsl_opencl_mma *tile,
                                              const tsl_run_hints *hints) {
  const opencl_mma_kernels *kernels = work->state;
  return tile->warps == 4 && tile->problem.c.type == TESELA_I32 && !tile->swapped && kernels->fold == NULL &&
                 tile->problem.alpha[0] == 1 && tile->problem.beta[0] == 0
             ? hints->modular
             : NULL;
}

static tesela_status opencl_mma_fold(const tsl_work *work, const tsl_argument *c, const tsl_argument *scratch,
                                     const tsl_argument *argument, int64_t m, int64_t n, tsl_stream *stream) {
  const opencl_mma_kernels *kernels = work->state;
  const tsl_argument list[] = {*c, *scratch, *argument};
  const tsl_grid grid = opencl_mma_grid_of((n + 3) / 4 * m, FOLD_ITEMS, work->device);
  return work->device->ops->launch(stream, kernels->fold, &grid, list, sizeof list / sizeof *list);
}

tesela_status tsl_opencl_mma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const opencl_mma_kernels *kernels = work->state;
  const tsl_opencl_mma tile = tsl_opencl_mma_of(&work->problem, &work->config);
  tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_run_hints hints = operands->hints ? *operands->hints : (tsl_run_hints){.reuse = NULL};
  tsl_modular_output *modular = opencl_mma_modular(work, &tile, &hints);
  const bool any = sizes.k > 0;
  if (tile.swapped)
    sizes = tsl_launch_swapped(&sizes);
  /* Every argument needs a buffer, even if nothing is read. */
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
  const tsl_opencl_mma_schedule schedule =
      tsl_opencl_mma_get_schedule(&tile, sizes.m, sizes.n, sizes.k, work->device);
  opencl_mma_group_arguments given = {
      .whole = {.sizes = sizes, .band = tile.band, .tiles_m = schedule.tiles_m, .tiles_n = schedule.tiles_n},
      .maps = tile.a_bytes + tile.b_bytes,
      .sums = tile.a_bytes + tile.b_bytes + schedule.groups * TSL_OPENCL_MMA_MAPS,
      .split_k = schedule.split_k,
      .wanted = hints.wanted.is_set ? hints.wanted.at : -1,
      .wanted_above = hints.wanted.above};
  if (modular) {
    given.rests = modular->at, given.rests_row = modular->row;
    given.p = modular->p, given.magic = modular->magic, given.bias = modular->bias;
    modular->is_written = true;
  }
  memcpy(given.whole.scalars, &scaled.scalars, sizeof given.whole.scalars);
  const tsl_grid grid = tsl_opencl_mma_grid(&tile, &schedule);
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
