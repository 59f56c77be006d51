#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/emulated/slices/slices.h"

#include <math.h>

static const tsl_engine_rates engine_rates = {.warpgroup = 3000, .group = 2500, .warp = 1250};
/* Fraction of the bandwidth that copy kernels reach; bytes of a number that are read before it is cut;
 * launches of a run besides one for each product. */
static const double streamed = 0.7, read_bytes = 8, launches = 4;
static const double doubt = 1.75; /* measured time relative to the model's */

/* Operations of a thread in a clock with tile registers, three fifths of their peak. Clocks of a number that
 * is measured and cut, of a sum for each product, and of an element of C. Others multiply at the f32 rate. */
static const double tile_rate = 600, number_clocks = 8, sum_clocks = 0.5, element_clocks = 6;

static double slices_host_seconds(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  const double clocks = 1e6 * fmax(1, device->clock_mhz) * fmax(1, device->threads),
               rate = device->capabilities & TSL_CAN_AMX ? tile_rate * clocks : 0.8 * device->peak_f32;
  const double m = (double)tsl_round_up(problem->m, 32), n = (double)tsl_round_up(problem->n, 32),
               k = (double)tsl_slices_depth(problem), elements = (double)problem->m * (double)problem->n,
               products = (double)config->value[TSL_SLICES_PRODUCTS];
  const double beside = (double)(problem->m + problem->n) * k * number_clocks +
                        elements * (products * sum_clocks + element_clocks);
  return doubt * (2 * products * m * n * k / rate + beside / clocks + 1e-5 + 2e-6 * device->threads);
}

/* Products compute whole tiles; sums pass through memory with each product. */
double tsl_slices_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  if (device->capabilities & TSL_CAN_HOST)
    return slices_host_seconds(problem, config, device);
  const double m = (double)tsl_round_up(problem->m, 128), n = (double)tsl_round_up(problem->n, 128),
               k = (double)tsl_slices_depth(problem), elements = (double)problem->m * (double)problem->n,
               products = (double)config->value[TSL_SLICES_PRODUCTS], slices = tsl_slices_count(config);
  const double bytes = (double)(problem->m + problem->n) * k * (read_bytes + 2 * slices) +
                       elements * (8 * products + 8 + (problem->beta[0] != 0 ? 4 : 0));
  return doubt * (2 * products * m * n * k / tsl_cost_counts_engine_rate(device, engine_rates) +
                  bytes / (streamed * device->bandwidth) + (launches + products) * device->launch_seconds);
}

void tsl_slices_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account) {
  enum { ITEMS = 64 };
  const double elements = (double)problem->m * (double)problem->n, k = (double)tsl_slices_depth(problem),
               products = (double)config->value[TSL_SLICES_PRODUCTS];
  tsl_cost_counts_copies((double)(problem->m + problem->n) * k * 2 * tsl_slices_count(config), account);
  tsl_cost_counts_copies(elements * 4 * products, account);
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->n * (double)problem->k, account);
  tsl_cost_counts_result(problem, 1, account);
  account->computed = products * elements * k;
  if (device->capabilities & TSL_CAN_HOST) {
    account->workers = fmin(device->threads, ceil((double)problem->m / 128) * ceil((double)problem->n / 128));
    return;
  }
  tsl_cost_counts_groups(ceil(elements / ITEMS), ITEMS, elements, 0, device, account);
  account->launches = (int)(launches + products);
  account->rate = tsl_cost_counts_engine_rate(device, engine_rates);
}
