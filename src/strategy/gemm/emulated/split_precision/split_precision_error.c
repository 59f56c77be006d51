/* Error bounds of split_precision (docs/lab/split_precision.md). */
#include "strategy/gemm/emulated/split_precision/split_precision.h"

#include <math.h>

/* Returns the smallest error that a product of parts can be required to have. f16: of cuda_wgmma's sums of 64
 * terms. */
static double least_product_factor(const tsl_problem *problem, const tsl_config *config) {
  enum { TERMS = 64 };
  return tsl_split_form_of(config)->parts == 1 ? tsl_accuracy_cuts_of_panels((double)problem->k, TERMS)
                                               : tsl_accuracy_cuts((double)tsl_split_depth(problem, config));
}

/* Returns the growth of the products' error. Sets the roundings of f32 of all else: products left out, alpha,
 * beta C, their sum, and tiny numbers (docs/lab/split_precision.md). */
static double other_errors(const tsl_config *config, double *roundings) {
  const tsl_split_form *form = tsl_split_form_of(config);
  *roundings = form->left_out + (form->parts == 1 ? 14 : 4);
  return form->parts == 1 ? 1.002 : 1.05;
}

/* f16: the required accuracy, or the best. */
double tsl_split_factor(const tsl_problem *problem, const tsl_config *config) {
  static const double u = 0x1p-24;
  double roundings;
  const double grown = other_errors(config, &roundings),
               least = grown * least_product_factor(problem, config) + roundings;
  return tsl_split_form_of(config)->parts == 1 && tsl_numeric_requirements_has_accuracy(&problem->ask) &&
                 problem->ask.accuracy != TSL_ACCURACY_EXACT
             ? fmax(least, tsl_numeric_requirements_error_limit(&problem->ask, problem->k, u, u) / u)
             : least;
}

/* Returns the error that a product of parts may have, relative to its own factors. */
static double product_factor(const tsl_problem *problem, const tsl_config *config) {
  double roundings;
  const double least = least_product_factor(problem, config), grown = other_errors(config, &roundings);
  return tsl_split_form_of(config)->parts == 1
             ? fmax(least, (tsl_split_factor(problem, config) - roundings) / grown)
             : least;
}

tsl_problem tsl_split_required_product(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device, double *factor) {
  tsl_problem product = tsl_split_product(problem, config, device);
  *factor = product_factor(problem, config);
  if (tsl_split_form_of(config)->parts == 1) {
    product.ask.accuracy = TSL_ACCURACY_NUMBER;
    product.ask.number = *factor * 0x1p-24;
  }
  return product;
}
