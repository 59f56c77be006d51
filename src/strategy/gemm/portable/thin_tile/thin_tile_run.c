#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <stdio.h>

/* Returns the groups per unit for the compiler: as many as fit with the maximum of registers per item. */
static int thin_tile_groups_wanted(const tsl_thin_tile *tile) {
  return tile->items < 256 ? 256 / tile->items : 1;
}

tesela_status tsl_thin_tile_build(tsl_work *work) {
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  char defines[128];
  tsl_split_k_kernels made = {NULL, NULL};
  void *block;
  snprintf(defines, sizeof defines, "#define B_ALONG_K %d\n#define GROUPS %d\n", tile.b_along_k,
           thin_tile_groups_wanted(&tile));
  TSL_TRY(tsl_launch_kernel_with(work, "strategy/gemm/portable/thin_tile/thin_tile.cl", "tsl_gemm_thin_tile",
                                 tile.items, defines, &made.multiply));
  const tsl_thin_tile_grids grids = tsl_thin_tile_grids_of(&tile, tsl_min(work->problem.m, work->problem.n),
                                                           tsl_max(work->problem.m, work->problem.n),
                                                           tsl_problem_batch(&work->problem), work->device);
  TSL_TRY(tsl_launch_early_evenly(work, &grids.multiply, tsl_thin_tile_groups(&tile, work->device),
                                  tsl_thin_tile_local_bytes(&tile), false, &made.multiply));
  const tsl_split_k_sum sum = tsl_thin_tile_sum(&tile);
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, "", &made.sum));
  TSL_TRY(tsl_alloc(sizeof made, "thin_tile's kernels", &block));
  *(tsl_split_k_kernels *)block = made;
  work->state = block;
  return TESELA_OK;
}

tesela_status tsl_thin_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_thin_tile tile = tsl_thin_tile_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, tile.swapped);
  tsl_split_k_product product = tsl_thin_tile_product(&tile);
  product.depth = tile.parts.count > 1 ? tile.parts.depth
                                       : tsl_round_up(tsl_ceil_div(own.sizes.k, tile.split), tile.chunk);
  product.multiply =
      tsl_thin_tile_grids_of(&tile, own.sizes.m, own.sizes.n, tsl_problem_batch(&work->problem), work->device)
          .multiply;
  return tsl_split_k_run(work, &product, &own, operands->scratch, stream);
}
