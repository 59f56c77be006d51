#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"

enum { ONE_EACH = 999 /* value of the parameter `groups`: one group per tile */ };

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  tsl_opencl_mma tile = {
      .swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .size = (int)tsl_type(problem->a.type)->size,
      .tile_m = (int)value[TSL_OPENCL_MMA_TILE_M],
      .tile_n = (int)value[TSL_OPENCL_MMA_TILE_N],
      .warp_m = (int)value[TSL_OPENCL_MMA_WARP_M],
      .warp_n = (int)value[TSL_OPENCL_MMA_WARP_N],
      .depth = (int)value[TSL_OPENCL_MMA_DEPTH],
      .stages = (int)value[TSL_OPENCL_MMA_STAGES],
      .band = (int)value[TSL_OPENCL_MMA_BAND],
      .groups = (int)value[TSL_OPENCL_MMA_GROUPS],
      .warps = (int)value[TSL_OPENCL_MMA_WARPS],
  };
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  const bool is_group = tile.warps == 4;
  /* The instructions of four warps take 8-bit elements K-major only. */
  const bool along = is_group && tile.size == 1;
  tile.a_mn_major = !along && !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_mn_major = !along && !tsl_launch_along(b->row_stride, b->col_stride);
  tile.rows = 4 * tile.warp_m * tile.warp_n / tile.tile_n;
  tile.items =
      32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n) + (is_group ? TSL_OPENCL_MMA_WARP : 0);
  tile.local_bytes = (int64_t)tile.stages * (tile.tile_m + tile.tile_n) * tile.depth;
  if (is_group)
    tile.local_bytes += TSL_OPENCL_MMA_MAPS + 16 * (int64_t)tile.stages + 1023;
  const tsl_rows rows_a = tsl_rows_of(tile.problem.m, problem->k, tile.a_mn_major, tile.size),
                 rows_b = tsl_rows_of(tile.problem.n, problem->k, tile.b_mn_major, tile.size);
  tile.a_bytes = tsl_rows_bytes(&rows_a);
  tile.b_bytes = tsl_rows_bytes(&rows_b);
  return tile;
}

/* Limits of split-k with four warps: panels of a part at least, and parts at most. */
enum { PART_PANELS = 2, MOST_SPLIT_K = 64 };

tsl_opencl_mma_schedule tsl_opencl_mma_get_schedule(const tsl_opencl_mma *tile, int64_t m, int64_t n,
                                                    int64_t k, const tsl_device *device) {
  const int64_t depth = tile->depth / tile->size, panels = (k + depth - 1) / depth,
                most = (int64_t)tile->groups * (device->compute_units > 0 ? device->compute_units : 1);
  tsl_opencl_mma_schedule schedule = {.tiles_m = (m + tile->tile_m - 1) / tile->tile_m,
                                      .tiles_n = (n + tile->tile_n - 1) / tile->tile_n,
                                      .split_k = 1};
  const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
  if (tile->warps == 4 && tile->groups != ONE_EACH && tiles > 0) {
    const int64_t by_groups = most / tiles, by_panels = panels / PART_PANELS;
    const int64_t split_k = by_groups < by_panels ? by_groups : by_panels;
    schedule.split_k = split_k < 1 ? 1 : split_k > MOST_SPLIT_K ? MOST_SPLIT_K : split_k;
  }
  schedule.groups = tiles * schedule.split_k < most ? tiles * schedule.split_k : most;
  if (schedule.split_k > 1)
    schedule.sums_bytes = schedule.split_k * tiles * tile->tile_m * tile->tile_n * 4;
  return schedule;
}

tsl_grid tsl_opencl_mma_grid(const tsl_opencl_mma *tile, const tsl_opencl_mma_schedule *schedule) {
  return (tsl_grid){{(uint64_t)schedule->groups, 1, 1}, {tile->items, 1, 1}};
}

uint64_t tsl_opencl_mma_local(const tsl_device *device) {
  return device->local_bytes_inside > device->local_bytes ? device->local_bytes_inside : device->local_bytes;
}
