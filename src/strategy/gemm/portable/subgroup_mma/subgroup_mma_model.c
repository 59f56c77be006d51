/* Performance model of subgroup_mma from data sheets, not measured (docs/lab/subgroup_mma.md). */
#include "strategy/gemm/portable/subgroup_mma/subgroup_mma.h"

#include <math.h>

/* Bytes per clock of local memory and of the last cache, relative to the unit's 16-bit operations per clock;
 * best reached fraction of the rate. */
static const double local_share = 128.0 / 1024, cache_share = 32.0 / 1024, best_share = 0.6;
enum { PANEL_CLOCKS = 150, TILE_CLOCKS = 2500 };

double tsl_subgroup_mma_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const tsl_fragments *fragments = device->fragments;
  const tsl_subgroup_mma tile = tsl_subgroup_mma_of(problem, config, fragments);
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double tiles =
      ceil((double)tile.problem.m / tile.tile_m) * ceil((double)tile.problem.n / tile.tile_n);
  const double panels = ceil((double)problem->k * tile.size / tile.depth);
  const double rate = tile.size == 1 ? fragments->rate_8 : fragments->rate_16;
  const double multiply = 2.0 * tile.tile_m * tile.tile_n * tile.depth / tile.size / (rate * best_share);
  const double lines = tile.tile_m + tile.tile_n, bytes = lines * tile.depth;
  /* Each sub-group reads its lines of both operands; each panel is written once. */
  const double read = (double)tile.items / fragments->items * (tile.sub_m + tile.sub_n) * tile.depth + bytes;
  const double local = read / (local_share * fragments->rate_16);
  const double copy = bytes / (cache_share * fragments->rate_16);
  const double longest = fmax(multiply, fmax(local, copy)), all = multiply + local + copy;
  const double shown = tile.items < 128 ? 0.4 : 0.25; /* fraction that is not hidden */
  const double panel = longest + shown * (all - longest) + PANEL_CLOCKS;
  const double clocks = ceil(tiles / units) * (panels * panel + TILE_CLOCKS);
  return fmax(clocks / clock, tsl_problem_bytes(problem) / device->bandwidth) + device->launch_seconds;
}
