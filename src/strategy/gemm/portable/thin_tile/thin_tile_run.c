#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <stdio.h>

#define FOLDER "strategy/gemm/portable/thin_tile/"

/* Kernels that build() stores in work->state. */
typedef struct thin_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum; /* adds the k splits; NULL without split-k */
} thin_kernels;

/* Returns the groups per unit for the compiler: as many as fit with the maximum of registers per item. */
static int thin_tile_groups_wanted(const tsl_thin_tile *tile) {
  return tile->items < 256 ? 256 / tile->items : 1;
}

tesela_status tsl_thin_tile_build(tsl_work *work) {
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  char defines[128];
  thin_kernels made = {NULL, NULL};
  void *block;
  snprintf(defines, sizeof defines, "#define B_ALONG_K %d\n#define GROUPS %d\n", tile.b_along_k,
           thin_tile_groups_wanted(&tile));
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "thin_tile.cl", "tsl_gemm_thin_tile", tile.items, defines,
                                 &made.multiply));
  const tsl_split_k_sum sum = tsl_thin_tile_sum(&tile);
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, "", &made.sum));
  TSL_TRY(tsl_alloc(sizeof made, "thin_tile's kernels", &block));
  *(thin_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

void tsl_thin_tile_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

typedef struct thin_tile_running {
  const tsl_work *work;
  const thin_kernels *kernels;
  tsl_thin_tile tile;
  tsl_launch_operands operands;
  tsl_thin_tile_grids grids;
  tsl_buffer *scratch;
  tsl_stream *stream;
} thin_tile_running;

static tesela_status thin_tile_multiply(const thin_tile_running *run) {
  const tsl_thin_tile *tile = &run->tile;
  const bool parts = tile->split > 1;
  const int64_t part =
      tsl_ceil_div(tsl_ceil_div(run->operands.sizes.k, tile->split), tile->chunk) * tile->chunk;
  const int64_t pitch = tsl_thin_tile_pitch(tile), part_step = parts ? run->operands.sizes.m * pitch : 0;
  const int64_t c_step = parts ? tile->split * part_step : run->operands.c_step;
  tsl_gemm_sizes sizes = run->operands.sizes;
  tsl_gemm_argument given = tsl_launch_scalars(run->work, &sizes);
  if (parts) {
    sizes.c_offset = 0;
    sizes.c_row_stride = pitch;
    sizes.c_col_stride = 1;
    given = tsl_launch_unscaled(run->work, &sizes);
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->operands.a),
                               TSL_ARG_BUFFER(run->operands.b),
                               TSL_ARG_BUFFER(parts ? run->scratch : run->operands.c),
                               {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(part),
                               TSL_ARG_VALUE(part_step),
                               TSL_ARG_VALUE(run->operands.a_step),
                               TSL_ARG_VALUE(run->operands.b_step),
                               TSL_ARG_VALUE(c_step)};
  return run->work->device->ops->launch(run->stream, run->kernels->multiply, &run->grids.multiply, list,
                                        sizeof list / sizeof *list);
}

static tesela_status thin_tile_run_sum(const thin_tile_running *run) {
  const int64_t pitch = tsl_thin_tile_pitch(&run->tile), split_step = run->operands.sizes.m * pitch;
  const tsl_split_k_sum_arguments args = {.pitch = pitch,
                                          .split_step = split_step,
                                          .batch_step = run->tile.split * split_step,
                                          .c_step = run->operands.c_step,
                                          .gemm = tsl_launch_scalars(run->work, &run->operands.sizes)};
  return tsl_split_k_sum_run(run->work, run->kernels->sum, &run->grids.sum, &args, run->scratch,
                             run->operands.c, run->stream);
}

tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  const tsl_launch_operands swapped = tsl_launch_operands_of(work, operands, tile.swapped);
  const thin_tile_running run = {
      .work = work,
      .kernels = work->state,
      .tile = tile,
      .operands = swapped,
      .grids = tsl_thin_tile_grids_of(&tile, swapped.sizes.m, swapped.sizes.n,
                                      tsl_problem_batch(&work->problem), work->device),
      .scratch = operands->scratch,
      .stream = stream,
  };
  TSL_TRY(thin_tile_multiply(&run));
  return thin_tile_run_sum(&run);
}
