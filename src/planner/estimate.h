/* Estimates: a time that is not known, as one expected number with an uncertainty. Times err by factors, so
 * what is normal is their logarithm: `likely` is as probably too high as too low, and `doubt` the logarithm's
 * standard deviation (0.1: two times out of three within a tenth). What counts in a choice is the expected
 * time, likely * exp(doubt^2 / 2): of two that are equally likely, the surer one.
 *
 * Where estimates come from (planner/predict.c has the numbers):
 *   a measurement    what was measured, with its spread; more doubt where it was measured elsewhere
 *   one nearby       the same, scaled as the model grows, with more doubt the farther it is
 *   a model          the model's seconds times the level of all models on the device. The models of one
 * device err alike, since its clock, caches and driver are behind all of them; what was measured there tells
 * their level, and what the models err beside it remains as doubt. */
#ifndef TSL_PLANNER_ESTIMATE_H
#define TSL_PLANNER_ESTIMATE_H

#include <math.h>

typedef struct tsl_estimate {
  double likely; /* seconds */
  double doubt;
} tsl_estimate;

static inline double tsl_estimate_expected(tsl_estimate estimate) {
  return estimate.likely * exp(estimate.doubt * estimate.doubt / 2);
}

/* The same times a factor that is likely `by`, in doubt by `doubt`, and independent. */
static inline tsl_estimate tsl_estimate_times(tsl_estimate estimate, double by, double doubt) {
  return (tsl_estimate){estimate.likely * by, sqrt(estimate.doubt * estimate.doubt + doubt * doubt)};
}

/* A factor that several independent estimates were made of, one after the other: their mean by logarithms,
 * each with the weight of its precision. Starts as the first, with a doubt above 0. */
static inline tsl_estimate tsl_estimate_join(tsl_estimate estimate, tsl_estimate other) {
  const double one = 1 / (estimate.doubt * estimate.doubt), two = 1 / (other.doubt * other.doubt);
  return (tsl_estimate){exp((one * log(estimate.likely) + two * log(other.likely)) / (one + two)),
                        sqrt(1 / (one + two))};
}

#endif
