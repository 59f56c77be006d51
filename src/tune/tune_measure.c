#include "tune/tune_measure.h"

#include <math.h>
#include <stdlib.h>

const tsl_measurement tsl_not_measured = {.median = NAN,
                                          .fastest = NAN,
                                          .slowest = NAN,
                                          .first_quartile = NAN,
                                          .third_quartile = NAN,
                                          .spread = NAN,
                                          .wall = NAN};

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Interpolates between neighbours. */
static double quantile(const double *sorted, int count, double fraction) {
  const double place = fraction * (count - 1);
  const int below = (int)place, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

double tsl_measure_median(double *samples, int count, double *spread) {
  if (count <= 0) {
    *spread = 0;
    return 0;
  }
  qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
  const double median = quantile(samples, count, 0.5);
  *spread = median > 0 ? (quantile(samples, count, 0.75) - quantile(samples, count, 0.25)) / median : 0;
  return median;
}

void tsl_measure_summarise(double *compute, double *wall, int count, double noise, tsl_measurement *out) {
  double ignored;
  out->samples = count;
  out->median = tsl_measure_median(compute, count, &out->spread);
  out->fastest = compute[0];
  out->slowest = compute[count - 1];
  out->first_quartile = quantile(compute, count, 0.25);
  out->third_quartile = quantile(compute, count, 0.75);
  out->wall = tsl_measure_median(wall, count, &ignored);
  out->noisy = out->spread > noise;
}
