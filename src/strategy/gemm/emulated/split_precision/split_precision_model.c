/* Expected time and memory traffic; docs/lab/split_precision.md has the measurements for the constants. */
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/emulated/split_precision/split_precision.h"
#include "strategy/model_constants.h"
#include "strategy/support.h"

#include <math.h>

static const tsl_matrix_unit_rates f16_rates = {.warpgroup = 2450, .group = 2300, .warp = 1250},
                                   bf16_rates = {.warpgroup = 3000, .group = 2500, .warp = 1250};
static const double read_bytes = 8;    /* bf16: bytes of a number that are read before it is cut */
static const double host_doubt = 1.75; /* processors: measured time relative to the model's */

/* Operations of a thread in a clock with tile registers, three fifths of their peak. Clocks of a number that
 * is measured and cut, of a sum for each product, and of an element of C. Others multiply at the f32 rate. */
static const double tile_rate = 600, number_clocks = 8, sum_clocks = 0.5, element_clocks = 6;

static double host_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const double clocks = 1e6 * fmax(1, device->clock_mhz) * fmax(1, device->threads),
               rate = device->capabilities & TSL_CAN_AMX ? tile_rate * clocks : 0.8 * device->peak_f32;
  const double m = (double)tsl_round_up(problem->m, 32), n = (double)tsl_round_up(problem->n, 32),
               k = (double)tsl_split_depth(problem, config),
               elements = (double)problem->m * (double)problem->n,
               products = tsl_split_form_of(config)->products;
  const double beside = (double)(problem->m + problem->n) * k * number_clocks +
                        elements * (products * sum_clocks + element_clocks);
  return host_doubt * (2 * products * m * n * k / rate + beside / clocks + 1e-5 + 2e-6 * device->threads);
}

/* Devices with kernels: each product takes as long as its sub-plan, which is predicted by its own model.
 * Parts of lines are written; sums are read and C is written. */
double tsl_split_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                         tsl_all_strategies *list) {
  const tsl_split_constants *rates = &tsl_model_constants_of(device)->split;
  const tsl_split_form *form = tsl_split_form_of(config);
  if (tsl_device_is_host(device))
    return host_seconds(problem, config, device);
  const bool is_f16 = form->parts == 1;
  const double lines = (double)problem->m + (double)problem->n, k = (double)tsl_split_depth(problem, config),
               elements = (double)problem->m * (double)problem->n;
  const double bytes = lines * k * ((is_f16 ? 4 : read_bytes) + 2 * form->parts) +
                       elements * (8 + (problem->beta[0] != 0 ? 4 : 0)),
               streamed = bytes / ((is_f16 ? rates->f16_streamed : rates->bf16_streamed) * device->bandwidth),
               copied = is_f16 ? streamed : fmax(streamed, rates->bf16_line_seconds * k),
               launches = is_f16 ? rates->f16_launches : rates->bf16_launches;
  double factor;
  const tsl_problem product = tsl_split_required_product(problem, config, device, &factor);
  const double seconds =
      form->products * tsl_strategy_fastest_within(&product, (tsl_accuracy){.factor = factor}, device, list);
  return (is_f16 ? 1 : rates->doubt) * seconds + copied + launches * device->launch_seconds;
}

void tsl_split_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                       tsl_cost_counts *account) {
  const tsl_split_constants *rates = &tsl_model_constants_of(device)->split;
  enum { ITEMS = 64, FOUR = 4 };
  const tsl_split_form *form = tsl_split_form_of(config);
  const double elements = (double)problem->m * (double)problem->n,
               k = (double)tsl_split_depth(problem, config), products = form->products;
  tsl_cost_counts_copies((double)(problem->m + problem->n) * k * 2 * form->parts, account);
  tsl_cost_counts_copies(elements * 4 * products, account);
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->n * (double)problem->k, account);
  tsl_cost_counts_result(problem, 1, account);
  account->computed = products * elements * k;
  if (tsl_device_is_host(device)) {
    account->workers = fmin(device->threads, ceil((double)problem->m / 128) * ceil((double)problem->n / 128));
    return;
  }
  tsl_cost_counts_groups(ceil(elements / FOUR / ITEMS), ITEMS, elements / FOUR, 0, device, account);
  account->launches = (int)(rates->f16_launches + products);
  account->rate = tsl_cost_counts_matrix_unit_rate(device, form->parts == 1 ? f16_rates : bf16_rates);
}
