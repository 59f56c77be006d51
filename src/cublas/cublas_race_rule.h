/* Rule of a race: which library is faster for the program.
 *
 * A program that queues calls waits for the slower one of host and device. It may also do work of its own for
 * each call, or wait for each result. tesela must win the first case, and lose none. If calls found the
 * device at work, tesela must not be slower there, whatever the host needs. */
#ifndef TSL_CUBLAS_CUBLAS_RACE_RULE_H
#define TSL_CUBLAS_CUBLAS_RACE_RULE_H

#include <math.h>
#include <stdbool.h>

/* Seconds of a call: of the host to queue it, and of the device to compute it. */
typedef struct tsl_cublas_times {
  double host, device;
} tsl_cublas_times;

/* Part of cuBLAS's time that tesela may need at most: a smaller difference may be noise. */
static const double tsl_cublas_faster = 0.98;
/* Seconds of a program's own work for a call. */
static const double tsl_cublas_own_work = 5e-6;

/* Returns the seconds of a call in a row of calls. */
static inline double tsl_cublas_call_seconds(tsl_cublas_times times, double own_work) {
  return fmax(times.host + own_work, times.device);
}

static inline bool tsl_cublas_is_faster(tsl_cublas_times ours, tsl_cublas_times theirs, bool was_busy) {
  return (!was_busy || ours.device <= theirs.device) &&
         tsl_cublas_call_seconds(ours, 0) < tsl_cublas_faster * tsl_cublas_call_seconds(theirs, 0) &&
         tsl_cublas_call_seconds(ours, tsl_cublas_own_work) <=
             tsl_cublas_call_seconds(theirs, tsl_cublas_own_work) &&
         ours.host + ours.device <= theirs.host + theirs.device;
}

/* Returns true if tesela also suits graphs, whose launches need no host. */
static inline bool tsl_cublas_suits_graphs(tsl_cublas_times ours, tsl_cublas_times theirs) {
  return ours.device <= theirs.device;
}

#endif
