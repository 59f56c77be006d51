/* The superaccumulator: a fixed-point number with room for every product and every sum of products, after
 * U. Kulisch (Computer Arithmetic and Validity, 2008), with digits that are normalised late (R. Neal, Fast
 * Exact Summation Using Small and Large Superaccumulators, 2015).
 *
 *   digit i of TSL_EXACT_DIGITS counts multiples of 2^(TSL_EXACT_LOW + 52 i):
 *
 *   |  63 ... 52  | 51 ........... 0 |      52 bits of the number's and eleven for carries that have not been
 *   | sign, carry |      digit       |      passed on; negative digits are allowed
 *
 * This text is the host's and the devices', so that both round alike: it is made of integers, and of the
 * words TSL_FUNCTION, TSL_INDEX, TSL_LOCAL_POINTER, TSL_AS_INDEX and TSL_AS_DOUBLE of the dialect, which the
 * includer has defined. Shifts to the right keep the sign, as on every compiler that is used here. */
#ifndef TSL_EXACT_SHARED_H
#define TSL_EXACT_SHARED_H

/* Doubles' products have bits from 2^-2148 to 2^2047, and 2^62 of them carry to 2^2110. Products of floats,
 * as doubles with all of their 53 bits, lie between 2^-350 and 2^256, and windows around them reach 2^-552;
 * kernels keep private digits, so fewer pay there. */
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

/* Windows, which the fast paths sum in (dot_exact.cl has the picture): 2^top is the weight of level 0, which
 * takes carries, and level j counts multiples of 2^(top - 52 j). Products are below 2^(top - 1). Sums of
 * floats' products use two levels below level 0, or where these do not do, six. Those of doubles use one more
 * for the errors of the products than for the rounded products: three and two, or six and five. Tops are at
 * least TSL_EXACT_TOP_LEAST, or where all levels are used TSL_EXACT_TOP_DEEP, so that a product that passes
 * for exact is so as a pair of doubles: with no bits below 2^(top - 104), or 2^(top - 260), it is no less
 * than that, and the last of its 106 bits no subnormal number's. At most they are TSL_EXACT_TOP_MOST, which a
 * double holds. A window leaves room above the largest product that chose it. */
#define TSL_EXACT_LEVELS 7
#define TSL_EXACT_SHALLOW_F32 2
#define TSL_EXACT_SHALLOW_F64 3
#define TSL_EXACT_DEEP 6
#define TSL_EXACT_MARGIN 8
/* A window moves down where products are this much below its top, in bits. */
#define TSL_EXACT_SLACK 100

#define TSL_EXACT_MASK (((TSL_INDEX)1 << 52) - 1)

/* What is not finite among the products. */
#define TSL_EXACT_NAN 1
#define TSL_EXACT_PLUS 2
#define TSL_EXACT_MINUS 4

/* --- into the digits --- */

/* A number and where it goes: low into `digit`, high into the next one. */
typedef struct tsl_exact_parts {
  TSL_INDEX low, high;
  int digit;
} tsl_exact_parts;

/* value * 2^(TSL_EXACT_LOW + position), |value| <= 2^55, position >= 0. A digit grows by at most 2^54 + 2^52.
 */
TSL_FUNCTION tsl_exact_parts tsl_exact_split(TSL_INDEX value, int position) {
  tsl_exact_parts parts;
  parts.digit = position / 52;
  const int shift = position - 52 * parts.digit;
  parts.low = (value & (TSL_EXACT_MASK >> shift)) << shift;
  parts.high = value >> (52 - shift);
  return parts;
}

TSL_FUNCTION void tsl_exact_add(TSL_INDEX *digits, TSL_INDEX value, int position) {
  const tsl_exact_parts parts = tsl_exact_split(value, position);
  digits[parts.digit] += parts.low;
  digits[parts.digit + 1] += parts.high;
}

/* Passes carries on: digits are in [0, 2^52) then, and the last one has the sign. */
TSL_FUNCTION void tsl_exact_settle(TSL_INDEX *digits) {
  TSL_INDEX carry = 0;
  for (int i = 0; i < TSL_EXACT_DIGITS - 1; i++) {
    const TSL_INDEX digit = digits[i] + carry;
    digits[i] = digit & TSL_EXACT_MASK;
    carry = digit >> 52;
  }
  digits[TSL_EXACT_DIGITS - 1] += carry;
}

/* A finite double as mantissa * 2^(exponent - 1075), mantissa < 2^53, exponent from 1 to 2046. */
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

/* A double that is 0 or has no bits below 2^TSL_EXACT_LOW: products of floats. */
TSL_FUNCTION void tsl_exact_add_double(TSL_INDEX *digits, double x) {
  int exponent;
  const TSL_INDEX mantissa = tsl_exact_mantissa(x, &exponent);
  if (x != 0)
    tsl_exact_add(digits, tsl_exact_is_negative(x) ? -mantissa : mantissa, exponent - 1075 - TSL_EXACT_LOW);
}

/* x y, both finite: mantissas in halves of 27 and 26 bits. Nothing overflows or underflows on the way. */
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

/* What a product that is not finite adds. */
TSL_FUNCTION int tsl_exact_special(double product) {
  return product != product ? TSL_EXACT_NAN : product > 0 ? TSL_EXACT_PLUS : TSL_EXACT_MINUS;
}

/* --- windows --- */

/* The double whose bits, subtracted from those of its sum with a number below 2^(top - 1), leave the number
 * in multiples of 2^(top - 52): 1.5 * 2^top. */
TSL_FUNCTION double tsl_exact_base(int top) {
  return TSL_AS_DOUBLE(((TSL_INDEX)(top + 1023) << 52) + ((TSL_INDEX)1 << 51));
}

/* The exponent of a finite product as tsl_exact_top_for() takes it; 0 for one that is not finite, or
 * subnormal. */
TSL_FUNCTION int tsl_exact_exponent(double product) {
  const int exponent = (int)(TSL_AS_INDEX(product) >> 52 & 2047);
  return exponent == 2047 ? 0 : exponent;
}

/* The top of a window around products of which the largest has this exponent. */
TSL_FUNCTION int tsl_exact_top_for(int exponent) {
  const int top = exponent - 1021 + TSL_EXACT_MARGIN;
  return top < TSL_EXACT_TOP_LEAST  ? TSL_EXACT_TOP_LEAST
         : top > TSL_EXACT_TOP_MOST ? TSL_EXACT_TOP_MOST
                                    : top;
}

/* Passes carries of levels up; level 0 has room for as many as there can be. */
TSL_FUNCTION void tsl_exact_settle_levels(TSL_INDEX *levels, int count) {
  for (int i = count - 1; i > 0; i--) {
    levels[i - 1] += levels[i] >> 52;
    levels[i] &= TSL_EXACT_MASK;
  }
}

/* --- the result --- */

/* The result before it is rounded: alpha times the digits, and beta c, in digits of 26 bits. Digit i counts
 * multiples of 2^(TSL_EXACT_WIDE_LOW + 26 i); digits from `first` on, before `end`, may be other than 0. */
#define TSL_EXACT_WIDE_LOW (TSL_EXACT_LOW - 1074)
#define TSL_EXACT_HALF (((TSL_INDEX)1 << 26) - 1)
typedef struct tsl_exact_range {
  int first, end;
} tsl_exact_range;

/* Adds mantissa * value * 2^(TSL_EXACT_WIDE_LOW + position), both factors at most 2^53 in magnitude and
 * mantissa not negative. A digit grows by at most 2^54. */
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

/* Passes carries on and makes the number positive; returns whether it was negative. */
TSL_FUNCTION bool tsl_exact_wide_settle(TSL_LOCAL_POINTER TSL_INDEX *wide, tsl_exact_range range) {
  bool negative = false;
  for (int pass = 0; pass < 2; pass++) {
    TSL_INDEX carry = 0;
    for (int i = range.first; i < range.end; i++) {
      const TSL_INDEX digit = (pass == 0 ? wide[i] : -wide[i]) + carry;
      wide[i] = digit & TSL_EXACT_HALF;
      carry = digit >> 26;
    }
    /* What is left over is the sign: minus one, of which the digits are the complement. */
    negative = pass == 0 ? carry < 0 : negative;
    if (!negative)
      return false;
  }
  return true;
}

/* Whether a digit before `end` is other than 0. */
TSL_FUNCTION bool tsl_exact_wide_any(TSL_LOCAL_POINTER const TSL_INDEX *wide, int first, int end) {
  for (int i = first; i < end; i++)
    if (wide[i] != 0)
      return true;
  return false;
}

/* The settled, positive number rounded to nearest, ties to even, to a format of `precision` bits whose least
 * number is 2^least: 53 and -1074, or 24 and -149 (returned as a double, which a conversion to float leaves
 * alone, or takes to infinity); 0 where nothing is left. */
TSL_FUNCTION double tsl_exact_wide_round(TSL_LOCAL_POINTER const TSL_INDEX *wide, tsl_exact_range range,
                                         int precision, int least) {
  int top = range.end - 1;
  while (top >= range.first && wide[top] == 0)
    top--;
  if (top < range.first)
    return 0;
  const int length = (int)(TSL_AS_INDEX((double)wide[top]) >> 52) - 1022; /* bits of digit `top` */
  int last = 26 * top + length - precision; /* the last bit that stays; below it the number is cut */
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
  /* 2^exponent is what `kept` counts; a mantissa that overflows carries into the exponent by itself. */
  const int exponent = last + TSL_EXACT_WIDE_LOW;
  if (exponent > 1023 - precision + 1)
    return TSL_AS_DOUBLE((TSL_INDEX)2047 << 52);
  if (precision == 53)
    return TSL_AS_DOUBLE(kept + ((TSL_INDEX)(exponent + 1074) << 52));
  return (double)kept * TSL_AS_DOUBLE((TSL_INDEX)(exponent + 1023) << 52);
}

/* A scalar times what is not finite, or times a sum of that sign. */
TSL_FUNCTION double tsl_exact_scaled_special(int flags, double alpha, double sign) {
  const double infinity = TSL_AS_DOUBLE((TSL_INDEX)2047 << 52);
  const bool both = (flags & TSL_EXACT_PLUS) && (flags & TSL_EXACT_MINUS);
  if ((flags & TSL_EXACT_NAN) || both)
    return infinity - infinity;
  return alpha * (flags & TSL_EXACT_PLUS ? infinity : flags & TSL_EXACT_MINUS ? -infinity : sign);
}

/* round(alpha * digits + beta * before). Digits before `first` and from `end` on are 0; the others are not
 * settled, each below 2^62 in magnitude, and the last one so small that a carry leaves it below 2^53. `wide`
 * is 0 throughout, and used up. `before` is not looked at where beta is 0. An exact zero is +0, and what
 * rounds to zero keeps its sign. Where something is not finite, what IEEE 754 makes of it in any order. */
TSL_FUNCTION double tsl_exact_result(TSL_LOCAL_POINTER TSL_INDEX *digits, int first, int end, int flags,
                                     double alpha, double beta, double before,
                                     TSL_LOCAL_POINTER TSL_INDEX *wide, int precision, int least) {
  TSL_INDEX carry = 0;
  int used = 0;
  flags = alpha == 0 ? 0 : flags; /* nothing times whatever it is */
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
