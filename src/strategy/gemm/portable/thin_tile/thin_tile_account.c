/* Counts the large operand straight to registers, the thin operand through local memory. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <math.h>

void tsl_thin_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  const double m = (double)tile.problem.m, n = (double)tile.problem.n;
  const double groups = ceil(m / tile.tile_m) * ceil(n / tile.tile_n) * tile.split;
  const double depth = ceil(ceil((double)problem->k / tile.split) / tile.chunk) * tile.chunk;
  const double products = groups * depth * tile.tile_m * tile.tile_n;
  const double of_thin = products / tile.micro_n * tile.size, of_large = products / tile.micro_m * tile.size;
  const double needed =
      tile.processor ? groups : ceil(m / tile.micro_m) * ceil(n / tile.micro_n) * tile.slices * tile.split;
  tsl_cost_counts_groups(groups, tile.processor ? 1 : tile.items, needed,
                         tile.processor ? 0 : tsl_thin_tile_local_bytes(&tile), device, account);
  if (!device->is_cpu)
    account->per_unit = tsl_thin_tile_groups(&tile, device);
  account->computed = products;
  account->global.read = of_large;
  if (tile.processor) {
    account->global.read += of_thin;
  } else {
    account->local = (tsl_moved){.read = of_thin, .written = groups * depth * tile.tile_m * tile.size};
    account->global.read += account->local.written;
  }
  tsl_cost_counts_result(problem, 1, account);
  if (tile.split > 1)
    tsl_cost_counts_copies(tile.split * m * (double)tsl_thin_tile_pitch(&tile) * tile.size, account);
}
