/* What a product is expected to take, and what it moves. */
#include "strategy/account.h"
#include "strategy/gemm/complex_real/complex_real.h"

#include "host/split.h"

#include <math.h>

/* Of the device's bandwidth what kernels have that only move; of its multiply-adds what the real product has without an ask, which is not
 * asked for: models of all strategies that could multiply it take as long to ask as a small product does to run. */
static const double streamed = 0.7, usual = 0.5;
/* The model of the real product and that of the device's complex kernels are both off: this beats these by that much. */
static const double doubt = 1.15;

/* Whether a strategy cuts factors where an ask lets it: those are what complex kernels have no part in. */
static bool cuts(const tsl_strategy *strategy, const tsl_problem *real) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  return !strategy->vendor.load && !strategy->splits.parts && strategy->op == real->op &&
         tsl_strategy_promises(strategy, real, &config).cuts;
}

/* The fastest model's of those. */
static double seconds_cut(const tsl_problem *real, tsl_accuracy most, const tsl_device *device) {
  const tsl_strategy *strategy;
  double least = INFINITY;
  for (int i = 0; most.cuts && (strategy = tsl_strategy_among(i)) != NULL; i++)
    for (tsl_walk walk = {.begun = false};
         cuts(strategy, real) && tsl_strategy_walk(strategy, real, device, &walk);) {
      if (tsl_strategy_refuse(strategy, real, &walk.config, device))
        continue;
      const tsl_accuracy promised = tsl_strategy_promises(strategy, real, &walk.config);
      if (promised.factor <= most.factor && promised.flushes <= most.flushes)
        least = fmin(least, tsl_strategy_seconds(strategy, real, &walk.config, device));
    }
  return least;
}

static double seconds_of(const tsl_problem *real, tsl_accuracy most, const tsl_device *device) {
  enum { TILE = 128 };
  const double m = (double)tsl_round_up(real->m, TILE), n = (double)tsl_round_up(real->n, TILE),
               peak = real->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double operations = 2 * m * n * (double)real->k * (double)tsl_problem_batch(real);
  return fmin(seconds_cut(real, most, device),
              device->launch_seconds + (peak > 0 ? operations / (usual * peak) : 0));
}

/* Elements of real numbers that are read and written beside the product. */
static double moved(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const double elements = (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem),
               written = (double)(way->expanded.elements + way->copy.elements);
  const double result = !way->is_staged ? 0 : problem->beta[0] != 0 || problem->beta[1] != 0 ? 6 : 4;
  return 1.5 * (double)way->expanded.elements + 2 * (written - (double)way->expanded.elements) +
         result * elements;
}

static int launches(const tsl_complex_real_way *way) {
  return !way->is_empty + way->copies + way->is_staged;
}

double tsl_complex_real_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const tsl_complex_real_way way = tsl_complex_real_way_of(problem, config);
  const tsl_problem real = tsl_complex_real_product(problem, config, &way);
  const double size = (double)tsl_type(problem->c.type)->size / 2,
               product = way.is_empty ? 0 : seconds_of(&real, tsl_complex_real_of_product(problem), device);
  return doubt * (product + launches(&way) * device->launch_seconds +
                  (device->bandwidth > 0 ? moved(problem, &way) * size / (streamed * device->bandwidth) : 0));
}

/* What the product moves beyond that is its plan's to tell. */
void tsl_complex_real_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_account *account) {
  const tsl_complex_real_way way = tsl_complex_real_way_of(problem, config);
  const double size = (double)tsl_type(problem->c.type)->size / 2;
  tsl_account_operands(problem, (double)problem->m * (double)problem->k,
                       (double)problem->k * (double)problem->n, account);
  tsl_account_result(problem, 1, account);
  tsl_account_copies(size * moved(problem, &way) / 2, account);
  account->launches = launches(&way) + !way.is_empty;
  account->workers = fmin(device->compute_units,
                          (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem));
}
