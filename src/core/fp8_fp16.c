/* Conversions by integer arithmetic on a double's bits: rounded once, equal on all processors. The 8-bit
 * types follow the Open Compute Project's "8-bit Floating Point Specification" (2023). */
#include "core/types.h"

#include <string.h>

#define F64_MANTISSA 52
#define F64_BIAS 1023
#define F64_SPECIAL 0x7ff /* exponent field of infinities and NaN */

/* Without infinities the largest exponent belongs to numbers, except for its last mantissa, which is NaN. */
typedef struct narrow_format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
} narrow_format;

static const narrow_format f16 = {5, 10, true}, bf16 = {8, 7, true}, e4m3 = {4, 3, false},
                           e5m2 = {5, 2, true};

/* Rounds to nearest even; overflow gives infinity, or NaN without infinity. NaN keeps its leading bits. */
static uint16_t narrow_from_f64(double value, narrow_format format) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint64_t sign = bits >> 63 << (format.exponent_bits + format.mantissa_bits);
  const int field = (int)(bits >> F64_MANTISSA & F64_SPECIAL);
  const uint64_t fraction = bits & (((uint64_t)1 << F64_MANTISSA) - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1, most = format.has_infinity ? bias : bias + 1;
  const uint64_t all = ((uint64_t)1 << (format.exponent_bits + format.mantissa_bits)) - 1,
                 last = (uint64_t)((1 << format.exponent_bits) - 1) << format.mantissa_bits,
                 above_all = format.has_infinity ? last : all;
  if (field == F64_SPECIAL && fraction != 0)
    return (uint16_t)(sign | above_all | (uint64_t)1 << (format.mantissa_bits - 1) |
                      fraction >> (F64_MANTISSA - format.mantissa_bits));
  const int exponent = field - F64_BIAS, least = 1 - bias;
  if (exponent > most)
    return (uint16_t)(sign | above_all);
  /* Below the smallest exponent each step loses one more bit; from a shift of 54 on the result is 0. */
  const int shift = F64_MANTISSA - format.mantissa_bits + (exponent < least ? least - exponent : 0);
  if (shift > F64_MANTISSA + 1)
    return (uint16_t)sign;
  const uint64_t whole = fraction | (uint64_t)1 << F64_MANTISSA, half = (uint64_t)1 << (shift - 1);
  uint64_t rounded_bits = whole >> shift;
  const uint64_t lost = whole & ((half << 1) - 1);
  if (lost > half || (lost == half && (rounded_bits & 1)))
    rounded_bits++;
  /* The leading bit of a normal number adds 1 to the exponent field, as a carry from the mantissa does. */
  const uint64_t above = exponent > least ? (uint64_t)(exponent - least) : 0,
                 rounded = (above << format.mantissa_bits) + rounded_bits;
  return (uint16_t)(sign | (rounded < above_all ? rounded : above_all));
}

/* Widens exactly; a signalling NaN becomes quiet. */
static double widen_to_f64(uint16_t bits, narrow_format from) {
  const int last = (1 << from.exponent_bits) - 1, bias = last >> 1;
  const int field = bits >> from.mantissa_bits & last;
  const uint64_t most = ((uint64_t)1 << from.mantissa_bits) - 1, fraction = bits & most;
  uint64_t wide = (uint64_t)(bits >> (from.exponent_bits + from.mantissa_bits)) << 63;
  if (field == 0) {
    /* A subnormal number is a multiple of the smallest step, which is a normal double. */
    const uint64_t step = (uint64_t)(1 - bias - from.mantissa_bits + F64_BIAS) << F64_MANTISSA;
    double magnitude;
    memcpy(&magnitude, &step, sizeof magnitude);
    magnitude *= (double)fraction;
    return wide ? -magnitude : magnitude;
  }
  const bool special = field == last && (from.has_infinity || fraction == most);
  const int exponent = special ? F64_SPECIAL : field - bias + F64_BIAS;
  wide |= (uint64_t)exponent << F64_MANTISSA | fraction << (F64_MANTISSA - from.mantissa_bits);
  if (special && fraction != 0)
    wide |= (uint64_t)1 << (F64_MANTISSA - 1);
  double value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

#define TYPE(name, bits)                                                                                     \
  bits tsl_##name##_from_f64(double value) {                                                                 \
    return (bits)narrow_from_f64(value, name);                                                               \
  }                                                                                                          \
  double tsl_##name##_to_f64(bits value) {                                                                   \
    return widen_to_f64(value, name);                                                                        \
  }
TYPE(f16, uint16_t)
TYPE(bf16, uint16_t)
TYPE(e4m3, uint8_t)
TYPE(e5m2, uint8_t)
#undef TYPE
