#include "tune/roofs/bench.h"

#include "core/clock.h"
#include "core/status.h"
#include "tune/tune_measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REPEATS_MIN = 3, REPEATS_MAX = 256 };
/* Maximum relative spread of the repeats, above which they continue up to TIME_LIMIT times as long. */
static const double noise = 0.05;
enum { TIME_LIMIT = 4 };
int64_t tsl_roofs_mask(int64_t count) {
  int64_t mask = 4095;
  while (mask > 1 && mask * count > TSL_ROOFS_EXACT)
    mask /= 2;
  return mask;
}

void tsl_roofs_set_missing(tsl_roofs *roofs, const char *format, ...) {
  va_list arguments;
  if (roofs->why[0] != '\0')
    return;
  va_start(arguments, format);
  vsnprintf(roofs->why, sizeof roofs->why, format, arguments);
  va_end(arguments);
}

/* Returns true if there are enough repeats. `sorted` is scratch for `count` samples. */
static bool is_enough(const double *samples, int count, double *sorted, double elapsed, double seconds) {
  double spread;
  if (count < REPEATS_MIN || elapsed < seconds)
    return count == REPEATS_MAX;
  memcpy(sorted, samples, (size_t)count * sizeof *samples);
  tsl_measure_median(sorted, count, &spread);
  return count == REPEATS_MAX || spread <= noise || elapsed >= TIME_LIMIT * seconds;
}

tesela_status tsl_roofs_repeat(tsl_roofs_run run, void *argument, double work, double seconds,
                               tsl_roof *roof) {
  double samples[REPEATS_MAX], sorted[REPEATS_MAX], one;
  int count = 0;
  TSL_TRY(run(argument, &one));
  const double start = tsl_clock();
  while (!is_enough(samples, count, sorted, tsl_clock() - start, seconds)) {
    TSL_TRY(run(argument, &samples[count]));
    count++;
  }
  tsl_roof found = {.repeats = count};
  tsl_measure_median(samples, count, &found.spread); /* sorts the samples */
  if (samples[0] <= 0)
    return tsl_fail(TESELA_DEVICE_FAILED, "the device's clock did not advance while a roof was measured");
  found.rate = work / samples[0];
  if (!(roof->rate >= found.rate))
    *roof = found;
  return TESELA_OK;
}
