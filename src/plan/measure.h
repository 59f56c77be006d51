/* The stopwatch: warm-up, repeats until the median stands still, median and spread. */
#ifndef TSL_PLAN_MEASURE_H
#define TSL_PLAN_MEASURE_H

#include "plan/plan.h"

typedef struct tsl_measure_options {
  int warmup;         /* runs not counted; 0: 1 */
  int samples_min;    /* 0: 5 */
  int samples_max;    /* 0: 100 */
  double seconds_max; /* stop after this long, once there is a sample; 0: 2 */
  double noise;       /* stop when the interquartile range over the median is below this; 0: 0.02 */
} tsl_measure_options;

typedef struct tsl_measurement {
  double median, fastest, slowest; /* seconds of the compute phase, by the device's clock */
  double first_quartile, third_quartile;
  double spread; /* interquartile range over the median */
  double wall;   /* median seconds of the whole run by the host's clock: launches, waits, and copies if any */
  int samples;
  int batch;  /* runs that were timed together in each sample */
  bool noisy; /* the limit came before the noise goal */
} tsl_measurement;

/* NaN, and no samples. */
extern const tsl_measurement tsl_not_measured;

/* Measures runs of a plan on operands that the caller made. */
tesela_status tsl_measure_plan(tsl_plan *plan, const tsl_operands *operands,
                               const tsl_measure_options *options, tsl_measurement *out);

/* Median and interquartile range over median of `count` samples, which are sorted in place. */
double tsl_measure_median(double *samples, int count, double *spread);
/* All of a measurement but its batch from at least one sample each of compute and wall seconds, which are sorted in
 * place. */
void tsl_measure_summarise(double *compute, double *wall, int count, double noise, tsl_measurement *out);

#endif
