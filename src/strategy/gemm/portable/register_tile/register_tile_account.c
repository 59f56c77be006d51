/* Counts panels to local memory or packed, then a column and a row of each micro-tile for each k. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"

#include <math.h>

void tsl_register_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  const double m = (double)swapped.m, n = (double)swapped.n, k = ceil((double)swapped.k / tile.products);
  const double groups = ceil(m / tile.tile_m) * ceil(n / tile.tile_n) * tile.split;
  const double depth = tile.local ? ceil(ceil(k / tile.split) / tile.tile_k) * tile.tile_k : k;
  const double steps = groups * depth * tile.tile_m * tile.tile_n,
               bytes = steps * tile.size * (1.0 / tile.micro_m + 1.0 / tile.micro_n);
  const double needed = ceil(m / tile.micro_m) * ceil(n / tile.micro_n) * tile.slices * tile.split;
  tsl_cost_counts_groups(groups, tile.items, tile.form == TSL_REGISTER_TILE_PACKED_SERIAL ? groups : needed,
                         tsl_register_tile_local_bytes(&tile), device, account);
  if (!device->is_cpu)
    account->per_unit = tsl_register_tile_groups(&tile, device);
  account->computed = steps * tile.products;
  tsl_cost_counts_copies(tsl_register_tile_copies(problem, &tile), account);
  if (tile.local) {
    account->local =
        (tsl_moved){.read = bytes, .written = groups * depth * (tile.tile_m + tile.tile_n) * tile.size};
    account->global.read += account->local.written;
  } else {
    account->global.read += bytes;
  }
  tsl_cost_counts_result(problem, 1, account);
  if (tile.split > 1) /* partial sums in the workspace, and a launch that adds them */
    tsl_cost_counts_copies(tile.split * m * n * tile.size, account);
}
