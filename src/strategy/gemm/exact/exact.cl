/* Idea: as on the host (exact.c has a picture), sums that are nearly exact, with a bound of what they are off: where all that lies within it
 * rounds to one number of C's type, that is the element. Else the superaccumulator of the host, one for each work-item, to which the products
 * are added one by one, as integers. One rounding in either case, so both come to the same bits.
 * What it adds to `element`: no rounding but the last, so that a device's bits are the processor's. The dot `exact` has the
 * arithmetic, exact_shared.h, which the host compiles, too.
 *
 *   item (x, y) owns C(row, col) as in `element`; the superaccumulator's numbers, 8 bytes each, in memory of its own:
 *
 *   digits  | 83 | ... | 1 | 0 |   52 bits each from 2^-2150 on (floats: 19 from 2^-560)
 *   wide    | 259 | ...    | 0 |   26 bits each of alpha times that, and beta c (floats: 96)
 *
 * Nearly exact: of floats the sum of doubles by panels, since their products are exact; of doubles rounded products and rounded sums, and what
 * each of them lost, in a sum of its own (Ogita, Rump, Oishi: Accurate Sum and Dot Product, 2005). Other than on the host no largest number is
 * known beforehand; |A||B| is added up beside.
 *
 * Limits: real types; double precision, with subnormal numbers. A product takes 3 operations of f64 (f64: 13), and where a superaccumulator is
 * needed about 60 instructions on integers and six accesses to memory (floats: 20 and two). No parameters; any sizes and strides. */
#ifndef TSL_REAL_IS_DOUBLE
#define TSL_EXACT_OF_FLOATS
#endif
#include "elements.h"
#include "gemm.h"

/* An item's numbers are its own here, and not the group's. */
#undef TSL_LOCAL_POINTER
#define TSL_LOCAL_POINTER
#include "../../exact_shared.h"

#define COLUMNS 16
#define ROWS 4
/* Work-groups on a unit at once: the superaccumulator, which few elements need, would take the registers of most of them. */
#define GROUPS 10
/* Products between two settlings: each adds less than 3 * (2^53 + 2^52) to a digit. */
#define SETTLE_TERMS 256

/* The quiet NaN without sign or payload; what a conversion to f16 makes of one is each device's own. */
#if TSL_TYPE_C == TSL_TYPE_F16
#define EXACT_NAN ((unsigned short)0x7e00)
#else
#define EXACT_NAN tsl_rounded(TSL_NAN(TSL_REAL))
#endif

/* Products of two floats are doubles without an error. */
TSL_FUNCTION int exact_add_term(TSL_INDEX *digits, double x, double y) {
  if (!tsl_exact_is_finite(x) || !tsl_exact_is_finite(y))
    return tsl_exact_special(x * y);
#ifdef TSL_REAL_IS_DOUBLE
  tsl_exact_add_product(digits, x, y);
#else
  tsl_exact_add_double(digits, x * y);
#endif
  return 0;
}

/* --- nearly --- */

/* A number between two others, alpha and beta applied. */
typedef struct exact_enclosure {
  double lower, upper;
} exact_enclosure;

TSL_FUNCTION double exact_magnitude(double x) {
  return x < 0 ? -x : x;
}

#ifdef TSL_REAL_IS_DOUBLE
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

/* More than what a pair loses where its numbers are near the least ones. */
TSL_FUNCTION double exact_underflow(double a, double b, double product) {
  const double size = exact_magnitude(product);
  return size * 0x1p-120 + (size < 0x1p-900 && a != 0 && b != 0 ? 0x1p-1060 : 0);
}

/* The k sums and k products lose at most u and 2^-1074 of what is there each: no more than (k + 1) u |A||B| in all, whose sum is off by
 * (k + 2) u of that, u being 2^-53. */
TSL_FUNCTION exact_enclosure exact_near(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                        double before, const tsl_gemm_arguments *g) {
  double sum = 0, lost = 0, size = 0;
  for (TSL_INDEX l = 0; l < g->k; l++) {
    const exact_pair product = exact_product_of(a[l * g->a_col_stride], b[l * g->b_row_stride]),
                     next = exact_sum_of(sum, product.high);
    sum = next.high;
    lost += next.low + product.low;
    size += exact_magnitude(product.high);
  }
  const double k = (double)g->k + 2, alpha = g->k == 0 ? 0 : g->alpha, beta = g->beta;
  const exact_pair all = exact_sum_of(sum, lost), scaled = exact_product_of(alpha, all.high),
                   added = exact_product_of(beta, before), both = exact_sum_of(scaled.high, added.high);
  const double tail = TSL_MUL(double, alpha, all.low), rest = both.low + (scaled.low + added.low) + tail;
  const exact_pair result = exact_sum_of(both.high, rest);
  const double off =
      exact_magnitude(alpha) * (size * (k * k * 0x1.1p-106)) +
      (exact_magnitude(alpha) < 1 ? 1 : exact_magnitude(alpha)) * (k * 0x1p-1070) +
      0x1p-50 * (exact_magnitude(both.low) + exact_magnitude(scaled.low) + exact_magnitude(added.low) +
                 exact_magnitude(tail) + exact_magnitude(result.low)) +
      exact_underflow(alpha, all.high, scaled.high) + exact_underflow(beta, before, added.high);
  exact_enclosure made;
  made.lower = result.high + (result.low - off) + 0.0; /* no negative zero */
  made.upper = result.high + (result.low + off) + 0.0;
  return made;
}

TSL_FUNCTION double exact_rounded(double x) {
  return x;
}
#else
#define NEAR_PANEL 256

/* A panel's sum, from 0 on, and the sum of panels: off by (256 + panels + 1) 2^-53 |A||B|. Nothing is too large or too small for a double. */
TSL_FUNCTION exact_enclosure exact_near(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                        double before, const tsl_gemm_arguments *g) {
  double sum = 0, size = 0, panels = 1;
  for (TSL_INDEX first = 0; first < g->k; first += NEAR_PANEL, panels++) {
    const TSL_INDEX end = first + NEAR_PANEL < g->k ? first + NEAR_PANEL : g->k;
    double panel = 0;
    for (TSL_INDEX l = first; l < end; l++) {
      const double product = TSL_MUL(double, (double)tsl_number(a[l * g->a_col_stride], true),
                                     (double)tsl_number(b[l * g->b_row_stride], true));
      panel += product;
      size += exact_magnitude(product);
    }
    sum += panel;
  }
  const double alpha = g->k == 0 ? 0 : g->alpha, product = TSL_MUL(double, alpha, sum),
               added = TSL_MUL(double, (double)g->beta, before), value = product + added + 0.0,
               off = exact_magnitude(alpha) * (size * ((NEAR_PANEL + 2 + panels) * 0x1.1p-53)) +
                     0x1p-50 * (exact_magnitude(product) + exact_magnitude(added));
  exact_enclosure made;
  made.lower = value - off;
  made.upper = value + off;
  return made;
}

/* To nearest even of the type of C, once: adding 1.5 2^52 of a narrow type's last place leaves nothing below it. */
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

/* --- an element --- */

/* Whether all that is enclosed rounds to one number, which is stored then. */
TSL_FUNCTION bool exact_store_near(const exact_enclosure *of, TSL_GLOBAL tsl_result *c) {
  const double result = exact_rounded(of->lower);
  if (!(of->lower == of->lower) || TSL_AS_INDEX(result) != TSL_AS_INDEX(exact_rounded(of->upper)))
    return false;
  *c = tsl_rounded((TSL_REAL)result);
  return true;
}

TSL_FUNCTION void exact_element(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                TSL_GLOBAL tsl_result *c, const tsl_gemm_arguments *g) {
  TSL_INDEX digits[TSL_EXACT_DIGITS], wide[TSL_EXACT_WIDE];
  int flags = 0;
  for (int i = 0; i < TSL_EXACT_DIGITS; i++)
    digits[i] = 0;
  for (int i = 0; i < TSL_EXACT_WIDE; i++)
    wide[i] = 0;
  for (TSL_INDEX l = 0; l < g->k; l++) {
    flags |= exact_add_term(digits, tsl_number(a[l * g->a_col_stride], true),
                            tsl_number(b[l * g->b_row_stride], true));
    if (l % SETTLE_TERMS == SETTLE_TERMS - 1)
      tsl_exact_settle(digits);
  }
  tsl_exact_settle(digits);
  /* A sum of nothing is not scaled. */
  const double result =
      tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, flags, g->k == 0 ? 0 : g->alpha, g->beta,
                       g->beta == 0 ? 0 : tsl_before(*c), wide, TSL_C_DIGITS, TSL_C_LEAST);
  *c = result == result ? tsl_rounded((TSL_REAL)result) : EXACT_NAN;
}

TSL_KERNEL_SHARING(COLUMNS, ROWS, 1, GROUPS)
tsl_gemm_exact(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, const tsl_gemm_arguments g) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0);
  if (col >= g.n)
    return;
  TSL_GLOBAL const tsl_element *const of_b = b + g.b_offset + col * g.b_col_stride;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < g.m; row += (TSL_INDEX)TSL_GROUPS(1) * ROWS) {
    TSL_GLOBAL const tsl_element *const of_a = a + g.a_offset + row * g.a_row_stride;
    TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
    const exact_enclosure of = exact_near(of_a, of_b, g.beta == 0 ? 0 : (double)tsl_before(*to), &g);
    if (!exact_store_near(&of, to))
      exact_element(of_a, of_b, to, &g);
  }
}
