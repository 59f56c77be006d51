/* What a product is expected to take, and what it moves. */
#include "strategy/account.h"
#include "strategy/gemm/complex_real/complex_real.h"

#include "host/split.h"

#include <math.h>

/* Of the device's bandwidth what kernels have that only move. */
static const double streamed = 0.7;
/* The model of the real product and that of the device's complex kernels are both off: what is nobody's wish beats these by that much. */
static const double doubt = 1.15;

/* The fastest model's of those that err by no more than the product may. */
static double seconds_of(const tsl_problem *real, tsl_accuracy most, const tsl_device *device) {
  const tsl_strategy *strategy;
  double least = INFINITY;
  for (int i = 0; (strategy = tsl_strategy_among(i)) != NULL; i++)
    for (tsl_walk walk = {.begun = false}; !strategy->vendor.load && !strategy->splits.parts &&
                                           tsl_strategy_walk(strategy, real, device, &walk);) {
      if (tsl_strategy_refuse(strategy, real, &walk.config, device))
        continue;
      const tsl_accuracy promised = tsl_strategy_promises(strategy, real, &walk.config);
      if (promised.factor <= most.factor && promised.flushes <= most.flushes)
        least = fmin(least, tsl_strategy_seconds(strategy, real, &walk.config, device));
    }
  return least;
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
