#include "cublas/cublas_race.h"

#include "core/clock.h"
#include "cublas/cublas_functions.h"
#include "cublas/cublas_race_rule.h"

#include <stdio.h>

/* The first round loads kernels and is not counted. After the second one, a plan that takes `lost_by` times
 * as long is given up. */
enum { FIRST_LOOK = 4, ALL = TSL_CUBLAS_SIDES * TSL_CUBLAS_ROUNDS };
static const double lost_by = 2;

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
  race->was_idle[*side][sample / 2] = tsl_cublas_is_idle(stream->native);
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

/* Reads a side's least times, of all rounds but the first. An idle device waits for the host between the
 * events, so the host's time is subtracted. Returns false if a time cannot be read. */
static bool read_times(const tsl_cublas_race *race, tsl_cublas_side side, tsl_cublas_times *times) {
  const int count = race->samples / 2;
  *times = (tsl_cublas_times){INFINITY, INFINITY};
  for (int i = 1; i < count; i++)
    times->host = fmin(times->host, race->host[side][i]);
  for (int i = 1; i < count; i++) {
    double seconds;
    if (tesela_event_seconds(race->begin[side][i], race->end[side][i], &seconds) != TESELA_OK)
      return false;
    times->device = fmin(times->device, seconds - (race->was_idle[side][i] ? times->host : 0));
  }
  times->device = fmax(times->device, 0);
  return true;
}

/* Returns true if a counted call found the stream at work. */
static bool was_busy(const tsl_cublas_race *race) {
  for (int sample = TSL_CUBLAS_SIDES; sample < race->samples; sample++)
    if (!race->was_idle[sample % 2][sample / 2])
      return true;
  return false;
}

static void destroy_events(tsl_cublas_race *race) {
  for (int i = 0; i < ALL; i++) {
    tesela_event_destroy(race->begin[i % 2][i / 2]);
    tesela_event_destroy(race->end[i % 2][i / 2]);
  }
}

tsl_cublas_verdict tsl_cublas_race_compare(tsl_cublas_race *race, bool *suits_graphs, char *text,
                                           size_t text_bytes) {
  tsl_cublas_times ours = {0, 0}, theirs = {0, 0};
  const bool is_read =
      read_times(race, TSL_CUBLAS_TESELA, &ours) && read_times(race, TSL_CUBLAS_PEER, &theirs);
  snprintf(text, text_bytes, "%.2f us against %.2f us, queued in %.2f us against %.2f us", 1e6 * ours.device,
           1e6 * theirs.device, 1e6 * ours.host, 1e6 * theirs.host);
  if (is_read && race->samples < ALL &&
      tsl_cublas_call_seconds(ours, 0) < lost_by * tsl_cublas_call_seconds(theirs, 0))
    return TSL_CUBLAS_GO_ON;
  destroy_events(race);
  if (!is_read)
    return TSL_CUBLAS_BROKEN;
  *suits_graphs = tsl_cublas_suits_graphs(ours, theirs);
  return tsl_cublas_is_faster(ours, theirs, was_busy(race)) ? TSL_CUBLAS_WON : TSL_CUBLAS_LOST;
}
