#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/subgroup_mma/subgroup_mma.h"

#include <math.h>

void tsl_subgroup_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account) {
  const tsl_fragments *fragments = device->fragments;
  const tsl_subgroup_mma tile = tsl_subgroup_mma_of(problem, config, fragments);
  const double groups =
      ceil((double)tile.problem.m / tile.tile_m) * ceil((double)tile.problem.n / tile.tile_n);
  const double panels = ceil((double)problem->k * tile.size / tile.depth);
  const double sub_groups = (double)tile.items / fragments->items;
  tsl_cost_counts_groups(groups, tile.items, groups * tile.items, tile.local_bytes, device, account);
  account->computed = groups * panels * tile.tile_m * tile.tile_n * tile.depth / tile.size;
  account->local = (tsl_moved){.read = groups * panels * sub_groups * (tile.sub_m + tile.sub_n) * tile.depth,
                               .written = groups * panels * (tile.tile_m + tile.tile_n) * tile.depth};
  account->global.read = account->local.written;
  account->rate = (tile.size == 1 ? fragments->rate_8 : fragments->rate_16) * 1e6 * device->clock_mhz *
                  device->compute_units;
  tsl_cost_counts_result(problem, 1, account);
}
