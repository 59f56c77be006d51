#include "cublas/cublas_race.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>

/* The first round loads kernels and is not counted. After the second one, a side that takes LOST_BY times as
 * long is not tried again. */
enum { FIRST_LOOK = 4, ALL = TSL_CUBLAS_SIDES * TSL_CUBLAS_ROUNDS };
static const double lost_by = 1.5;
/* Part of cuBLAS's time that tesela may need at most: a smaller difference may be noise. */
static const double faster = 0.98;
/* Ratio of times to queue a call. A slower plan is refused, because the host may limit the program, unless
 * cuBLAS's kernels also cover the program's own work for a call (seconds). */
static const double queues_slower = 1.05, own_work = 5e-6;

bool tsl_cublas_race_begin(tsl_cublas_race *race, const tsl_cublas_device *device) {
  tesela_stream *stream;
  tesela_status status = tesela_stream_create(device->context, device->name, &stream);
  if (status != TESELA_OK)
    return false;
  for (int i = 0; i < ALL && status == TESELA_OK; i++) {
    status = tesela_event_create(stream, &race->begin[i % 2][i / 2]);
    if (status == TESELA_OK)
      status = tesela_event_create(stream, &race->end[i % 2][i / 2]);
  }
  tesela_stream_destroy(stream);
  return status == TESELA_OK;
}

bool tsl_cublas_race_start(tsl_cublas_race *race, tsl_cublas_stream *stream, tsl_cublas_side *side) {
  const int sample = race->samples;
  *side = (tsl_cublas_side)(sample % 2);
  race->stream = stream;
  const bool is_good = tesela_event_record(race->begin[*side][sample / 2], stream->stream) == TESELA_OK;
  race->queued_at = tsl_clock();
  return is_good;
}

bool tsl_cublas_race_end(tsl_cublas_race *race) {
  const int sample = race->samples++;
  race->host[sample % 2][sample / 2] = tsl_clock() - race->queued_at;
  return tesela_event_record(race->end[sample % 2][sample / 2], race->stream->stream) == TESELA_OK;
}

bool tsl_cublas_race_is_due(const tsl_cublas_race *race) {
  return race->samples == FIRST_LOOK || race->samples == ALL;
}

/* Reads the least time of a side's rounds but the first: others may have waited for the host. Returns false
 * if a time cannot be read. */
static bool read_least(const tsl_cublas_race *race, tsl_cublas_side side, double *least) {
  const int count = race->samples / 2 - 1;
  *least = INFINITY;
  for (int i = 0; i < count; i++) {
    double seconds;
    if (tesela_event_seconds(race->begin[side][i + 1], race->end[side][i + 1], &seconds) != TESELA_OK)
      return false;
    *least = fmin(*least, seconds);
  }
  return true;
}

/* Returns the least seconds to queue a call of the rounds but the first. */
static double least_host(const tsl_cublas_race *race, tsl_cublas_side side) {
  double least = race->host[side][1];
  for (int i = 2; i < race->samples / 2; i++)
    least = fmin(least, race->host[side][i]);
  return least;
}

static void destroy_events(tsl_cublas_race *race) {
  for (int i = 0; i < ALL; i++) {
    tesela_event_destroy(race->begin[i % 2][i / 2]);
    tesela_event_destroy(race->end[i % 2][i / 2]);
  }
}

tsl_cublas_verdict tsl_cublas_race_compare(tsl_cublas_race *race, char *text, size_t text_bytes) {
  double ours = 0, theirs = 0;
  const double our_host = least_host(race, TSL_CUBLAS_TESELA), their_host = least_host(race, TSL_CUBLAS_PEER);
  const bool is_read =
      read_least(race, TSL_CUBLAS_TESELA, &ours) && read_least(race, TSL_CUBLAS_PEER, &theirs);
  snprintf(text, text_bytes, "%.2f us against %.2f us, queued in %.2f us against %.2f us", 1e6 * ours,
           1e6 * theirs, 1e6 * our_host, 1e6 * their_host);
  if (is_read && race->samples < ALL && ours < lost_by * theirs)
    return TSL_CUBLAS_GO_ON;
  destroy_events(race);
  if (!is_read)
    return TSL_CUBLAS_BROKEN;
  const bool queues_well = our_host <= queues_slower * their_host || our_host + own_work <= theirs;
  return ours < faster * theirs && queues_well ? TSL_CUBLAS_WON : TSL_CUBLAS_LOST;
}
