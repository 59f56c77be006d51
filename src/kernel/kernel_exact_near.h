/* Sums that are nearly exact and know how nearly, as kernels have them: what strategy/gemm/exact/exact_near.h
 * says of the host's, in its order. Lines are rows of A and columns of B. The includer has kernel_elements.h,
 * and TSL_GEMM_SIZES with alpha and beta. */
#ifndef TSL_KERNEL_KERNEL_EXACT_NEAR_H
#define TSL_KERNEL_KERNEL_EXACT_NEAR_H

#include "kernel_elements.h"
#include "kernel_gemm.h"

/* Terms between two moments when what lies beside sums is taken into them. Of pairs `low` stays below as many
 * times 2^(top - 53) and one, so that each term costs at most five and as many times 2^(top - 106)
 * (kernels/exact_near.c): of doubles few, as what is left open here takes long. */
#ifdef TSL_REAL_IS_DOUBLE
#define EXACT_PANEL 32
#else
#define EXACT_PANEL 256
#endif

TSL_FUNCTION double exact_magnitude(double x) {
  return x < 0 ? -x : x;
}

/* A line's numbers: the largest magnitude, their sum, and a power of two that all of them are multiples of.
 */
typedef struct exact_line {
  double largest, total, unit;
} exact_line;

TSL_FUNCTION exact_line exact_line_at(TSL_GLOBAL const double *state, TSL_INDEX count, TSL_INDEX line) {
  exact_line made;
  made.largest = state[line];
  made.total = state[count + line];
  made.unit = state[2 * count + line];
  return made;
}

/* A number between two others, alpha and beta applied. */
typedef struct exact_enclosure {
  double lower, upper;
} exact_enclosure;

/* A sum or a product and what it lost. */
typedef struct exact_pair {
  double high, low;
} exact_pair;

TSL_FUNCTION exact_pair exact_sum_of(double a, double b) {
  exact_pair made;
  made.high = a + b;
  const double other = made.high - a;
  made.low = (a - (made.high - other)) + (b - other);
  return made;
}

TSL_FUNCTION exact_pair exact_product_of(double a, double b) {
  exact_pair made;
  made.high = TSL_MUL(double, a, b);
  made.low = TSL_FMA(a, b, -made.high);
  return made;
}

/* More than what a pair loses where its numbers are near the least ones; 0 where nothing is multiplied. */
TSL_FUNCTION double exact_underflow(double a, double b, double product) {
  const double size = exact_magnitude(product);
  return size * 0x1p-120 + (size < 0x1p-900 && a != 0 && b != 0 ? 0x1p-1060 : 0);
}

/* No sum of products of two lines is larger, whoever rounds it; 0 only where a line has nothing else. */
TSL_FUNCTION double exact_most(const exact_line *a, const exact_line *b) {
  const double one = a->largest * b->total, other = a->total * b->largest,
               least = one == one && !(one >= other) ? one : other;
  return least * (1 + 0x1p-20) + (least == 0 && a->largest > 0 && b->largest > 0 ? 0x1p-1074 : 0);
}

/* 1.5 2^top with all sums below 2^(top - 2), 0 where all of them are 0; NaN where numbers on the way could be
 * too large or too small. */
TSL_FUNCTION double exact_base(double most) {
  const TSL_INDEX exponent = (TSL_AS_INDEX(most) >> 52) + 3;
  return most == 0 ? 0
         : exponent >= 1023 - 950 && exponent <= 1023 + 1010
             ? TSL_AS_DOUBLE((exponent << 52) + ((TSL_INDEX)1 << 51))
             : TSL_NAN(double);
}

/* Whether sums of at most `most` lose nothing: they have `bits` bits from the last one on that products can
 * have. */
TSL_FUNCTION bool exact_loses_nothing(double most, const exact_line *a, const exact_line *b, double bits,
                                      const tsl_gemm_arguments *g) {
  return g->alpha == 1 && g->beta == 0 && most < bits * (a->unit * b->unit);
}

/* high + low, no negative zero; for types with fewer digits to the odd one of the doubles beside it, which is
 * rounded as that is itself. */
TSL_FUNCTION double exact_end(double high, double low) {
#ifdef TSL_REAL_IS_DOUBLE
  return high + low + 0.0;
#else
  const exact_pair sum = exact_sum_of(high, low);
  const TSL_INDEX bits = TSL_AS_INDEX(sum.high), away = (sum.high < 0) == (sum.low < 0);
  return sum.low == 0 || sum.low != sum.low ? sum.high + 0.0 : TSL_AS_DOUBLE((away ? bits : bits - 1) | 1);
#endif
}

/* Of a pair that started at exact_base(), as the host's enclose_pairs() says; sums that are off by so many
 * times as much. */
TSL_FUNCTION exact_enclosure exact_enclose_pair(double high, double low, double off_by, const exact_line *a,
                                                const exact_line *b, double before,
                                                const tsl_gemm_arguments *g) {
  const double most = exact_most(a, b), base = exact_base(most), alpha = g->k == 0 ? 0 : g->alpha,
               beta = g->beta, relative = (double)g->k * ((EXACT_PANEL + 5) / 1.5 * 0x1p-106);
  const exact_pair sum = exact_sum_of(high - base, low), scaled = exact_product_of(alpha, sum.high),
                   added = exact_product_of(beta, before), all = exact_sum_of(scaled.high, added.high);
  const double tail = TSL_MUL(double, alpha, sum.low), rest = all.low + (scaled.low + added.low) + tail;
  const exact_pair result = exact_sum_of(all.high, rest);
  const double summed = exact_magnitude(alpha) * (base * relative * off_by),
               off = summed + (summed < 0x1p-1000 && alpha != 0 && base > 0 ? 0x1p-1060 : 0) +
                     0x1p-50 * (exact_magnitude(all.low) + exact_magnitude(scaled.low) +
                                exact_magnitude(added.low) + exact_magnitude(tail)) +
                     0x1p-50 * exact_magnitude(result.low) + exact_underflow(alpha, sum.high, scaled.high) +
                     exact_underflow(beta, before, added.high),
               known = exact_loses_nothing(most, a, b, 0x1p93, g) ? 0 : off;
  exact_enclosure made;
  made.lower = exact_end(result.high, result.low - known);
  made.upper = exact_end(result.high, result.low + known);
  return made;
}

#ifdef TSL_REAL_IS_DOUBLE
TSL_FUNCTION exact_enclosure exact_enclose(double high, double beside, const exact_line *a,
                                           const exact_line *b, double before, const tsl_gemm_arguments *g) {
  return exact_enclose_pair(high, beside, 1, a, b, before, g);
}

TSL_FUNCTION double exact_rounded(double x) {
  return x;
}
#else
/* Nothing is too large or too small for a double. */
TSL_FUNCTION exact_enclosure exact_enclose(double high, double beside, const exact_line *a,
                                           const exact_line *b, double before, const tsl_gemm_arguments *g) {
  const double panels = (double)(g->k / EXACT_PANEL + 1), most = exact_most(a, b),
               relative = g->k == 0 ? 0 : (EXACT_PANEL + panels + 2) * 0x1p-53,
               alpha = g->k == 0 ? 0 : g->alpha, product = TSL_MUL(double, alpha, high),
               added = TSL_MUL(double, (double)g->beta, before), value = product + added + 0.0,
               off = exact_magnitude(alpha) * most * relative +
                     0x1p-50 * (exact_magnitude(product) + exact_magnitude(added)),
               known = exact_loses_nothing(most, a, b, 0x1p53, g) ? 0 : off;
  exact_enclosure made;
  (void)beside;
  made.lower = value - known;
  made.upper = value + known;
  return made;
}

/* To nearest even of the type of C, once: adding 1.5 2^52 of a narrow type's last place leaves nothing below
 * it. */
TSL_FUNCTION double exact_rounded(double x) {
#if TSL_C_DIGITS == 24
  return (double)(float)x;
#else
  const int exponent = (int)(TSL_AS_INDEX(x) >> 52 & 2047) - 1023 - (TSL_C_DIGITS - 1),
            last = exponent < TSL_C_LEAST ? TSL_C_LEAST : exponent;
  if (last > 900)
    return x; /* not finite, or far beyond */
  const double large = TSL_AS_DOUBLE((TSL_INDEX)(last + 52 + 1023) << 52) * 1.5;
  const double made = (x + large) - large;
  return made == 0 ? x * 0.0 : made; /* zeros keep its sign */
#endif
}
#endif

/* Whether all that is enclosed rounds to one number, which is stored then. */
TSL_FUNCTION bool exact_store_near(const exact_enclosure *enclosure, TSL_GLOBAL tsl_result *c) {
  const double result = exact_rounded(enclosure->lower);
  if (!(enclosure->lower == enclosure->lower) ||
      TSL_AS_INDEX(result) != TSL_AS_INDEX(exact_rounded(enclosure->upper)))
    return false;
  *c = tsl_rounded((TSL_REAL)result);
  return true;
}

TSL_FUNCTION double exact_before(TSL_GLOBAL const tsl_result *c, const tsl_gemm_arguments *g) {
  return g->beta == 0 ? 0 : (double)tsl_before(*c);
}

#endif
