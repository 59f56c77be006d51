#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <stdio.h>

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
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/portable/thin_tile/thin_tile.cl", "tsl_gemm_thin_tile",
                                 tile.items, defines, &made.multiply));
  const tsl_split_k_sum sum = tsl_thin_tile_sum(&tile);
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, "", &made.sum));
  TSL_TRY(tsl_alloc(sizeof made, "thin_tile's kernels", &block));
  *(thin_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const thin_kernels *kernels = work->state;
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  const tsl_thin_tile_grids grids = tsl_thin_tile_grids_of(&tile, own.sizes.m, own.sizes.n,
                                                           tsl_problem_batch(&work->problem), work->device);
  const tsl_split_k_sum sum = tsl_thin_tile_sum(&tile);
  const bool parts = tile.split > 1;
  const int64_t part = tile.parts.count > 1 ? tile.parts.depth
                                            : tsl_round_up(tsl_ceil_div(own.sizes.k, tile.split), tile.chunk);
  const int64_t pitch = tsl_thin_tile_pitch(&tile), part_step = parts ? own.sizes.m * pitch : 0;
  const int64_t c_step = parts ? tile.split * part_step : own.c_step;
  tsl_gemm_sizes sizes = own.sizes;
  if (parts) {
    sizes.c_offset = 0;
    sizes.c_row_stride = pitch;
    sizes.c_col_stride = 1;
  }
  const tsl_gemm_argument given =
      parts ? tsl_launch_unscaled(work, &sizes) : tsl_launch_scalars(work, &sizes);
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a),
                               TSL_ARG_BUFFER(own.b),
                               TSL_ARG_BUFFER(parts ? operands->scratch : own.c),
                               {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(part),
                               TSL_ARG_VALUE(part_step),
                               TSL_ARG_VALUE(own.a_step),
                               TSL_ARG_VALUE(own.b_step),
                               TSL_ARG_VALUE(c_step)};
  TSL_TRY(work->device->ops->launch(stream, kernels->multiply, &grids.multiply, list,
                                    sizeof list / sizeof *list));
  return tsl_split_k_sum_run(work, kernels->sum, &sum,
                             (tsl_split_k_sum_arguments){.pitch = pitch, .split_step = part_step}, &own,
                             operands->scratch, stream);
}
