#include "bounds/wide.h"

#include <math.h>
#include <string.h>

void wide_clear(wide *sum) {
  memset(sum, 0, sizeof *sum);
}

/* value 2^exponent, |value| < 2^54. */
static void add_at(wide *sum, int64_t value, int exponent) {
  const uint64_t mask = UINT32_MAX, size = (uint64_t)(value < 0 ? -value : value);
  const int place = exponent - WIDE_LOW, digit = place / 32, shift = place % 32;
  const uint64_t low = (size & 0x7ffffff) << shift, high = (size >> 27) << ((shift + 27) % 32);
  const int from = digit + (shift + 27) / 32, sign = value < 0 ? -1 : 1;
  sum->digits[digit] += sign * (int64_t)(low & mask);
  sum->digits[digit + 1] += sign * (int64_t)(low >> 32);
  sum->digits[from] += sign * (int64_t)(high & mask);
  sum->digits[from + 1] += sign * (int64_t)(high >> 32);
}

/* x as whole 2^exponent. */
static int64_t whole_of(double x, int *exponent) {
  const double fraction = frexp(x, exponent);
  *exponent -= 53;
  return (int64_t)ldexp(fraction, 53);
}

void wide_add(wide *sum, double x) {
  int exponent;
  const int64_t value = whole_of(x, &exponent);
  if (value != 0)
    add_at(sum, value, exponent);
}

void wide_add_product(wide *sum, double x, double y) {
  int x_exponent, y_exponent;
  const int64_t a = whole_of(x, &x_exponent), b = whole_of(y, &y_exponent);
  if (a == 0 || b == 0)
    return;
  /* Halves of 27 bits and the rest, whose sign is the number's. */
  const int64_t unit = 1 << 27, a_high = a / unit, a_low = a % unit, b_high = b / unit, b_low = b % unit;
  /* Subnormal numbers have their zeros in front, so that no digit lies below the lowest. */
  const int exponent = x_exponent + y_exponent;
  add_at(sum, a_high * b_high, exponent + 54);
  add_at(sum, a_high * b_low, exponent + 27);
  add_at(sum, a_low * b_high, exponent + 27);
  add_at(sum, a_low * b_low, exponent);
}

/* Digits from 0 to 2^32 - 1, the last of any sign. */
static void settle(wide *sum) {
  int64_t carry = 0;
  for (int i = 0; i < WIDE_DIGITS - 1; i++) {
    const int64_t all = sum->digits[i] + carry, low = (int64_t)((uint64_t)all & UINT32_MAX);
    sum->digits[i] = low;
    carry = (all - low) / ((int64_t)1 << 32);
  }
  sum->digits[WIDE_DIGITS - 1] += carry;
}

/* Returns the index of the most significant digit that is not 0 in a normalized number; -1: none.
 * Stores the absolute value in `out`. */
static int magnitude(const wide *sum, wide *out, int *sign) {
  *out = *sum;
  *sign = sum->digits[WIDE_DIGITS - 1] < 0 ? -1 : 1;
  if (*sign < 0) {
    for (int i = 0; i < WIDE_DIGITS; i++)
      out->digits[i] = -out->digits[i];
    settle(out);
  }
  int top = WIDE_DIGITS - 1;
  while (top >= 0 && out->digits[top] == 0)
    top--;
  return top;
}

void wide_add_scaled(wide *dst, wide *from, double factor) {
  wide size;
  int sign, exponent;
  settle(from);
  const int top = magnitude(from, &size, &sign);
  const int64_t whole = whole_of(factor, &exponent) * sign;
  /* The factor in pieces of 18 bits: a digit times one is below 2^50. */
  const int64_t unit = 1 << 18, pieces[3] = {whole % unit, whole / unit % unit, whole / unit / unit};
  for (int i = 0; i <= top; i++)
    for (int j = 0; j < 3 && size.digits[i] != 0; j++)
      if (pieces[j] != 0)
        add_at(dst, size.digits[i] * pieces[j], WIDE_LOW + 32 * i + exponent + 18 * j);
}

scaled wide_value(wide *sum) {
  wide size;
  int sign;
  settle(sum);
  const int top = magnitude(sum, &size, &sign);
  if (top < 0)
    return (scaled){0, 0};
  double fraction = 0;
  for (int i = top; i >= 0 && i > top - 4; i--)
    fraction += ldexp((double)size.digits[i], 32 * (i - top));
  scaled value = scaled_of(sign * fraction);
  value.exponent += WIDE_LOW + 32 * top;
  return value;
}

scaled scaled_of(double x) {
  scaled value;
  value.fraction = frexp(x, &value.exponent);
  return value;
}

static double at_scale(double fraction, int exponent) {
  return exponent > 3000 ? copysign(INFINITY, fraction) : exponent < -3000 ? 0 : ldexp(fraction, exponent);
}

double scaled_ratio(scaled x, scaled y) {
  if (x.fraction == 0)
    return 0;
  return y.fraction == 0 ? INFINITY : at_scale(x.fraction / y.fraction, x.exponent - y.exponent);
}

scaled scaled_times(scaled x, scaled y) {
  scaled product = scaled_of(x.fraction * y.fraction);
  product.exponent += x.exponent + y.exponent;
  return product;
}

scaled scaled_plus(scaled x, scaled y) {
  if (x.fraction == 0 || y.fraction == 0)
    return x.fraction == 0 ? y : x;
  const scaled larger = x.exponent > y.exponent ? x : y, smaller = x.exponent > y.exponent ? y : x;
  scaled sum = scaled_of(larger.fraction + at_scale(smaller.fraction, smaller.exponent - larger.exponent));
  sum.exponent += larger.exponent;
  return sum;
}
