#include "core/text.h"

#include "core/locale.h"

#include <math.h>
#include <stdio.h>

const char *tsl_format_bytes(uint64_t bytes, char *out, size_t size) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = (double)bytes;
  int unit = 0;
  /* 1023.5 would print as 1024 of a unit, which is 1 of the next. */
  while (value >= 1023.5 && unit + 1 < (int)(sizeof units / sizeof units[0])) {
    value /= 1024;
    unit++;
  }
  tsl_locale_print(out, size, value >= 999.5 ? "%.0f %s" : "%.3g %s", value, units[unit]);
  return out;
}

const char *tsl_format_seconds(double seconds, char *out, size_t size) {
  static const struct {
    const char *name;
    double scale;
  } units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
  const double magnitude = fabs(seconds);
  int unit = 0;
  if (isnan(seconds)) {
    snprintf(out, size, "-");
    return out;
  }
  /* 999.5 would print as 1000 of a unit, which is 1 of the previous. */
  while (unit < 3 && magnitude > 0 && magnitude * units[unit].scale < 0.9995)
    unit++;
  tsl_locale_print(out, size, magnitude >= 999.5 ? "%.0f %s" : "%.3g %s", seconds * units[unit].scale,
                   units[unit].name);
  return out;
}
