#include "cublas/cublas_race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first round loads kernels and is not counted. After the second one, a side that takes LOST_BY times as
 * long is not tried again. */
enum { FIRST_LOOK = 4, ALL = TSL_CUBLAS_SIDES * TSL_CUBLAS_ROUNDS };
static const double lost_by = 1.5;
/* Part of cuBLAS's time that tesela may need at most: a smaller difference may be noise. */
static const double faster = 0.98;

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
  return tesela_event_record(race->begin[*side][sample / 2], stream->stream) == TESELA_OK;
}

bool tsl_cublas_race_end(tsl_cublas_race *race) {
  const int sample = race->samples++;
  return tesela_event_record(race->end[sample % 2][sample / 2], race->stream->stream) == TESELA_OK;
}

bool tsl_cublas_race_is_due(const tsl_cublas_race *race) {
  return race->samples == FIRST_LOOK || race->samples == ALL;
}

static int compare_numbers(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Reads the median of a side's rounds but the first. Returns false if a time cannot be read. */
static bool read_median(const tsl_cublas_race *race, tsl_cublas_side side, double *median) {
  const int count = race->samples / 2 - 1;
  double seconds[TSL_CUBLAS_ROUNDS];
  for (int i = 0; i < count; i++)
    if (tesela_event_seconds(race->begin[side][i + 1], race->end[side][i + 1], &seconds[i]) != TESELA_OK)
      return false;
  qsort(seconds, (size_t)count, sizeof *seconds, compare_numbers);
  *median = seconds[count / 2];
  return true;
}

static void destroy_events(tsl_cublas_race *race) {
  for (int i = 0; i < ALL; i++) {
    tesela_event_destroy(race->begin[i % 2][i / 2]);
    tesela_event_destroy(race->end[i % 2][i / 2]);
  }
}

tsl_cublas_verdict tsl_cublas_race_compare(tsl_cublas_race *race, char *text, size_t text_bytes) {
  double ours = 0, theirs = 0;
  const bool is_read =
      read_median(race, TSL_CUBLAS_TESELA, &ours) && read_median(race, TSL_CUBLAS_PEER, &theirs);
  snprintf(text, text_bytes, "%.2f us against %.2f us", 1e6 * ours, 1e6 * theirs);
  if (is_read && race->samples < ALL && ours < lost_by * theirs)
    return TSL_CUBLAS_GO_ON;
  destroy_events(race);
  if (!is_read)
    return TSL_CUBLAS_BROKEN;
  return ours < faster * theirs ? TSL_CUBLAS_WON : TSL_CUBLAS_LOST;
}
