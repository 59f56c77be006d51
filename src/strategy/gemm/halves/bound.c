/* What halves guarantees, and what of it its product may err by: docs/lab/halves.md has the proof. */
#include "strategy/gemm/halves/halves.h"

#include <math.h>

/* In roundings of f32: factors; alpha, beta C and their sum, and numbers that are tiny; and what errors of a
 * product are worth whose factors are rounded, or tiny. */
static const double factors = 16388, beside = 14, grown = 1.002;

/* The least that a child is asked for: what cuda_wgmma guarantees of sums of 64 terms that are added to
 * others. */
static double least_product_factor(const tsl_problem *problem) {
  enum { TERMS = 64 };
  return tsl_accuracy_cuts_of_panels((double)problem->k, TERMS);
}

double tsl_halves_factor(const tsl_problem *problem) {
  static const double u = 0x1p-24;
  const double least = factors + beside + grown * least_product_factor(problem);
  return tsl_numeric_requirements_has_accuracy(&problem->ask) && problem->ask.accuracy != TSL_ACCURACY_EXACT
             ? fmax(least, tsl_numeric_requirements_allows(&problem->ask, problem->k, u, u) / u)
             : least;
}

double tsl_halves_product_factor(const tsl_problem *problem) {
  return fmax(least_product_factor(problem), (tsl_halves_factor(problem) - factors - beside) / grown);
}
