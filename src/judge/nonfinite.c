#include "judge/nonfinite.h"

#include <float.h>
#include <math.h>

enum { FINITE = TSL_KIND_FINITE, PLUS = TSL_KIND_PLUS, MINUS = TSL_KIND_MINUS, NONE = TSL_KIND_NAN };

unsigned tsl_kind_of(double value) {
  return isnan(value) ? NONE : isfinite(value) ? FINITE : value > 0 ? PLUS : MINUS;
}

double tsl_kind_example(unsigned kinds) {
  return kinds & NONE ? (double)NAN : kinds & PLUS ? INFINITY : kinds & MINUS ? -INFINITY : 0;
}

/* Adds infinities to finite values that may exceed `largest`; FINITE stays, for other orders of the sum. */
static tsl_possible_result add_overflow(tsl_possible_result x, double largest) {
  if (!(x.kinds & FINITE))
    return x;
  if (x.value + x.error >= largest)
    x.kinds |= PLUS;
  if (x.value - x.error <= -largest)
    x.kinds |= MINUS;
  x.value = fmax(-DBL_MAX, fmin(DBL_MAX, x.value));
  x.error = fmin(DBL_MAX, x.error);
  return x;
}

tsl_possible_result tsl_possible_exact(double value) {
  return (tsl_possible_result){.kinds = tsl_kind_of(value), .value = isfinite(value) ? value : 0};
}

static unsigned negate_kinds(unsigned kinds) {
  return (kinds & (FINITE | NONE)) | (kinds & PLUS ? MINUS : 0) | (kinds & MINUS ? PLUS : 0);
}

static unsigned kinds_times_infinity(tsl_possible_result x) {
  unsigned kinds = x.kinds & ~(unsigned)FINITE;
  if (x.kinds & FINITE)
    kinds |= x.value > x.error ? PLUS : x.value < -x.error ? MINUS : PLUS | MINUS | NONE;
  if ((x.kinds & FINITE) && x.value == 0 && x.error == 0)
    kinds = (x.kinds & ~(unsigned)FINITE) | NONE;
  return kinds;
}

double tsl_underflow_error(const tsl_type_info *type, double flushes) {
  return flushes > 0 ? type->smallest / type->unit_roundoff : type->smallest;
}

tsl_possible_result tsl_possible_scaled(double scalar, tsl_possible_result x, double largest) {
  if (isnan(scalar))
    return tsl_possible_exact(scalar);
  if (scalar == 0)
    return (tsl_possible_result){.kinds = FINITE | (x.kinds & ~(unsigned)FINITE ? NONE : 0)};
  if (isinf(scalar))
    return (tsl_possible_result){.kinds = scalar > 0 ? kinds_times_infinity(x)
                                                     : negate_kinds(kinds_times_infinity(x))};
  const tsl_possible_result scaled = {.kinds = scalar > 0 ? x.kinds : negate_kinds(x.kinds),
                                      .value = scalar * x.value,
                                      .error = fabs(scalar) * x.error};
  return add_overflow(scaled, largest);
}

tsl_possible_result tsl_possible_added(tsl_possible_result x, tsl_possible_result y, double largest) {
  tsl_possible_result sum = {.value = x.value + y.value, .error = x.error + y.error};
  for (unsigned a = FINITE; a <= NONE; a *= 2)
    for (unsigned b = FINITE; b <= NONE; b *= 2)
      if ((x.kinds & a) && (y.kinds & b))
        sum.kinds |= a == FINITE ? b : b == FINITE || a == b ? a : NONE;
  return add_overflow(sum, largest);
}

void tsl_terms_add(tsl_term_extremes *seen, double x, double y, bool minus) {
  const double product = minus ? -(x * y) : x * y;
  const unsigned kind = isfinite(x) && isfinite(y) ? FINITE : tsl_kind_of(product);
  seen->nan |= kind == NONE;
  seen->plus |= kind == PLUS;
  seen->minus |= kind == MINUS;
  if (kind == FINITE && product > 0)
    seen->positive += product;
  else if (kind == FINITE)
    seen->negative -= product;
}

tsl_possible_result tsl_possible_sum(const tsl_term_extremes *seen, double slack, double scale,
                                     double largest) {
  const double limit = largest * (1 - fmin(0.5, slack)) / fmax(1, scale);
  const bool up = seen->positive >= limit, down = seen->negative >= limit;
  if (seen->nan || (seen->plus && seen->minus))
    return (tsl_possible_result){.kinds = NONE};
  if (seen->plus || seen->minus)
    return (tsl_possible_result){.kinds =
                                     (seen->plus ? PLUS : MINUS) | ((seen->plus ? down : up) ? NONE : 0)};
  const tsl_possible_result sum = {
      .kinds = FINITE | (up ? PLUS : 0) | (down ? MINUS : 0) | (up && down ? NONE : 0),
      .value = isinf(seen->positive) && isinf(seen->negative) ? 0 : seen->positive - seen->negative,
      .error = slack * (seen->positive + seen->negative)};
  return add_overflow(sum, largest);
}
