/* Estimate of an unknown time. Errors of times are factors, so the logarithm is taken as normally
 * distributed: `likely` is the median, `doubt` the standard deviation of the logarithm. A choice compares the
 * expected time, likely * exp(doubt^2 / 2): of two equal medians the more certain one wins.
 *
 * Sources of estimates (planner/predict.c has the numbers):
 *   measurement   the measured time with its spread; more doubt if it was measured on another machine
 *   near record   a measurement of another size, scaled by the model; more doubt with distance
 *   model         the model's seconds times the level of all models on the device
 *
 * The models of one device have a common error, because all depend on its clock, caches and driver.
 * Measurements determine this level; each model's own error remains as doubt. */
#ifndef TSL_PLANNER_ESTIMATE_H
#define TSL_PLANNER_ESTIMATE_H

#include <math.h>

typedef struct tsl_estimate {
  double likely; /* median of the seconds */
  double doubt;
} tsl_estimate;

static inline double tsl_estimate_expected(tsl_estimate estimate) {
  return estimate.likely * exp(estimate.doubt * estimate.doubt / 2);
}

/* Returns the product with an independent factor of median `by` and uncertainty `doubt`. */
static inline tsl_estimate tsl_estimate_times(tsl_estimate estimate, double by, double doubt) {
  return (tsl_estimate){estimate.likely * by, sqrt(estimate.doubt * estimate.doubt + doubt * doubt)};
}

/* Combines independent estimates of a factor: the mean of logarithms, weighted by precision. Doubts > 0. */
static inline tsl_estimate tsl_estimate_join(tsl_estimate estimate, tsl_estimate other) {
  const double weight = 1 / (estimate.doubt * estimate.doubt), other_weight = 1 / (other.doubt * other.doubt);
  return (tsl_estimate){
      exp((weight * log(estimate.likely) + other_weight * log(other.likely)) / (weight + other_weight)),
      sqrt(1 / (weight + other_weight))};
}

#endif
