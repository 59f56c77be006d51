/* Statistics of time samples: median, quartiles, spread. */
#ifndef TSL_TUNE_TUNE_MEASURE_H
#define TSL_TUNE_TUNE_MEASURE_H

#include <stdbool.h>

typedef struct tsl_measurement {
  double median, fastest, slowest; /* seconds of the compute phase, by the device's clock */
  double first_quartile, third_quartile;
  double spread; /* interquartile range over the median */
  double wall;   /* median seconds of the whole run by the host's clock, launch and wait included */
  int samples;
  int batch;  /* runs timed together per sample */
  bool noisy; /* a limit came before the noise goal */
} tsl_measurement;

/* NaN values and no samples. */
extern const tsl_measurement tsl_not_measured;

/* Returns the median of `count` samples, which are sorted in place. *spread: interquartile range
 * over median. Quartiles are interpolated. Without samples both are 0. */
double tsl_measure_median(double *samples, int count, double *spread);

/* Fills in all members except `batch` from at least one sample of compute and wall seconds, which
 * are sorted in place. */
void tsl_measure_summarise(double *compute, double *wall, int count, double noise, tsl_measurement *out);

#endif
