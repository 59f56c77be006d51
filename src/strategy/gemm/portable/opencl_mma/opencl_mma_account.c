#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"

#include <math.h>

static double bytes_if_packed(const tsl_shape *shape, bool across_rows, int size) {
  return tsl_opencl_mma_packs(shape, across_rows, size) ? (double)shape->rows * (double)shape->cols * size
                                                        : 0;
}

void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account) {
  const tsl_opencl_mma tile = tsl_opencl_mma_of(problem, config);
  const tsl_opencl_mma_schedule schedule =
      tsl_opencl_mma_get_schedule(&tile, tile.problem.m, tile.problem.n, problem->k, device);
  const double depth = (double)tile.depth / tile.size,
               tiles = (double)schedule.tiles_m * (double)schedule.tiles_n;
  const double panels = ceil((double)problem->k / depth);
  const double panel = (double)(tile.tile_m + tile.tile_n) * tile.depth;
  tsl_cost_counts_groups((double)schedule.groups, tile.items, (double)schedule.groups * tile.items,
                         tile.local_bytes, device, account);
  account->computed = tiles * panels * tile.tile_m * tile.tile_n * depth;
  account->local =
      (tsl_moved){.read = tiles * panels * tsl_opencl_mma_read(&tile), .written = tiles * panels * panel};
  account->global.read = account->local.written;
  account->rate = device->peak_f32 * tsl_opencl_mma_times(&tile);
  tsl_cost_counts_copies(bytes_if_packed(&tile.problem.a, tile.a_mn_major, tile.size), account);
  tsl_cost_counts_copies(bytes_if_packed(&tile.problem.b, !tile.b_mn_major, tile.size), account);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
