/* What residue_int8 takes, and what it moves: NOTES.md has what the constants were fitted to. The least number of moduli is what a
 * call is expected to come out with. */
#include "host/split.h"
#include "strategy/account.h"
#include "strategy/gemm/residue_int8/residue_int8.h"

static const double tile_m = 128, tile_n = 256, panel = 128;
/* Clocks: of a panel of a tile; of a share's last step, and until its first panel is there. */
static const double panel_clocks = 1024, share_clocks = 2600;
/* Of the clock that the card names, what is left under such load. */
static const double hot_clock = 0.75;
/* Instructions for each number that becomes residues: all of them, and for each modulus. */
static const double number_work[2] = {220, 300}, modulus_work[2] = {7.5, 9};
/* Multiply-adds of residues in a clock of a core, with vectors and without. */
static const double vector_dots = 12, plain_dots = 2;

typedef struct work_of {
  double moduli, shares, panels, numbers, size;
  int is_double;
} work_of;

static work_of work(const tsl_problem *problem, const tsl_config *config) {
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double moduli = tsl_residue_least(problem, config);
  return (work_of){.moduli = moduli,
                   .shares = moduli * ceil(m / tile_m) * ceil(n / tile_n),
                   .panels = ceil(k / panel),
                   .numbers = (m + n) * k,
                   .size = (double)tsl_type(problem->c.type)->size,
                   .is_double = problem->c.type == TESELA_F64};
}

static double host_seconds(const tsl_problem *problem, const work_of *all, const tsl_device *device) {
  const bool has_vectors = device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512);
  const double products = all->moduli * (double)problem->m * (double)problem->n * (double)problem->k;
  const double clocks = products / (has_vectors ? vector_dots : plain_dots) +
                        all->numbers * (20 + 6 * all->moduli) +
                        20 * all->moduli * (double)problem->m * (double)problem->n;
  return 1e-5 + clocks / (1e6 * device->clock_mhz * device->threads);
}

double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const work_of all = work(problem, config);
  if (device->capabilities & TSL_CAN_HOST)
    return host_seconds(problem, &all, device);
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double elements = (double)problem->m * (double)problem->n;
  const double products =
      ceil(all.shares / units) * (all.panels * panel_clocks + share_clocks) / (hot_clock * clock);
  const double lines =
      fmax(all.numbers * (number_work[all.is_double] + all.moduli * modulus_work[all.is_double]) /
               (128 * units * clock),
           all.numbers * (2 * all.size + all.moduli) / device->bandwidth);
  const double join =
      elements * (all.moduli + all.size * (problem->beta[0] != 0 ? 2 : 1)) / device->bandwidth;
  return products + lines + join + 6e-6 + 6 * device->launch_seconds;
}

void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_account *account) {
  const work_of all = work(problem, config);
  const double elements = (double)problem->m * (double)problem->n, k = (double)problem->k;
  tsl_account_copies(all.numbers * all.moduli, account);
  tsl_account_copies(elements * all.moduli, account);
  tsl_account_operands(problem, (double)problem->m * k, (double)problem->n * k, account);
  tsl_account_result(problem, 1, account);
  if (device->capabilities & TSL_CAN_HOST) {
    account->computed = all.moduli * elements * k;
    account->workers = fmin(device->threads, ceil((double)problem->m / 32) * ceil((double)problem->n / 32));
    return;
  }
  const double blocks = fmin(all.shares, fmax(1, device->compute_units));
  tsl_account_groups(blocks, 384, blocks * 384, 200000, device, account);
  account->computed = all.shares * tile_m * tile_n * all.panels * panel;
  account->local = (tsl_moved){.read = all.shares * all.panels * 2 * (64 + tile_n) * panel,
                               .written = all.shares * all.panels * (tile_m + tile_n) * panel};
  account->global.read += all.shares * all.panels * (tile_m + tile_n) * panel;
  account->launches = 6;
  account->rate = 2.0 * 4096 * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
}
