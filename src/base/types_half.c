/* The two 16-bit floating-point types, by integer arithmetic on the bits of a double, so that a double is
 * rounded once and the result does not depend on the processor. */
#include "base/types.h"

#include <string.h>

#define F64_MANTISSA 52
#define F64_BIAS 1023
#define F64_SPECIAL 0x7ff /* exponent field of infinities and NaN */

/* Rounds to a format of 1 sign bit, `exponent_bits` and `mantissa_bits`: to nearest, ties to even. What is
 * too large becomes infinity; NaN keeps its sign and leading bits and is made quiet. */
static uint16_t narrow(double value, int exponent_bits, int mantissa_bits) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)(bits >> 63 << 15);
  const int field = (int)(bits >> F64_MANTISSA & F64_SPECIAL);
  const uint64_t fraction = bits & (((uint64_t)1 << F64_MANTISSA) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t infinity = (uint64_t)((1 << exponent_bits) - 1) << mantissa_bits;
  if (field == F64_SPECIAL && fraction != 0)
    return (uint16_t)(sign | infinity | (uint64_t)1 << (mantissa_bits - 1) |
                      fraction >> (F64_MANTISSA - mantissa_bits));
  const int exponent = field - F64_BIAS, least = 1 - bias;
  if (exponent > bias)
    return (uint16_t)(sign | infinity);
  /* Below the least exponent the mantissa loses one more bit a step. A subnormal double has no leading bit,
   * but is far below half of the smallest number here, as is everything that is shifted by 54 or more. */
  const int shift = F64_MANTISSA - mantissa_bits + (exponent < least ? least - exponent : 0);
  if (shift > F64_MANTISSA + 1)
    return sign;
  const uint64_t whole = fraction | (uint64_t)1 << F64_MANTISSA, half = (uint64_t)1 << (shift - 1);
  uint64_t kept = whole >> shift;
  const uint64_t lost = whole & ((half << 1) - 1);
  if (lost > half || (lost == half && (kept & 1)))
    kept++;
  /* The leading bit of a normal number adds 1 to the exponent field, and so does a carry out of the mantissa,
   * up to infinity. */
  const uint64_t above = exponent > least ? (uint64_t)(exponent - least) : 0;
  return (uint16_t)(sign | ((above << mantissa_bits) + kept));
}

/* Exact; a signalling NaN becomes quiet. */
static double widen(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int special = (1 << exponent_bits) - 1, bias = special >> 1;
  const int field = bits >> mantissa_bits & special;
  const uint64_t fraction = bits & ((1u << mantissa_bits) - 1);
  uint64_t wide = (uint64_t)(bits >> 15) << 63;
  if (field == 0) {
    /* Below the normal numbers: a whole number of the smallest step, which a double holds as a normal number.
     */
    const uint64_t step = (uint64_t)(1 - bias - mantissa_bits + F64_BIAS) << F64_MANTISSA;
    double magnitude;
    memcpy(&magnitude, &step, sizeof magnitude);
    magnitude *= (double)fraction;
    return wide ? -magnitude : magnitude;
  }
  const int exponent = field == special ? F64_SPECIAL : field - bias + F64_BIAS;
  wide |= (uint64_t)exponent << F64_MANTISSA | fraction << (F64_MANTISSA - mantissa_bits);
  if (field == special && fraction != 0)
    wide |= (uint64_t)1 << (F64_MANTISSA - 1);
  double value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t tsl_f16_from_f64(double value) {
  return narrow(value, 5, 10);
}

double tsl_f16_to_f64(uint16_t bits) {
  return widen(bits, 5, 10);
}

uint16_t tsl_bf16_from_f64(double value) {
  return narrow(value, 8, 7);
}

double tsl_bf16_to_f64(uint16_t bits) {
  return widen(bits, 8, 7);
}
