/* The superaccumulator: a fixed-point number with room for every product and every sum of products, after U.
 * Kulisch (Computer Arithmetic and Validity, 2008), with lazily normalized digits (R. Neal, Fast Exact
 * Summation Using Small and Large Superaccumulators, 2015).
 *
 *   digit i of TSL_EXACT_DIGITS counts multiples of 2^(TSL_EXACT_LOW + 52 i):
 *
 *   |  63 ... 52  | 51 ........... 0 |      52 bits of the number's and eleven for carries that have not been
 *   | sign, carry |      digit       |      propagated; negative digits are allowed
 *
 * Host and devices compile this text of integer operations, hence round alike. Right shifts must keep the
 * sign. The includer defines TSL_FUNCTION, TSL_INDEX, TSL_LOCAL_POINTER, TSL_AS_INDEX, TSL_AS_DOUBLE. */
#ifndef TSL_EXACT_SHARED_H
#define TSL_EXACT_SHARED_H

/* Ranges. Products of doubles have bits from 2^-2148 to 2^2047, and 2^62 products carry to 2^2110. Products
 * of floats, as doubles, lie between 2^-350 and 2^256, their windows reach 2^-552. */
#ifdef TSL_EXACT_OF_FLOATS
#define TSL_EXACT_LOW (-560)
#define TSL_EXACT_DIGITS 19
#define TSL_EXACT_WIDE 96
#define TSL_EXACT_TOP_LEAST (-240)
#define TSL_EXACT_TOP_MOST 272
#define TSL_EXACT_TOP_DEEP TSL_EXACT_TOP_LEAST
#else
#define TSL_EXACT_LOW (-2150)
#define TSL_EXACT_DIGITS 84
#define TSL_EXACT_WIDE 260
#define TSL_EXACT_TOP_LEAST (-850)
#define TSL_EXACT_TOP_MOST 1022
#define TSL_EXACT_TOP_DEEP (-700)
#endif

/* Windows: the fast paths sum in levels (picture in dot_exact.cl). Level j counts multiples of 2^(top - 52
 * j); level 0 takes carries. Products are below 2^(top - 1). For floats a window has two levels below level
 * 0, or six if two are not enough. For doubles it has three for products and two for their errors, or six and
 * five.
 *
 * A top is at least TSL_EXACT_TOP_LEAST, or TSL_EXACT_TOP_DEEP with all levels. It is at most
 * TSL_EXACT_TOP_MOST, which a double can hold. The lower limit makes a product exact as a pair of doubles:
 * without bits below 2^(top - 104), or 2^(top - 260), none of its 106 bits is subnormal. TSL_EXACT_MARGIN is
 * the room in bits above the largest product. */
#define TSL_EXACT_LEVELS 7
#define TSL_EXACT_SHALLOW_F32 2
#define TSL_EXACT_SHALLOW_F64 3
#define TSL_EXACT_DEEP 6
#define TSL_EXACT_MARGIN 8
/* Distance in bits below the top at which products move the window down. */
#define TSL_EXACT_SLACK 100

#define TSL_EXACT_MASK (((TSL_INDEX)1 << 52) - 1)

/* Flags of the non-finite products seen. */
#define TSL_EXACT_NAN 1
#define TSL_EXACT_PLUS 2
#define TSL_EXACT_MINUS 4

/* A number split over two digits: `low` into `digit`, `high` into the next digit. */
typedef struct tsl_exact_parts {
  TSL_INDEX low, high;
  int digit;
} tsl_exact_parts;

/* Splits value 2^(TSL_EXACT_LOW + position), |value| <= 2^55, position >= 0. Digits grow by < 2^55. */
TSL_FUNCTION tsl_exact_parts tsl_exact_split(TSL_INDEX value, int position) {
  tsl_exact_parts parts;
  parts.digit = position / 52;
  const int shift = position - 52 * parts.digit;
  parts.low = (value & (TSL_EXACT_MASK >> shift)) << shift;
  parts.high = value >> (52 - shift);
  return parts;
}

/* Adds value 2^(TSL_EXACT_LOW + position), with the limits of tsl_exact_split(). */
TSL_FUNCTION void tsl_exact_add(TSL_INDEX *digits, TSL_INDEX value, int position) {
  const tsl_exact_parts parts = tsl_exact_split(value, position);
  digits[parts.digit] += parts.low;
  digits[parts.digit + 1] += parts.high;
}

/* Propagates carries. Afterwards digits are in [0, 2^52), and the last digit has the sign. */
TSL_FUNCTION void tsl_exact_settle(TSL_INDEX *digits) {
  TSL_INDEX carry = 0;
  for (int i = 0; i < TSL_EXACT_DIGITS - 1; i++) {
    const TSL_INDEX digit = digits[i] + carry;
    digits[i] = digit & TSL_EXACT_MASK;
    carry = digit >> 52;
  }
  digits[TSL_EXACT_DIGITS - 1] += carry;
}

/* Returns the mantissa (< 2^53) of a finite double: |x| = mantissa 2^(exponent - 1075), exponent >= 1. */
TSL_FUNCTION TSL_INDEX tsl_exact_mantissa(double x, int *exponent) {
  const TSL_INDEX bits = TSL_AS_INDEX(x), mantissa = bits & TSL_EXACT_MASK;
  *exponent = (int)(bits >> 52 & 2047);
  if (*exponent != 0)
    return mantissa | (TSL_EXACT_MASK + 1);
  *exponent = 1;
  return mantissa;
}

TSL_FUNCTION bool tsl_exact_is_negative(double x) {
  return TSL_AS_INDEX(x) < 0;
}

TSL_FUNCTION bool tsl_exact_is_finite(double x) {
  return (TSL_AS_INDEX(x) >> 52 & 2047) != 2047;
}

/* Adds a double that is 0 or has no bits below 2^TSL_EXACT_LOW, as products of floats are. */
TSL_FUNCTION void tsl_exact_add_double(TSL_INDEX *digits, double x) {
  int exponent;
  const TSL_INDEX mantissa = tsl_exact_mantissa(x, &exponent);
  if (x != 0)
    tsl_exact_add(digits, tsl_exact_is_negative(x) ? -mantissa : mantissa, exponent - 1075 - TSL_EXACT_LOW);
}

/* Adds x y exactly, both finite, from mantissa halves of 27 and 26 bits. */
TSL_FUNCTION void tsl_exact_add_product(TSL_INDEX *digits, double x, double y) {
  int x_exponent, y_exponent;
  TSL_INDEX a = tsl_exact_mantissa(x, &x_exponent);
  const TSL_INDEX b = tsl_exact_mantissa(y, &y_exponent), low_bits = ((TSL_INDEX)1 << 26) - 1;
  const int position = x_exponent + y_exponent - 2150 - TSL_EXACT_LOW;
  TSL_INDEX b_high = b >> 26, b_low = b & low_bits;
  if (tsl_exact_is_negative(x) != tsl_exact_is_negative(y)) {
    b_high = -b_high;
    b_low = -b_low;
  }
  tsl_exact_add(digits, (a >> 26) * b_high, position + 52);
  tsl_exact_add(digits, (a >> 26) * b_low + (a & low_bits) * b_high, position + 26);
  tsl_exact_add(digits, (a & low_bits) * b_low, position);
}

/* Returns the flag TSL_EXACT_... of a product that is NaN or infinite. */
TSL_FUNCTION int tsl_exact_special(double product) {
  return product != product ? TSL_EXACT_NAN : product > 0 ? TSL_EXACT_PLUS : TSL_EXACT_MINUS;
}

/* Returns base = 1.5 * 2^top. For |x| < 2^(top - 1), the bits of base + x minus the bits of base count x in
 * multiples of 2^(top - 52). */
TSL_FUNCTION double tsl_exact_base(int top) {
  return TSL_AS_DOUBLE(((TSL_INDEX)(top + 1023) << 52) + ((TSL_INDEX)1 << 51));
}

/* Returns a product's biased exponent for tsl_exact_top_for(); 0 for non-finite and subnormal products. */
TSL_FUNCTION int tsl_exact_exponent(double product) {
  const int exponent = (int)(TSL_AS_INDEX(product) >> 52 & 2047);
  return exponent == 2047 ? 0 : exponent;
}

/* Returns the window top for products whose largest biased exponent is `exponent`. */
TSL_FUNCTION int tsl_exact_top_for(int exponent) {
  const int top = exponent - 1021 + TSL_EXACT_MARGIN;
  return top < TSL_EXACT_TOP_LEAST  ? TSL_EXACT_TOP_LEAST
         : top > TSL_EXACT_TOP_MOST ? TSL_EXACT_TOP_MOST
                                    : top;
}

/* Propagates carries from level to level. Level 0 has room for all carries. */
TSL_FUNCTION void tsl_exact_settle_levels(TSL_INDEX *levels, int count) {
  for (int i = count - 1; i > 0; i--) {
    levels[i - 1] += levels[i] >> 52;
    levels[i] &= TSL_EXACT_MASK;
  }
}

/* Digits of the result before rounding, alpha times the digits plus beta c: digit i, of 26 bits, counts
 * multiples of 2^(TSL_EXACT_WIDE_LOW + 26 i). Digits outside of [first, end) are 0. */
#define TSL_EXACT_WIDE_LOW (TSL_EXACT_LOW - 1074)
#define TSL_EXACT_HALF (((TSL_INDEX)1 << 26) - 1)
typedef struct tsl_exact_range {
  int first, end; /* digits first to end - 1 */
} tsl_exact_range;

/* Adds mantissa * value * 2^(TSL_EXACT_WIDE_LOW + position); 0 <= mantissa <= 2^53, |value| <= 2^53. */
TSL_FUNCTION void tsl_exact_wide_add(TSL_LOCAL_POINTER TSL_INDEX *wide, TSL_INDEX mantissa, TSL_INDEX value,
                                     int position, tsl_exact_range *range) {
  const int first = position / 26, shift = position - 26 * first;
  const TSL_INDEX low = (mantissa & TSL_EXACT_HALF) << shift;
  const TSL_INDEX middle = ((mantissa >> 26 & TSL_EXACT_HALF) << shift) + (low >> 26);
  const TSL_INDEX high = (mantissa >> 52 << shift) + (middle >> 26);
  TSL_INDEX factors[4], tail = value < 0 ? -value : value;
  factors[0] = low & TSL_EXACT_HALF;
  factors[1] = middle & TSL_EXACT_HALF;
  factors[2] = high & TSL_EXACT_HALF;
  factors[3] = high >> 26;
  for (int i = 0; i < 3; i++, tail >>= 26) {
    const TSL_INDEX part = value < 0 ? -(tail & TSL_EXACT_HALF) : tail & TSL_EXACT_HALF;
    for (int j = 0; j < 4; j++)
      wide[first + i + j] += part * factors[j];
  }
  range->first = first < range->first ? first : range->first;
  range->end = first + 8 > range->end ? first + 8 : range->end;
}

/* Propagates carries and replaces the number by its magnitude. Returns true if it was negative. */
TSL_FUNCTION bool tsl_exact_wide_settle(TSL_LOCAL_POINTER TSL_INDEX *wide, tsl_exact_range range) {
  bool negative = false;
  for (int pass = 0; pass < 2; pass++) {
    TSL_INDEX carry = 0;
    for (int i = range.first; i < range.end; i++) {
      const TSL_INDEX digit = (pass == 0 ? wide[i] : -wide[i]) + carry;
      wide[i] = digit & TSL_EXACT_HALF;
      carry = digit >> 26;
    }
    /* A final carry of -1 is the sign; the digits are then the complement. */
    negative = pass == 0 ? carry < 0 : negative;
    if (!negative)
      return false;
  }
  return true;
}

/* Returns true if one of digits `first` to `end` - 1 is not 0. */
TSL_FUNCTION bool tsl_exact_wide_any(TSL_LOCAL_POINTER const TSL_INDEX *wide, int first, int end) {
  for (int i = first; i < end; i++)
    if (wide[i] != 0)
      return true;
  return false;
}

/* Rounds the settled, positive number to nearest, ties to even. The format has `precision` bits and the
 * smallest number 2^least: 53 and -1074, or 24 and -149. A float is returned as a double whose conversion is
 * exact, or overflows to infinity. Returns 0 for a zero number. */
TSL_FUNCTION double tsl_exact_wide_round(TSL_LOCAL_POINTER const TSL_INDEX *wide, tsl_exact_range range,
                                         int precision, int least) {
  int top = range.end - 1;
  while (top >= range.first && wide[top] == 0)
    top--;
  if (top < range.first)
    return 0;
  const int length = (int)(TSL_AS_INDEX((double)wide[top]) >> 52) - 1022; /* bits of digit `top` */
  int last = 26 * top + length - precision;                               /* lowest bit that is kept */
  if (last < least - TSL_EXACT_WIDE_LOW)
    last = least - TSL_EXACT_WIDE_LOW;
  TSL_INDEX kept = 0;
  for (int i = last / 26; i <= top; i++) {
    const int shift = 26 * i - last;
    kept += shift >= 0 ? wide[i] << shift : wide[i] >> -shift;
  }
  const int below = (last - 1) / 26, bit = last - 1 - 26 * below;
  const TSL_INDEX cut = below <= top ? wide[below] : 0;
  const bool next = cut >> bit & 1;
  const bool tail = (cut & (((TSL_INDEX)1 << bit) - 1)) != 0 ||
                    tsl_exact_wide_any(wide, range.first, below <= top ? below : top + 1);
  kept += next && (tail || (kept & 1)) ? 1 : 0;
  /* `kept` counts multiples of 2^exponent; a mantissa overflow carries into the exponent. */
  const int exponent = last + TSL_EXACT_WIDE_LOW;
  if (exponent > 1023 - precision + 1)
    return TSL_AS_DOUBLE((TSL_INDEX)2047 << 52);
  if (precision == 53)
    return TSL_AS_DOUBLE(kept + ((TSL_INDEX)(exponent + 1074) << 52));
  return (double)kept * TSL_AS_DOUBLE((TSL_INDEX)(exponent + 1023) << 52);
}

/* Returns alpha times the special value in `flags`, or times `sign` without flags. */
TSL_FUNCTION double tsl_exact_scaled_special(int flags, double alpha, double sign) {
  const double infinity = TSL_AS_DOUBLE((TSL_INDEX)2047 << 52);
  const bool both = (flags & TSL_EXACT_PLUS) && (flags & TSL_EXACT_MINUS);
  if ((flags & TSL_EXACT_NAN) || both)
    return infinity - infinity;
  return alpha * (flags & TSL_EXACT_PLUS ? infinity : flags & TSL_EXACT_MINUS ? -infinity : sign);
}

/* Returns round(alpha * digits + beta * before), and destroys `digits` and `wide`. Digits, 0 outside of
 * [first, end), are below 2^62 in magnitude and not settled; after its carry the last must stay below 2^53.
 * `wide` is all 0 on entry. An exact zero is +0; a number that rounds to zero keeps its sign. Non-finite
 * input gives the IEEE 754 result, which does not depend on the order. */
TSL_FUNCTION double tsl_exact_result(TSL_LOCAL_POINTER TSL_INDEX *digits, int first, int end, int flags,
                                     double alpha, double beta, double before,
                                     TSL_LOCAL_POINTER TSL_INDEX *wide, int precision, int least) {
  TSL_INDEX carry = 0;
  int used = 0;
  flags = alpha == 0 ? 0 : flags; /* 0 times a special value is 0 */
  for (int i = first; i < end; i++) {
    const TSL_INDEX digit = digits[i] + carry;
    carry = i < end - 1 ? digit >> 52 : 0;
    digits[i] = digit - carry * (TSL_EXACT_MASK + 1);
    used = digits[i] != 0 ? i + 1 : used;
  }
  const bool added = beta != 0;
  if (flags != 0 || !tsl_exact_is_finite(alpha) ||
      (added && !(tsl_exact_is_finite(beta) && tsl_exact_is_finite(before)))) {
    const double sign = used == 0 ? 0 : digits[used - 1] < 0 ? -1 : 1;
    double scaled =
        flags != 0 || !tsl_exact_is_finite(alpha) ? tsl_exact_scaled_special(flags, alpha, sign) : 0;
    if (added && !(tsl_exact_is_finite(beta) && tsl_exact_is_finite(before)))
      scaled += beta * before;
    return scaled;
  }
  tsl_exact_range range;
  int exponent, other;
  TSL_INDEX mantissa = tsl_exact_mantissa(alpha, &exponent);
  range.first = TSL_EXACT_WIDE;
  range.end = 0;
  for (int i = first; i < used && mantissa != 0; i++)
    if (digits[i] != 0)
      tsl_exact_wide_add(wide, mantissa, tsl_exact_is_negative(alpha) ? -digits[i] : digits[i],
                         52 * i + exponent - 1, &range);
  if (added && before != 0) {
    mantissa = tsl_exact_mantissa(beta, &exponent);
    const TSL_INDEX value = tsl_exact_mantissa(before, &other);
    tsl_exact_wide_add(wide, mantissa,
                       tsl_exact_is_negative(beta) != tsl_exact_is_negative(before) ? -value : value,
                       exponent + other - 2150 - TSL_EXACT_WIDE_LOW, &range);
  }
  const bool negative = tsl_exact_wide_settle(wide, range);
  const double rounded = tsl_exact_wide_round(wide, range, precision, least);
  return negative ? -rounded : rounded;
}

#endif
