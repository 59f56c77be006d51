/* Idea: as on the host (exact.c has a picture), sums that are nearly exact, with a bound of what they are off: where all that lies within it
 * rounds to one number of C's type, that is the element. Else the superaccumulator of the host, one for each work-item, to which the products
 * are added one by one, as integers. One rounding in either case, so both come to the same bits.
 * What it adds to `element`: no rounding but the last, so that a device's bits are the processor's. The dot `exact` has the
 * arithmetic, exact_shared.h, which the host compiles, too.
 *
 *   lines    what each row of A and each column of B has at most, in all, and as a unit: what sums of their products may come to
 *   near     tiles: an item (x, y) of 16 x 16 has EACH x EACH sums          B   [ x x+16 x+32 ]   16 steps, as doubles
 *            in registers, and leaves word of those that are not decided    A
 *   left     these, one after the other                                     [4y ... 4y+3]  o  o  o
 *
 *   digits  | 83 | ... | 1 | 0 |   of a superaccumulator: 52 bits each from 2^-2150 on (floats: 19 from 2^-560)
 *   wide    | 259 | ...    | 0 |   26 bits each of alpha times that, and beta c (floats: 96)
 *
 * Nearly exact (near.h): of floats the sum of doubles by panels, since their products are exact; of doubles pairs, whose high part starts so
 * high that what a multiply-add takes off it is known. What a sum of floats leaves open is added up as such a pair first.
 *
 * From the host: EACH, 1, 2 or 4; types (kernel/elements.h). In a buffer of its own: of A's m lines largest numbers, totals and units, of B's n
 * likewise, doubles all; behind them a word for each item of each tile, bit EACH i + j for element (i, j).
 *
 * Limits: real types; double precision, with subnormal numbers. A product takes 1 operation of f64 (of f64 itself: 4), and where a superaccumulator is
 * needed about 60 instructions on integers and six accesses to memory (floats: 20 and two). Any sizes and strides. */
#ifndef TSL_REAL_IS_DOUBLE
#define TSL_EXACT_OF_FLOATS
#endif
#include "elements.h"
#include "gemm.h"

#define SIDE 16
#define ITEMS (SIDE * SIDE)
#define TILE (SIDE * EACH)
#define STEP 16
#define PITCH (TILE + 2)
/* Terms between two moments when what lies beside sums is taken into them. */
#define PANEL 256
/* Work-groups on a unit at once: of tiles with their sums in registers, and of superaccumulators, which few elements need. */
#define GROUPS 2

/* --- lines --- */

#define LINES 16

TSL_FUNCTION double exact_magnitude(double x) {
  return x < 0 ? -x : x;
}

/* Whether numbers lie nearer to each other along one stride than along the other. */
TSL_FUNCTION bool exact_along(TSL_INDEX stride, TSL_INDEX other) {
  return (stride < 0 ? -stride : stride) <= (other < 0 ? -other : other);
}

TSL_FUNCTION double exact_infinity(void) {
  return TSL_AS_DOUBLE((TSL_INDEX)0x7ff << 52);
}

/* The last bit of a number that is set, as a number; 0 of 0. */
TSL_FUNCTION double exact_last_bit(double size) {
  const TSL_INDEX bits = TSL_AS_INDEX(size);
  return (bits & (((TSL_INDEX)1 << 52) - 1)) == 0 ? size : size - TSL_AS_DOUBLE(bits & (bits - 1));
}

/* A line's numbers (near.h). */
typedef struct exact_line {
  double largest, total, unit;
} exact_line;

TSL_FUNCTION exact_line exact_line_with(exact_line of, double largest, double total, double unit) {
  of.largest = largest > of.largest ? largest : of.largest;
  of.total += total;
  of.unit = unit > 0 && unit < of.unit ? unit : of.unit;
  return of;
}

/* Groups of LINES lines of A, then of B; items go along lines where numbers lie side by side there, else across. */
TSL_KERNEL(SIDE, SIDE, 1)
tsl_exact_lines(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                TSL_GLOBAL double *TSL_RESTRICT lines, const tsl_gemm_arguments g) {
  TSL_LOCAL double parts[3 * LINES * (SIDE + 1)];
  const TSL_INDEX groups_of_a = (g.m + LINES - 1) / LINES;
  const bool of_b = TSL_GROUP(0) >= groups_of_a;
  TSL_GLOBAL const tsl_element *const from = of_b ? b + g.b_offset : a + g.a_offset;
  const TSL_INDEX line_stride = of_b ? g.b_col_stride : g.a_row_stride,
                  step = of_b ? g.b_row_stride : g.a_col_stride, count = of_b ? g.n : g.m,
                  first = (TSL_GROUP(0) - (of_b ? groups_of_a : 0)) * LINES;
  const bool along = exact_along(step, line_stride);
  const int line = along ? TSL_ITEM(1) : TSL_ITEM(0), part = along ? TSL_ITEM(0) : TSL_ITEM(1);
  exact_line own;
  own.largest = own.total = 0;
  own.unit = exact_infinity();
  if (first + line < count)
    for (TSL_INDEX l = part; l < g.k; l += SIDE) {
      const double size =
          exact_magnitude((double)tsl_number(from[(first + line) * line_stride + l * step], true));
      own = exact_line_with(own, size, size, exact_last_bit(size));
    }
  const int at = line * (SIDE + 1) + part;
  parts[at] = own.largest;
  parts[LINES * (SIDE + 1) + at] = own.total;
  parts[2 * LINES * (SIDE + 1) + at] = own.unit;
  TSL_BARRIER();
  const int mine = TSL_ITEM(1) * SIDE + TSL_ITEM(0);
  if (mine >= LINES || first + mine >= count)
    return;
  own.largest = own.total = 0;
  own.unit = exact_infinity();
  for (int i = 0; i < SIDE; i++) {
    const int there = mine * (SIDE + 1) + i;
    own = exact_line_with(own, parts[there], parts[LINES * (SIDE + 1) + there],
                          parts[2 * LINES * (SIDE + 1) + there]);
  }
  TSL_GLOBAL double *const to = lines + (of_b ? 3 * g.m : 0) + first + mine;
  to[0] = own.total - own.total == 0 ? own.largest : own.total; /* not finite: both say so */
  to[count] = own.total;
  to[2 * count] = own.unit;
}

TSL_FUNCTION exact_line exact_line_at(TSL_GLOBAL const double *of, TSL_INDEX count, TSL_INDEX line) {
  exact_line made;
  made.largest = of[line];
  made.total = of[count + line];
  made.unit = of[2 * count + line];
  return made;
}

/* --- tiles --- */

/* Numbers of a tile's step that an item brings: along lines, or across them. */
typedef struct exact_fetched {
  tsl_element at[EACH];
} exact_fetched;

TSL_FUNCTION exact_fetched exact_fetch(TSL_GLOBAL const tsl_element *from, TSL_INDEX line_stride,
                                       TSL_INDEX step, bool along, TSL_INDEX first_line, TSL_INDEX lines,
                                       TSL_INDEX first, TSL_INDEX terms) {
  exact_fetched made;
  TSL_UNROLL
  for (int i = 0; i < EACH; i++) {
    const int e = TSL_ITEM(1) * SIDE + TSL_ITEM(0) + i * ITEMS;
    const TSL_INDEX line = first_line + (along ? e / STEP : e % TILE),
                    l = first + (along ? e % STEP : e / TILE);
    made.at[i] = line < lines && l < terms ? from[line * line_stride + l * step] : (tsl_element)0;
  }
  return made;
}

TSL_FUNCTION void exact_put(const exact_fetched *of, bool along, TSL_LOCAL_POINTER double *to) {
  TSL_UNROLL
  for (int i = 0; i < EACH; i++) {
    const int e = TSL_ITEM(1) * SIDE + TSL_ITEM(0) + i * ITEMS;
    to[along ? e % STEP * PITCH + e / STEP : e / TILE * PITCH + e % TILE] =
        (double)tsl_number(of->at[i], true);
  }
}

/* EACH x EACH sums and what lies beside them: of floats the panel's own sums, of doubles what sums have lost. */
typedef struct exact_sums {
  double high[EACH * EACH], beside[EACH * EACH];
} exact_sums;

TSL_FUNCTION void exact_add_step(exact_sums *of, TSL_LOCAL_POINTER const double *a,
                                 TSL_LOCAL_POINTER const double *b) {
  TSL_UNROLL
  for (int l = 0; l < STEP; l++) {
    double of_a[EACH], of_b[EACH];
    TSL_UNROLL
    for (int i = 0; i < EACH; i++) {
      of_a[i] = a[l * PITCH + TSL_ITEM(1) * EACH + i];
      of_b[i] = b[l * PITCH + TSL_ITEM(0) + SIDE * i];
    }
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
#ifdef TSL_REAL_IS_DOUBLE
      const double next = TSL_FMA(of_a[e / EACH], of_b[e % EACH], of->high[e]), moved = next - of->high[e];
      of->beside[e] += TSL_FMA(of_a[e / EACH], of_b[e % EACH], -moved);
      of->high[e] = next;
#else
      of->beside[e] = TSL_FMA(of_a[e / EACH], of_b[e % EACH], of->beside[e]);
#endif
    }
  }
}

/* Behind a panel: of pairs nothing is lost. */
TSL_FUNCTION void exact_settle_sums(exact_sums *of) {
  TSL_UNROLL
  for (int e = 0; e < EACH * EACH; e++) {
    const double all = of->high[e] + of->beside[e];
#ifdef TSL_REAL_IS_DOUBLE
    of->beside[e] -= all - of->high[e];
#else
    of->beside[e] = 0;
#endif
    of->high[e] = all;
  }
}

/* An item's numbers are its own from here on, and not the group's. */
#undef TSL_LOCAL_POINTER
#define TSL_LOCAL_POINTER
#include "../../exact_shared.h"

/* Products between two settlings of a superaccumulator: each adds less than 3 * (2^53 + 2^52) to a digit. */
#define SETTLE_TERMS 256

/* The quiet NaN without sign or payload; what a conversion to f16 makes of one is each device's own. */
#if TSL_TYPE_C == TSL_TYPE_F16
#define EXACT_NAN ((unsigned short)0x7e00)
#else
#define EXACT_NAN tsl_rounded(TSL_NAN(TSL_REAL))
#endif

/* --- nearly --- */

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

/* 1.5 2^top with all sums below 2^(top - 2), 0 where all of them are 0; NaN where numbers on the way could be too large or too small. */
TSL_FUNCTION double exact_base(double most) {
  const TSL_INDEX exponent = (TSL_AS_INDEX(most) >> 52) + 3;
  return most == 0 ? 0
         : exponent >= 1023 - 950 && exponent <= 1023 + 1010
             ? TSL_AS_DOUBLE((exponent << 52) + ((TSL_INDEX)1 << 51))
             : TSL_NAN(double);
}

/* Whether sums of at most `most` lose nothing: they have `bits` bits from the last one on that products can have. */
TSL_FUNCTION bool exact_loses_nothing(double most, const exact_line *a, const exact_line *b, double bits,
                                      const tsl_gemm_arguments *g) {
  return g->alpha == 1 && g->beta == 0 && most < bits * (a->unit * b->unit);
}

/* high + low, no negative zero; for types with fewer digits to the odd one of the doubles beside it, which is rounded as that is itself. */
TSL_FUNCTION double exact_end(double high, double low) {
#ifdef TSL_REAL_IS_DOUBLE
  return high + low + 0.0;
#else
  const exact_pair sum = exact_sum_of(high, low);
  const TSL_INDEX bits = TSL_AS_INDEX(sum.high), away = (sum.high < 0) == (sum.low < 0);
  return sum.low == 0 || sum.low != sum.low ? sum.high + 0.0 : TSL_AS_DOUBLE((away ? bits : bits - 1) | 1);
#endif
}

/* Of a pair that started at exact_base(), as the host's enclose_pairs() says. */
TSL_FUNCTION exact_enclosure exact_enclose_pair(double high, double low, const exact_line *a,
                                                const exact_line *b, double before,
                                                const tsl_gemm_arguments *g) {
  const double most = exact_most(a, b), base = exact_base(most), alpha = g->k == 0 ? 0 : g->alpha,
               beta = g->beta, relative = (double)g->k * ((261. / 1.5) * 0x1p-106);
  const exact_pair sum = exact_sum_of(high - base, low), scaled = exact_product_of(alpha, sum.high),
                   added = exact_product_of(beta, before), all = exact_sum_of(scaled.high, added.high);
  const double tail = TSL_MUL(double, alpha, sum.low), rest = all.low + (scaled.low + added.low) + tail;
  const exact_pair result = exact_sum_of(all.high, rest);
  const double summed = exact_magnitude(alpha) * (base * relative),
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
  return exact_enclose_pair(high, beside, a, b, before, g);
}

TSL_FUNCTION double exact_rounded(double x) {
  return x;
}
#else
/* Nothing is too large or too small for a double. */
TSL_FUNCTION exact_enclosure exact_enclose(double high, double beside, const exact_line *a,
                                           const exact_line *b, double before, const tsl_gemm_arguments *g) {
  const double panels = (double)(g->k / PANEL + 1), most = exact_most(a, b),
               relative = g->k == 0 ? 0 : (PANEL + panels + 2) * 0x1p-53, alpha = g->k == 0 ? 0 : g->alpha,
               product = TSL_MUL(double, alpha, high), added = TSL_MUL(double, (double)g->beta, before),
               value = product + added + 0.0,
               off = exact_magnitude(alpha) * most * relative +
                     0x1p-50 * (exact_magnitude(product) + exact_magnitude(added)),
               known = exact_loses_nothing(most, a, b, 0x1p53, g) ? 0 : off;
  exact_enclosure made;
  (void)beside;
  made.lower = value - known;
  made.upper = value + known;
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

/* Whether all that is enclosed rounds to one number, which is stored then. */
TSL_FUNCTION bool exact_store_near(const exact_enclosure *of, TSL_GLOBAL tsl_result *c) {
  const double result = exact_rounded(of->lower);
  if (!(of->lower == of->lower) || TSL_AS_INDEX(result) != TSL_AS_INDEX(exact_rounded(of->upper)))
    return false;
  *c = tsl_rounded((TSL_REAL)result);
  return true;
}

/* Where an item's word is, behind the lines' numbers. */
TSL_FUNCTION TSL_INDEX exact_word(TSL_INDEX tile, const tsl_gemm_arguments *g) {
  return 12 * (g->m + g->n) + (tile * TSL_GROUPS(0) + TSL_GROUP(0)) * ITEMS + TSL_ITEM(1) * SIDE +
         TSL_ITEM(0);
}

TSL_FUNCTION double exact_before(TSL_GLOBAL const tsl_result *c, const tsl_gemm_arguments *g) {
  return g->beta == 0 ? 0 : (double)tsl_before(*c);
}

TSL_KERNEL_SHARING(SIDE, SIDE, 1, GROUPS)
tsl_exact_near(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, TSL_GLOBAL const double *TSL_RESTRICT lines,
               TSL_GLOBAL unsigned short *TSL_RESTRICT open, const tsl_gemm_arguments g) {
  TSL_LOCAL double of_a[STEP * PITCH];
  TSL_LOCAL double of_b[STEP * PITCH];
  const bool a_along = exact_along(g.a_col_stride, g.a_row_stride),
             b_along = exact_along(g.b_row_stride, g.b_col_stride);
  const TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TILE, tiles = (g.m + TILE - 1) / TILE;
  for (TSL_INDEX tile = TSL_GROUP(1); tile < tiles; tile += TSL_GROUPS(1)) {
    const TSL_INDEX first_row = tile * TILE;
    exact_sums sums;
    exact_line of_row[EACH], of_col[EACH];
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
      sums.high[e] = sums.beside[e] = 0;
#ifdef TSL_REAL_IS_DOUBLE
    TSL_UNROLL
    for (int i = 0; i < EACH; i++) {
      const TSL_INDEX row = first_row + TSL_ITEM(1) * EACH + i, col = first_col + TSL_ITEM(0) + SIDE * i;
      of_row[i] = exact_line_at(lines, g.m, row < g.m ? row : g.m - 1);
      of_col[i] = exact_line_at(lines + 3 * g.m, g.n, col < g.n ? col : g.n - 1);
    }
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
      sums.high[e] = exact_base(exact_most(&of_row[e / EACH], &of_col[e % EACH]));
#endif
    exact_fetched from_a =
        exact_fetch(a + g.a_offset, g.a_row_stride, g.a_col_stride, a_along, first_row, g.m, 0, g.k);
    exact_fetched from_b =
        exact_fetch(b + g.b_offset, g.b_col_stride, g.b_row_stride, b_along, first_col, g.n, 0, g.k);
    for (TSL_INDEX first = 0; first < g.k; first += STEP) {
      TSL_BARRIER();
      exact_put(&from_a, a_along, of_a);
      exact_put(&from_b, b_along, of_b);
      TSL_BARRIER();
      from_a = exact_fetch(a + g.a_offset, g.a_row_stride, g.a_col_stride, a_along, first_row, g.m,
                           first + STEP, g.k);
      from_b = exact_fetch(b + g.b_offset, g.b_col_stride, g.b_row_stride, b_along, first_col, g.n,
                           first + STEP, g.k);
      exact_add_step(&sums, of_a, of_b);
      if (first % PANEL == PANEL - STEP || first + STEP >= g.k)
        exact_settle_sums(&sums);
    }
    unsigned left = 0;
    TSL_UNROLL
    for (int i = 0; i < EACH; i++) {
      const TSL_INDEX row = first_row + TSL_ITEM(1) * EACH + i, col = first_col + TSL_ITEM(0) + SIDE * i;
      of_row[i] = exact_line_at(lines, g.m, row < g.m ? row : g.m - 1);
      of_col[i] = exact_line_at(lines + 3 * g.m, g.n, col < g.n ? col : g.n - 1);
    }
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
      const TSL_INDEX row = first_row + TSL_ITEM(1) * EACH + e / EACH,
                      col = first_col + TSL_ITEM(0) + SIDE * (e % EACH);
      if (row < g.m && col < g.n) {
        TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
        const exact_enclosure of = exact_enclose(sums.high[e], sums.beside[e], &of_row[e / EACH],
                                                 &of_col[e % EACH], exact_before(to, &g), &g);
        left |= exact_store_near(&of, to) ? 0u : 1u << e;
      }
    }
    open[exact_word(tile, &g)] = (unsigned short)left;
  }
}

/* --- what is left --- */

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

#ifndef TSL_REAL_IS_DOUBLE
/* As a pair, which leaves next to nothing open. */
TSL_FUNCTION bool exact_as_pair(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                TSL_GLOBAL tsl_result *c, const exact_line *row, const exact_line *col,
                                const tsl_gemm_arguments *g) {
  double high = exact_base(exact_most(row, col)), low = 0;
  for (TSL_INDEX l = 0; l < g->k; l++) {
    const double x = tsl_number(a[l * g->a_col_stride], true), y = tsl_number(b[l * g->b_row_stride], true),
                 next = TSL_FMA(x, y, high), moved = next - high;
    low += TSL_FMA(x, y, -moved);
    high = next;
    if (l % PANEL == PANEL - 1) {
      const double all = high + low;
      low -= all - high;
      high = all;
    }
  }
  const exact_enclosure of = exact_enclose_pair(high, low, row, col, exact_before(c, g), g);
  return exact_store_near(&of, c);
}
#endif

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

TSL_KERNEL_SHARING(SIDE, SIDE, 1, GROUPS)
tsl_exact_left(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, TSL_GLOBAL const double *TSL_RESTRICT lines,
               TSL_GLOBAL const unsigned short *TSL_RESTRICT open, const tsl_gemm_arguments g) {
  const TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TILE, tiles = (g.m + TILE - 1) / TILE;
  for (TSL_INDEX tile = TSL_GROUP(1); tile < tiles; tile += TSL_GROUPS(1)) {
    const unsigned left = open[exact_word(tile, &g)];
    for (int e = 0; left >> e != 0; e++) {
      const TSL_INDEX row = tile * TILE + TSL_ITEM(1) * EACH + e / EACH,
                      col = first_col + TSL_ITEM(0) + SIDE * (e % EACH);
      TSL_GLOBAL const tsl_element *const of_a = a + g.a_offset + row * g.a_row_stride;
      TSL_GLOBAL const tsl_element *const of_b = b + g.b_offset + col * g.b_col_stride;
      TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
      if ((left >> e & 1) == 0)
        continue;
#ifndef TSL_REAL_IS_DOUBLE
      const exact_line of_row = exact_line_at(lines, g.m, row),
                       of_col = exact_line_at(lines + 3 * g.m, g.n, col);
      if (exact_as_pair(of_a, of_b, to, &of_row, &of_col, &g))
        continue;
#endif
      exact_element(of_a, of_b, to, &g);
    }
  }
}
