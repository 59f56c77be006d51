/* Expected time and memory traffic of halves; docs/lab/halves.md has the measurements for the constants. */
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/emulated/halves/halves.h"

#include <math.h>

static const tsl_engine_rates engine_rates = {.warpgroup = 2450, .group = 2300, .warp = 1250};
/* Fraction of the bandwidth that copy kernels reach; launches of a run without the product's. */
static const double streamed = 0.76, launches = 5;
static const double tile_m = 128, tile_n = 256; /* of C of the product's strategies */

/* Compute units process whole tiles at once. Numbers are read as f32 and written as f16; sums are read. */
double tsl_halves_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k,
               units = fmax(1, device->compute_units);
  const double tiles = ceil(m / tile_m) * ceil(n / tile_n),
               whole = device->is_cpu ? tiles : ceil(tiles / units) * units;
  const double bytes = (m + n) * k * 6 + m * n * (8 + (problem->beta[0] != 0 ? 4 : 0));
  return 2 * whole * tile_m * tile_n * (double)tsl_round_up(problem->k, 64) /
             tsl_cost_counts_engine_rate(device, engine_rates) +
         bytes / (streamed * device->bandwidth) + launches * device->launch_seconds;
}

void tsl_halves_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account) {
  enum { ITEMS = 64, FOUR = 4 };
  (void)config;
  const double elements = (double)problem->m * (double)problem->n,
               numbers = (double)(problem->m + problem->n) * (double)problem->k;
  tsl_cost_counts_copies(numbers * 2, account);
  tsl_cost_counts_copies(elements * 4, account);
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->n * (double)problem->k, account);
  tsl_cost_counts_result(problem, 1, account);
  account->computed = elements * (double)problem->k;
  tsl_cost_counts_groups(ceil(elements / FOUR / ITEMS), ITEMS, elements / FOUR, 0, device, account);
  account->launches = (int)launches + 1;
  account->rate = tsl_cost_counts_engine_rate(device, engine_rates);
}
