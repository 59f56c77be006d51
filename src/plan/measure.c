#include "plan/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WARMUP = 1, DEFAULT_SAMPLES_MIN = 5, DEFAULT_SAMPLES_MAX = 100, LARGEST_BATCH = 10000 };
static const double default_seconds_max = 2, default_noise = 0.02;
/* A host clock's reading costs tens of nanoseconds: shorter runs are timed several at once. */
static const double shortest_sample = 20e-6;

const tsl_measurement tsl_not_measured = {.median = NAN,
                                          .fastest = NAN,
                                          .slowest = NAN,
                                          .first_quartile = NAN,
                                          .third_quartile = NAN,
                                          .spread = NAN,
                                          .wall = NAN};

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Between neighbours in proportion, as is usual for quartiles of few samples. */
static double quantile(const double *sorted, int count, double part) {
  const double place = part * (count - 1);
  const int below = (int)place, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

double tsl_measure_median(double *samples, int count, double *spread) {
  if (count <= 0) {
    *spread = 0;
    return 0;
  }
  qsort(samples, (size_t)count, sizeof *samples, ascending);
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

typedef struct sampling {
  tsl_plan *plan;
  const tsl_operands *operands;
  int batch; /* runs a sample, on the cpu */
  double *compute, *wall, *sorted;
  int count;
} sampling;

static bool by_host_clock(const sampling *job) {
  return job->plan->work.device->capabilities & TSL_CAN_HOST;
}

/* Devices have their own clock; on the cpu, `batch` runs share two readings of the host's. */
static tesela_status take_sample(const sampling *job, double *compute, double *wall) {
  tsl_phases phases;
  if (!by_host_clock(job)) {
    TSL_TRY(tsl_plan_run(job->plan, job->operands, &phases));
    *compute = phases.compute;
    *wall = phases.total;
    return TESELA_OK;
  }
  const double start = tsl_clock();
  for (int i = 0; i < job->batch; i++)
    TSL_TRY(tsl_plan_run(job->plan, job->operands, NULL));
  *compute = *wall = (tsl_clock() - start) / job->batch;
  return TESELA_OK;
}

static tesela_status warm_up(sampling *job, int runs) {
  double compute = 0, wall = 0;
  for (int i = 0; i < runs; i++)
    TSL_TRY(take_sample(job, &compute, &wall));
  while (by_host_clock(job) && wall * job->batch < shortest_sample && job->batch < LARGEST_BATCH) {
    job->batch *= 2;
    TSL_TRY(take_sample(job, &compute, &wall));
  }
  return TESELA_OK;
}

static double spread_now(const sampling *job) {
  double spread;
  memcpy(job->sorted, job->compute, (size_t)job->count * sizeof *job->sorted);
  tsl_measure_median(job->sorted, job->count, &spread);
  return spread;
}

tesela_status tsl_measure_plan(tsl_plan *plan, const tsl_operands *operands,
                               const tsl_measure_options *options, tsl_measurement *out) {
  const tsl_measure_options none = {0}, *given = options ? options : &none;
  const int most = given->samples_max > 0 ? given->samples_max : DEFAULT_SAMPLES_MAX;
  const int asked = given->samples_min > 0 ? given->samples_min : DEFAULT_SAMPLES_MIN;
  const int least = asked < most ? asked : most;
  const double seconds_max = given->seconds_max > 0 ? given->seconds_max : default_seconds_max;
  const double noise = given->noise > 0 ? given->noise : default_noise;
  sampling job = {.plan = plan, .operands = operands, .batch = 1};
  void *block;
  *out = (tsl_measurement){0};
  TSL_TRY(tsl_alloc(3 * (size_t)most * sizeof *job.compute, "samples", &block));
  job.compute = block;
  job.wall = job.compute + most;
  job.sorted = job.wall + most;
  tesela_status status;
  const double start = tsl_clock();
  TSL_GO(warm_up(&job, given->warmup > 0 ? given->warmup : DEFAULT_WARMUP));
  while (job.count < most) {
    TSL_GO(take_sample(&job, &job.compute[job.count], &job.wall[job.count]));
    job.count++;
    if (tsl_clock() - start > seconds_max || (job.count >= least && spread_now(&job) <= noise))
      break;
  }
  tsl_measure_summarise(job.compute, job.wall, job.count, noise, out);
  out->batch = job.batch;
out:
  tsl_free(block);
  return status;
}
