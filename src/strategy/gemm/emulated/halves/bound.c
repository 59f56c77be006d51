/* Error bounds of halves and of its product; docs/lab/halves.md has the proof. */
#include "strategy/gemm/emulated/halves/halves.h"

#include <math.h>

/* Roundings of f32: of factors; of alpha, beta C, their sum, tiny numbers. Growth of the product's error. */
static const double factors = 16388, beside = 14, grown = 1.002;

/* Returns the smallest error that a child plan can be required to have: of cuda_wgmma's sums of 64 terms. */
static double least_product_factor(const tsl_problem *problem) {
  enum { TERMS = 64 };
  return tsl_accuracy_cuts_of_panels((double)problem->k, TERMS);
}

double tsl_halves_factor(const tsl_problem *problem) {
  static const double u = 0x1p-24;
  const double least = factors + beside + grown * least_product_factor(problem);
  return tsl_numeric_requirements_has_accuracy(&problem->ask) && problem->ask.accuracy != TSL_ACCURACY_EXACT
             ? fmax(least, tsl_numeric_requirements_error_limit(&problem->ask, problem->k, u, u) / u)
             : least;
}

double tsl_halves_product_factor(const tsl_problem *problem) {
  return fmax(least_product_factor(problem), (tsl_halves_factor(problem) - factors - beside) / grown);
}
