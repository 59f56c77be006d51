/* Tile of opencl_mma that follows from problem and config, and the schedule of its groups. */
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"

#include "host/int_math.h"

enum { ONE_EACH = 999 /* value of the parameter `groups`: one group per tile */ };

int tsl_opencl_mma_width(int size, int64_t offset, int64_t pitch, int64_t step) {
  for (int width = 16; width >= 4 && step == 1; width /= 4)
    if (offset * size % width == 0 && pitch * size % width == 0)
      return width;
  return 0;
}

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  tsl_opencl_mma mma = {
      .tile = tsl_matrix_tile_of(problem, config),
      .stages = (int)value[TSL_OPENCL_MMA_STAGES],
      .band = (int)value[TSL_OPENCL_MMA_BAND],
      .groups = (int)value[TSL_OPENCL_MMA_GROUPS],
      .warps = (int)value[TSL_OPENCL_MMA_WARPS],
      .in_place = value[TSL_OPENCL_MMA_FROM] == TSL_OPENCL_MMA_PLACE,
  };
  tsl_matrix_tile *tile = &mma.tile;
  const bool is_group = mma.warps == 4;
  /* The instructions of four warps take 8-bit elements K-major only. */
  tile->a_mn_major = tile->a_mn_major && !(is_group && tile->size == 1);
  tile->b_mn_major = tile->b_mn_major && !(is_group && tile->size == 1);
  tile->items = 32 * (tile->tile_m / tile->part_m) * (tile->tile_n / tile->part_n) +
                (is_group ? TSL_OPENCL_MMA_WARP : 0);
  tile->local_bytes = (int64_t)mma.stages * (tile->tile_m + tile->tile_n) * tile->depth;
  if (is_group)
    tile->local_bytes += TSL_OPENCL_MMA_MAPS + 16 * (int64_t)mma.stages + 1023;
  mma.rows = 4 * tile->part_m * tile->part_n / tile->tile_n;
  const tsl_rows rows_a = tsl_rows_of(tile->problem.m, problem->k, tile->a_mn_major, tile->size),
                 rows_b = tsl_rows_of(tile->problem.n, problem->k, tile->b_mn_major, tile->size);
  const tsl_shape *a = &tile->problem.a, *b = &tile->problem.b;
  mma.a_bytes = mma.in_place ? 0 : tsl_rows_bytes(&rows_a);
  mma.b_bytes = mma.in_place ? 0 : tsl_rows_bytes(&rows_b);
  mma.a_width = tile->a_mn_major ? tsl_opencl_mma_width(tile->size, 0, a->col_stride, a->row_stride)
                                 : tsl_opencl_mma_width(tile->size, 0, a->row_stride, a->col_stride);
  mma.b_width = tile->b_mn_major ? tsl_opencl_mma_width(tile->size, 0, b->row_stride, b->col_stride)
                                 : tsl_opencl_mma_width(tile->size, 0, b->col_stride, b->row_stride);
  return mma;
}

/* Limits of split-k: bytes of a line in a part at least, and parts at most. */
enum { PART_BYTES = 256, SPLIT_K_MAX = 64 };
/* Parts that an item loads in a round, as in mma_sums.h, and the rounds from which a further launch is
 * faster. */
enum { JOIN_PARTS = 8, JOIN_ROUNDS_MAX = 4 };

tsl_opencl_mma_schedule tsl_opencl_mma_get_schedule(const tsl_opencl_mma *mma, const tsl_device *device) {
  const tsl_matrix_tile *tile = &mma->tile;
  const int64_t panels = tsl_ceil_div(tile->problem.k, tile->depth / tile->size),
                most = (int64_t)mma->groups * (device->compute_units > 0 ? device->compute_units : 1),
                tiles = tile->tiles_m * tile->tiles_n;
  tsl_opencl_mma_schedule schedule = {.split_k = 1};
  if (mma->groups != ONE_EACH && tiles > 0 && !tsl_problem_fixes_rows(&tile->problem)) {
    const int64_t split_k = tsl_min(most / tiles, panels / (PART_BYTES / tile->depth));
    schedule.split_k = split_k < 1 ? 1 : tsl_min(split_k, SPLIT_K_MAX);
  }
  schedule.groups = tsl_min(tiles * schedule.split_k, most);
  if (schedule.split_k > 1) {
    schedule.sums_bytes = schedule.split_k * tiles * tile->tile_m * tile->tile_n * 4;
    schedule.join_rounds =
        tsl_ceil_div(tsl_min(tile->problem.m, tile->tile_m) * tsl_min(tile->problem.n, tile->tile_n) / 4,
                     tile->items) *
        tsl_ceil_div(schedule.split_k, JOIN_PARTS);
    schedule.joins = mma->warps == 1 && schedule.join_rounds <= JOIN_ROUNDS_MAX;
    schedule.flags_bytes = schedule.joins ? 8 * tiles * schedule.split_k : 0;
  }
  return schedule;
}

int64_t tsl_opencl_mma_maps(const tsl_opencl_mma *mma, const tsl_opencl_mma_schedule *schedule) {
  return mma->warps == 4 ? schedule->groups * TSL_OPENCL_MMA_MAPS : 0;
}
