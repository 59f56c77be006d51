#include "strategy/gemm/portable/subgroup_mma/subgroup_mma.h"

tsl_subgroup_mma tsl_subgroup_mma_of(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_fragments *fragments) {
  const int64_t *value = config->value;
  tsl_subgroup_mma tile = {
      .swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .size = (int)tsl_type(problem->a.type)->size,
      .tile_m = (int)value[TSL_SUBGROUP_MMA_TILE_M],
      .tile_n = (int)value[TSL_SUBGROUP_MMA_TILE_N],
      .sub_m = (int)value[TSL_SUBGROUP_MMA_SUB_M],
      .sub_n = (int)value[TSL_SUBGROUP_MMA_SUB_N],
      .depth = (int)value[TSL_SUBGROUP_MMA_DEPTH],
  };
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  tile.a_mn_major = !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_mn_major = !tsl_launch_along(b->row_stride, b->col_stride);
  tile.local_bytes = 2 * (int64_t)(tile.tile_m + tile.tile_n) * (tile.depth + 16);
  const bool fits = tile.tile_m % tile.sub_m == 0 && tile.tile_n % tile.sub_n == 0 &&
                    tile.sub_m % fragments->rows == 0 && tile.sub_n % fragments->cols == 0;
  if (fits) {
    tile.items = fragments->items * (tile.tile_m / tile.sub_m) * (tile.tile_n / tile.sub_n);
    /* A chunk in flight is four words, its address two. */
    const int chunks = (tile.tile_m + tile.tile_n) * tile.depth / 16 / tile.items;
    tile.registers = tile.sub_m * tile.sub_n / fragments->items +
                     tile.sub_m / fragments->rows * fragments->words_a + fragments->words_b + 6 * chunks;
  }
  return tile;
}
