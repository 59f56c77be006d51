#include "io/cast.h"

#include <math.h>

#include "core/status.h"
#include "io/io_number.h"

/* Returns true if the target type holds every value of the source type. */
static bool always_fits(const tsl_type_info *from, const tsl_type_info *info) {
  if (from->type == info->type)
    return true;
  if (from->is_complex && !info->is_complex)
    return false;
  if (info->is_integer)
    return from->is_integer && from->size < info->size;
  return from->largest <= info->largest;
}

static bool component_fits(double value, double stored, bool integer) {
  return integer ? stored == value : !isfinite(value) || isfinite(stored);
}

bool tsl_cast(tesela_type from, const void *source, tesela_type type, void *target, int64_t step,
              size_t count, size_t *bad) {
  enum { CHUNK = 256 };
  const tsl_type_info *const from_info = tsl_type(from), *const to_info = tsl_type(type);
  if (always_fits(from_info, to_info)) {
    tsl_type_convert(from, source, 1, type, target, step, count);
    return true;
  }
  const char *next = source;
  char *out = target;
  for (size_t done = 0; done < count; done += CHUNK) {
    const size_t chunk = count - done < CHUNK ? count - done : CHUNK;
    double values[CHUNK][2], stored[CHUNK][2];
    tsl_type_convert(from, next, 1, TESELA_C128, values, 1, chunk);
    tsl_type_convert(from, next, 1, type, out, step, chunk);
    tsl_type_convert(type, out, step, TESELA_C128, stored, 1, chunk);
    for (size_t i = 0; i < chunk; i++) {
      const bool imaginary_fits = to_info->is_complex
                                      ? component_fits(values[i][1], stored[i][1], to_info->is_integer)
                                      : values[i][1] == 0;
      if (!component_fits(values[i][0], stored[i][0], to_info->is_integer) || !imaginary_fits) {
        *bad = done + i;
        return false;
      }
    }
    next += chunk * from_info->size;
    out += (int64_t)chunk * step * (int64_t)to_info->size;
  }
  return true;
}

tesela_status tsl_cast_fail(const double value[2], tesela_type type) {
  const tsl_type_info *const info = tsl_type(type);
  char real[TSL_NUMBER_MAX], imaginary[TSL_NUMBER_MAX];
  const int real_length = (int)tsl_number_write(TESELA_F64, value[0], real);
  const int imaginary_length = (int)tsl_number_write(TESELA_F64, fabs(value[1]), imaginary);
  if (!info->is_complex && !(value[1] == 0))
    return tsl_fail(
        TESELA_BAD_INPUT, "%.*s%c%.*si does not fit %s, which has no imaginary part: c64 and c128 have",
        real_length, real, signbit(value[1]) ? '-' : '+', imaginary_length, imaginary, info->name);
  double out[2];
  unsigned char bytes[16];
  tsl_type_store(type, bytes, value);
  tsl_type_load(type, bytes, out);
  const bool first = !component_fits(value[0], out[0], info->is_integer);
  const char *const why = info->is_integer ? "which holds only integers of its range"
                                           : "whose largest number is smaller: use a wider type";
  return tsl_fail(TESELA_BAD_INPUT, "%.*s does not fit %s, %s", first ? real_length : imaginary_length,
                  first ? real : imaginary, info->name, why);
}
