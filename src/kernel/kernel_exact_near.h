/* Nearly exact sums with error bounds, in the order of exact_near.h. Lines: rows of A, columns of B. */
#ifndef TSL_KERNEL_KERNEL_EXACT_NEAR_H
#define TSL_KERNEL_KERNEL_EXACT_NEAR_H

#include "kernel_elements.h"
#include "kernel_gemm.h"

/* Terms between two renormalizations of the sums. `low` of a pair stays below EXACT_PANEL + 1 times 2^(top -
 * 53), so a term costs at most EXACT_PANEL + 5 times 2^(top - 106) (kernels/exact_near.c). Few terms for
 * doubles, because an undecided sum is slow here. */
#ifdef TSL_REAL_IS_DOUBLE
#define EXACT_PANEL 32
#else
#define EXACT_PANEL 256
#endif

TSL_FUNCTION double exact_magnitude(double x) {
  return x < 0 ? -x : x;
}

typedef struct exact_line {
  double largest, total, unit; /* largest and sum of magnitudes; power of 2 that divides all numbers */
} exact_line;

TSL_FUNCTION exact_line exact_load_line(TSL_GLOBAL const double *state, TSL_INDEX count, TSL_INDEX line) {
  exact_line made;
  made.largest = state[line];
  made.total = state[count + line];
  made.unit = state[2 * count + line];
  return made;
}

typedef struct exact_enclosure {
  double lower, upper; /* interval of the result, after alpha and beta */
} exact_enclosure;

typedef struct exact_pair {
  double high, low; /* rounded sum or product; its error */
} exact_pair;

TSL_FUNCTION exact_pair exact_two_sum(double a, double b) {
  exact_pair made;
  made.high = a + b;
  const double other = made.high - a;
  made.low = (a - (made.high - other)) + (b - other);
  return made;
}

TSL_FUNCTION exact_pair exact_two_product(double a, double b) {
  exact_pair made;
  made.high = TSL_MUL(double, a, b);
  made.low = TSL_FMA(a, b, -made.high);
  return made;
}

/* Returns an upper bound of the underflow error of a product; 0 where a factor is 0. */
TSL_FUNCTION double exact_underflow_error(double a, double b, double product) {
  const double size = exact_magnitude(product);
  return size * 0x1p-120 + (size < 0x1p-900 && a != 0 && b != 0 ? 0x1p-1060 : 0);
}

/* Returns an upper bound of the sums of products of two lines, in any rounding; 0 only if a line is zero. */
TSL_FUNCTION double exact_sum_limit(const exact_line *a, const exact_line *b) {
  const double one = a->largest * b->total, other = a->total * b->largest,
               least = one == one && !(one >= other) ? one : other;
  return least * (1 + 0x1p-20) + (least == 0 && a->largest > 0 && b->largest > 0 ? 0x1p-1074 : 0);
}

/* Returns 1.5 2^top such that all sums are below 2^(top - 2); 0: all are 0; NaN: possible overflow. */
TSL_FUNCTION double exact_start_value(double sum_limit) {
  const TSL_INDEX exponent = (TSL_AS_INDEX(sum_limit) >> 52) + 3;
  return sum_limit == 0 ? 0
         : exponent >= 1023 - 950 && exponent <= 1023 + 1010
             ? TSL_AS_DOUBLE((exponent << 52) + ((TSL_INDEX)1 << 51))
             : TSL_NAN(double);
}

/* Returns true if sums of at most `sum_limit` are exact, `bits` bits above a product's lowest bit. */
TSL_FUNCTION bool exact_loses_nothing(double sum_limit, const exact_line *a, const exact_line *b, double bits,
                                      const tsl_gemm_arguments *g) {
  return g->alpha == 1 && g->beta == 0 && sum_limit < bits * (a->unit * b->unit);
}

/* Returns high + low without a negative zero; for narrower types rounded to odd. */
TSL_FUNCTION double exact_add_pair(double high, double low) {
#ifdef TSL_REAL_IS_DOUBLE
  return high + low + 0.0;
#else
  const exact_pair sum = exact_two_sum(high, low);
  const TSL_INDEX bits = TSL_AS_INDEX(sum.high), away = (sum.high < 0) == (sum.low < 0);
  return sum.low == 0 || sum.low != sum.low ? sum.high + 0.0 : TSL_AS_DOUBLE((away ? bits : bits - 1) | 1);
#endif
}

/* Returns the interval of a pair that started at exact_start_value(); `off_by` multiplies the error bound. */
TSL_FUNCTION exact_enclosure exact_enclose_pair(double high, double low, double off_by, const exact_line *a,
                                                const exact_line *b, double before,
                                                const tsl_gemm_arguments *g) {
  const double sum_limit = exact_sum_limit(a, b), base = exact_start_value(sum_limit),
               alpha = g->k == 0 ? 0 : g->alpha, beta = g->beta,
               relative = (double)g->k * ((EXACT_PANEL + 5) / 1.5 * 0x1p-106);
  const exact_pair sum = exact_two_sum(high - base, low), scaled = exact_two_product(alpha, sum.high),
                   added = exact_two_product(beta, before), all = exact_two_sum(scaled.high, added.high);
  const double tail = TSL_MUL(double, alpha, sum.low), rest = all.low + (scaled.low + added.low) + tail;
  const exact_pair result = exact_two_sum(all.high, rest);
  const double summed = exact_magnitude(alpha) * (base * relative * off_by),
               off = summed + (summed < 0x1p-1000 && alpha != 0 && base > 0 ? 0x1p-1060 : 0) +
                     0x1p-50 * (exact_magnitude(all.low) + exact_magnitude(scaled.low) +
                                exact_magnitude(added.low) + exact_magnitude(tail)) +
                     0x1p-50 * exact_magnitude(result.low) +
                     exact_underflow_error(alpha, sum.high, scaled.high) +
                     exact_underflow_error(beta, before, added.high),
               known = exact_loses_nothing(sum_limit, a, b, 0x1p93, g) ? 0 : off;
  exact_enclosure made;
  made.lower = exact_add_pair(result.high, result.low - known);
  made.upper = exact_add_pair(result.high, result.low + known);
  return made;
}

#ifdef TSL_REAL_IS_DOUBLE
TSL_FUNCTION exact_enclosure exact_enclose_sum(double high, double low_sum, const exact_line *a,
                                               const exact_line *b, double before,
                                               const tsl_gemm_arguments *g) {
  return exact_enclose_pair(high, low_sum, 1, a, b, before, g);
}

TSL_FUNCTION double exact_round_to_result(double x) {
  return x;
}
#else
/* Returns the interval of a sum of narrower types, which neither overflows nor underflows a double. */
TSL_FUNCTION exact_enclosure exact_enclose_sum(double high, double low_sum, const exact_line *a,
                                               const exact_line *b, double before,
                                               const tsl_gemm_arguments *g) {
  const double panels = (double)(g->k / EXACT_PANEL + 1), sum_limit = exact_sum_limit(a, b),
               relative = g->k == 0 ? 0 : (EXACT_PANEL + panels + 2) * 0x1p-53,
               alpha = g->k == 0 ? 0 : g->alpha, product = TSL_MUL(double, alpha, high),
               added = TSL_MUL(double, (double)g->beta, before), value = product + added + 0.0,
               off = exact_magnitude(alpha) * sum_limit * relative +
                     0x1p-50 * (exact_magnitude(product) + exact_magnitude(added)),
               known = exact_loses_nothing(sum_limit, a, b, 0x1p53, g) ? 0 : off;
  exact_enclosure made;
  (void)low_sum;
  made.lower = value - known;
  made.upper = value + known;
  return made;
}

/* Rounds once to nearest even in C's type: adding 1.5 2^52 units of its last place cuts the rest. */
TSL_FUNCTION double exact_round_to_result(double x) {
#if TSL_C_DIGITS == 24
  return (double)(float)x;
#else
  const int exponent = (int)(TSL_AS_INDEX(x) >> 52 & 2047) - 1023 - (TSL_C_DIGITS - 1),
            last = exponent < TSL_C_LEAST ? TSL_C_LEAST : exponent;
  if (last > 900)
    return x; /* not finite, or far out of range */
  const double large = TSL_AS_DOUBLE((TSL_INDEX)(last + 52 + 1023) << 52) * 1.5;
  const double made = (x + large) - large;
  return made == 0 ? x * 0.0 : made; /* keeps the sign of a zero */
#endif
}
#endif

/* Stores the result and returns true if the whole interval rounds to one number. */
TSL_FUNCTION bool exact_store_near(const exact_enclosure *enclosure, TSL_GLOBAL tsl_result *c) {
  const double result = exact_round_to_result(enclosure->lower);
  if (!(enclosure->lower == enclosure->lower) ||
      TSL_AS_INDEX(result) != TSL_AS_INDEX(exact_round_to_result(enclosure->upper)))
    return false;
  *c = tsl_round_to_result((TSL_REAL)result);
  return true;
}

TSL_FUNCTION double exact_load_c(TSL_GLOBAL const tsl_result *c, const tsl_gemm_arguments *g) {
  return g->beta == 0 ? 0 : (double)tsl_widen_result(*c);
}

#endif
