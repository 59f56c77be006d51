/* Numbers that hold any sum of products of doubles without rounding: digits of 32 bits from 2^-3456 on.
 * Written for tests, apart from the library's own superaccumulator, which they judge. */
#ifndef TSL_TESTS_BOUNDS_WIDE_H
#define TSL_TESTS_BOUNDS_WIDE_H

#include <stdint.h>

enum { WIDE_LOW = -3456, WIDE_DIGITS = 212 };

typedef struct wide {
  int64_t digits[WIDE_DIGITS]; /* each below 2^62 in magnitude */
} wide;

/* fraction 2^exponent, the fraction 0 or from 1/2 to 1 in magnitude. */
typedef struct scaled {
  double fraction;
  int exponent;
} scaled;

void wide_clear(wide *sum);
/* Finite numbers. */
void wide_add(wide *sum, double x);
void wide_add_product(wide *sum, double x, double y);
/* to += factor * from, the sum of products; `from` is settled. */
void wide_add_scaled(wide *dst, wide *from, double factor);
/* The number, rounded to a double's digits; settles it. */
scaled wide_value(wide *sum);

scaled scaled_of(double x);
/* x / y; 0 / 0 is 0, other numbers over 0 are infinite. */
double scaled_ratio(scaled x, scaled y);
scaled scaled_times(scaled x, scaled y);
scaled scaled_plus(scaled x, scaled y);

#endif
