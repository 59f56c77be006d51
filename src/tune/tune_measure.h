#ifndef TSL_TUNE_TUNE_MEASURE_H
#define TSL_TUNE_TUNE_MEASURE_H

#include <stdbool.h>

typedef struct tsl_measurement {
  double median, fastest, slowest; /* seconds of the compute phase, by the device's clock */
  double first_quartile, third_quartile;
  double spread; /* interquartile range over the median */
  double wall;   /* median seconds of the run by the host's clock, with launch and wait */
  int samples;
  int batch;  /* runs per sample */
  bool noisy; /* a limit came before the noise goal */
} tsl_measurement;

/* NaN values and no samples. */
extern const tsl_measurement tsl_not_measured;

/* Sorts the samples and returns their median. *spread: interquartile range over median. 0 without samples. */
double tsl_measure_median(double *samples, int count, double *spread);

/* Fills in all but `batch` from at least one sample of compute and wall seconds, sorted in place. */
void tsl_measure_summarise(double *compute, double *wall, int count, double noise, tsl_measurement *out);

#endif
