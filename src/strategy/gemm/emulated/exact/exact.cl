/* Idea: exact on devices: nearly exact sums with error bounds (exact.c has a picture). If all values within
 * the bounds round to one number of C's type, that is the element. Otherwise each work-item has a
 * superaccumulator of integers, to which the products are added one by one. Both round once, so the bits are
 * equal, and equal to the processor's. The arithmetic is exact_shared.h of the dot `exact`, which the host
 * compiles too.
 *
 *   lines    for each row of A and column of B: largest magnitude, total, and unit
 *   near     tiles: an item (x, y) of 16 x 16 has EACH x EACH sums          B   [ x x+16 x+32 ]   16 steps
 *            in registers, and stores flags of the undecided elements       A                     as doubles
 *   pairs    floats: undecided elements again, all items for each           [4y ... 4y+3]  o  o  o
 *   left     the elements that are still undecided, one by one
 *
 *   digits  | 83 | ... | 1 | 0 |   of a superaccumulator: 52 bits each from 2^-2150 (floats: 19 from 2^-560)
 *   wide    | 259 | ...    | 0 |   26 bits each of alpha times that, and beta c (floats: 96)
 *
 * Nearly exact sums (exact_near.h): of floats in doubles by panels, since the products are exact; of doubles
 * as pairs. Undecided sums of floats are added up as such pairs first.
 *
 * The host defines EACH: 1, 2 or 4; TOGETHER: 1 if items share pairs, else each item adds up its own after
 * the tiles. The scratch buffer holds the largest magnitudes, totals and units of A's m lines, then of B's n
 * lines, as doubles. Then follows a word for each item of each tile, bit EACH i + j for element (i, j).
 *
 * Limits: real types; double precision with subnormal numbers. A product takes one f64 operation (f64: four);
 * with a superaccumulator about 60 integer instructions and six memory accesses. Any sizes and strides. */
#ifndef TSL_REAL_IS_DOUBLE
#define TSL_EXACT_OF_FLOATS
#endif
#include "kernel_elements.h"
#include "kernel_exact_near.h"
#include "kernel_gemm.h"

#define SIDE 16
#define ITEMS (SIDE * SIDE)
#define TILE (SIDE * EACH)
#define STEP 16
#define PITCH (TILE + 2)
/* Groups that share a compute unit. */
#define GROUPS 2

#define LINES 16
#define LOADS_IN_FLIGHT 8

/* Returns true if numbers are closer along `stride` than along `other`. */
TSL_FUNCTION bool exact_along(TSL_INDEX stride, TSL_INDEX other) {
  return (stride < 0 ? -stride : stride) <= (other < 0 ? -other : other);
}

TSL_FUNCTION double exact_infinity(void) {
  return TSL_AS_DOUBLE((TSL_INDEX)0x7ff << 52);
}

/* Returns the value of a number's last set bit; 0 for 0. */
TSL_FUNCTION double exact_last_bit(double size) {
  const TSL_INDEX bits = TSL_AS_INDEX(size);
  return (bits & (((TSL_INDEX)1 << 52) - 1)) == 0 ? size : size - TSL_AS_DOUBLE(bits & (bits - 1));
}

TSL_FUNCTION exact_line exact_merge_into_line(exact_line line, double largest, double total, double unit) {
  line.largest = largest > line.largest ? largest : line.largest;
  line.total += total;
  line.unit = unit > 0 && unit < line.unit ? unit : line.unit;
  return line;
}

/* Measures LINES lines of A, then of B, in each group. */
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
    for (TSL_INDEX l = part; l < g.k; l += SIDE * LOADS_IN_FLIGHT) {
      double sizes[LOADS_IN_FLIGHT];
      TSL_UNROLL
      for (int i = 0; i < LOADS_IN_FLIGHT; i++)
        sizes[i] = l + i * SIDE < g.k ? exact_magnitude((double)tsl_number(
                                            from[(first + line) * line_stride + (l + i * SIDE) * step], true))
                                      : 0;
      TSL_UNROLL
      for (int i = 0; i < LOADS_IN_FLIGHT; i++)
        own = exact_merge_into_line(own, sizes[i], sizes[i], exact_last_bit(sizes[i]));
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
    own = exact_merge_into_line(own, parts[there], parts[LINES * (SIDE + 1) + there],
                                parts[2 * LINES * (SIDE + 1) + there]);
  }
  TSL_GLOBAL double *const to = lines + (of_b ? 3 * g.m : 0) + first + mine;
  to[0] = own.total - own.total == 0 ? own.largest : own.total; /* not finite: both magnitudes show it */
  to[count] = own.total;
  to[2 * count] = own.unit;
}

/* Numbers of a step that an item loads: EACH, from several lines or from one. */
typedef struct exact_source {
  TSL_GLOBAL const tsl_element *at;
  TSL_INDEX distance, step_distance; /* distance to the next number, and to the next step */
  /* lines within the matrix, and the terms of a step that the numbers belong to */
  int lines, term, term_distance;
  int local_index, local_distance; /* position in local memory, and distance to the next */
} exact_source;
typedef struct exact_fetched {
  tsl_element at[EACH];
} exact_fetched;

TSL_FUNCTION exact_source exact_source_of(TSL_GLOBAL const tsl_element *from, TSL_INDEX line_stride,
                                          TSL_INDEX step, TSL_INDEX first_line, TSL_INDEX lines) {
  const bool along = exact_along(step, line_stride);
  const int item = TSL_ITEM(1) * SIDE + TSL_ITEM(0);
  const TSL_INDEX line = first_line + (along ? item / STEP : item % TILE);
  exact_source source;
  source.term = along ? item % STEP : item / TILE;
  source.term_distance = along ? 0 : ITEMS / TILE;
  source.at = from + line * line_stride + source.term * step;
  source.distance = along ? ITEMS / STEP * line_stride : source.term_distance * step;
  source.step_distance = STEP * step;
  source.lines = 0;
  for (int i = 0; i < EACH; i++)
    source.lines += line + (along ? i * (ITEMS / STEP) : 0) < lines;
  source.local_index = source.term * PITCH + (int)(line - first_line);
  source.local_distance = along ? ITEMS / STEP : source.term_distance * PITCH;
  return source;
}

/* Loads the numbers of the next step, which has `terms` terms; 0 outside of these and of the matrix. */
TSL_FUNCTION exact_fetched exact_fetch(exact_source *from, TSL_INDEX terms) {
  exact_fetched numbers;
  TSL_UNROLL
  for (int i = 0; i < EACH; i++)
    numbers.at[i] = i < from->lines && from->term + i * from->term_distance < terms
                        ? from->at[i * from->distance]
                        : (tsl_element)0;
  from->at += from->step_distance;
  return numbers;
}

TSL_FUNCTION void exact_store_local(const exact_fetched *fetched, const exact_source *from,
                                    TSL_LOCAL_POINTER double *dst) {
  TSL_UNROLL
  for (int i = 0; i < EACH; i++)
    dst[from->local_index + i * from->local_distance] = (double)tsl_number(fetched->at[i], true);
}

typedef struct exact_sums {
  /* EACH x EACH sums; `panel_or_low` is the panel's own sum for floats, the low part for doubles */
  double high[EACH * EACH], panel_or_low[EACH * EACH];
} exact_sums;

TSL_FUNCTION void exact_add_step(exact_sums *sums, TSL_LOCAL_POINTER const double *a,
                                 TSL_LOCAL_POINTER const double *b) {
  TSL_UNROLL_BY(4)
  for (int l = 0; l < STEP; l++) {
    double of_a[EACH], of_b[EACH];
    TSL_UNROLL
    for (int i = 0; i < EACH; i++)
      of_b[i] = b[l * PITCH + TSL_ITEM(0) + SIDE * i];
#if EACH == 1
    of_a[0] = a[l * PITCH + TSL_ITEM(1)];
#else
    TSL_UNROLL
    for (int i = 0; i < EACH; i += 2) {
      const TSL_VECTOR(double, 2) two = TSL_LOCAL_LOAD(double, 2, a + l * PITCH + TSL_ITEM(1) * EACH + i);
      of_a[i] = TSL_LANE(two, 0);
      of_a[i + 1] = TSL_LANE(two, 1);
    }
#endif
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
#ifdef TSL_REAL_IS_DOUBLE
      const double next = TSL_FMA(of_a[e / EACH], of_b[e % EACH], sums->high[e]),
                   moved = next - sums->high[e];
      sums->panel_or_low[e] += TSL_FMA(of_a[e / EACH], of_b[e % EACH], -moved);
      sums->high[e] = next;
#else
      sums->panel_or_low[e] = TSL_FMA(of_a[e / EACH], of_b[e % EACH], sums->panel_or_low[e]);
#endif
    }
  }
}

/* Ends a panel; pairs lose nothing. */
TSL_FUNCTION void exact_end_panel(exact_sums *sums) {
  TSL_UNROLL
  for (int e = 0; e < EACH * EACH; e++) {
    const double all = sums->high[e] + sums->panel_or_low[e];
#ifdef TSL_REAL_IS_DOUBLE
    sums->panel_or_low[e] -= all - sums->high[e];
#else
    sums->panel_or_low[e] = 0;
#endif
    sums->high[e] = all;
  }
}

/* from here on an item's data is private, not local */
#undef TSL_LOCAL_POINTER
#define TSL_LOCAL_POINTER
#include "../../../exact_sums/exact_shared.h"

/* Products between two carry propagations: each adds less than 3 * (2^53 + 2^52) to a digit. */
#define SETTLE_TERMS 256

/* Quiet NaN without sign or payload: devices convert a NaN to f16 differently. */
#if TSL_TYPE_C == TSL_TYPE_F16
#define EXACT_NAN ((unsigned short)0x7e00)
#else
#define EXACT_NAN tsl_round_to_result(TSL_NAN(TSL_REAL))
#endif

/* Returns the row of an item's element e, which may lie beyond C. */
TSL_FUNCTION TSL_INDEX exact_row(TSL_INDEX first_row, int e) {
  return first_row + TSL_ITEM(1) * EACH + e / EACH;
}
TSL_FUNCTION TSL_INDEX exact_col(TSL_INDEX first_col, int e) {
  return first_col + TSL_ITEM(0) + SIDE * (e % EACH);
}
TSL_FUNCTION exact_line exact_measures_of_row(TSL_GLOBAL const double *lines, TSL_INDEX first_row, int e,
                                              const tsl_gemm_arguments *g) {
  const TSL_INDEX row = exact_row(first_row, e);
  return exact_load_line(lines, g->m, row < g->m ? row : g->m - 1);
}
TSL_FUNCTION exact_line exact_measures_of_col(TSL_GLOBAL const double *lines, TSL_INDEX first_col, int e,
                                              const tsl_gemm_arguments *g) {
  const TSL_INDEX col = exact_col(first_col, e);
  return exact_load_line(lines + 3 * g->m, g->n, col < g->n ? col : g->n - 1);
}

/* Returns the position of an item's flag word in the scratch buffer. */
TSL_FUNCTION TSL_INDEX exact_word(TSL_INDEX tile, const tsl_gemm_arguments *g) {
  return 12 * (g->m + g->n) + (tile * TSL_GROUPS(0) + TSL_GROUP(0)) * ITEMS + TSL_ITEM(1) * SIDE +
         TSL_ITEM(0);
}

/* Returns one of an item's numbers, which stay in registers, without duplicating code. */
TSL_FUNCTION double exact_get(const double *state, int e) {
  double found = state[0];
  TSL_UNROLL
  for (int i = 1; i < EACH * EACH; i++)
    found = i == e ? state[i] : found;
  return found;
}
TSL_FUNCTION void exact_set(double *state, int e, double value) {
  TSL_UNROLL
  for (int i = 0; i < EACH * EACH; i++)
    state[i] = i == e ? value : state[i];
}

TSL_KERNEL_SHARING(SIDE, SIDE, 1, GROUPS)
tsl_exact_near(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, TSL_GLOBAL const double *TSL_RESTRICT lines,
               TSL_GLOBAL unsigned short *TSL_RESTRICT open, const tsl_gemm_arguments g) {
  TSL_LOCAL double of_a[STEP * PITCH];
  TSL_LOCAL double of_b[STEP * PITCH];
  const TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TILE, tiles = (g.m + TILE - 1) / TILE;
  for (TSL_INDEX tile = TSL_GROUP(1); tile < tiles; tile += TSL_GROUPS(1)) {
    const TSL_INDEX first_row = tile * TILE;
    exact_sums sums;
    TSL_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
      sums.high[e] = sums.panel_or_low[e] = 0;
#ifdef TSL_REAL_IS_DOUBLE
    TSL_UNROLL_BY(1)
    for (int e = 0; e < EACH * EACH; e++) {
      const exact_line of_row = exact_measures_of_row(lines, first_row, e, &g),
                       of_col = exact_measures_of_col(lines, first_col, e, &g);
      exact_set(sums.high, e, exact_start_value(exact_sum_limit(&of_row, &of_col)));
    }
#endif
    exact_source source_a = exact_source_of(a + g.a_offset, g.a_row_stride, g.a_col_stride, first_row, g.m);
    exact_source source_b = exact_source_of(b + g.b_offset, g.b_col_stride, g.b_row_stride, first_col, g.n);
    exact_fetched from_a = exact_fetch(&source_a, g.k), from_b = exact_fetch(&source_b, g.k);
    for (TSL_INDEX first = 0; first < g.k; first += STEP) {
      TSL_BARRIER();
      exact_store_local(&from_a, &source_a, of_a);
      exact_store_local(&from_b, &source_b, of_b);
      TSL_BARRIER();
      from_a = exact_fetch(&source_a, g.k - first - STEP);
      from_b = exact_fetch(&source_b, g.k - first - STEP);
      exact_add_step(&sums, of_a, of_b);
      if (first % EXACT_PANEL == EXACT_PANEL - STEP || first + STEP >= g.k)
        exact_end_panel(&sums);
    }
    unsigned left = 0;
    TSL_UNROLL_BY(1)
    for (int e = 0; e < EACH * EACH; e++) {
      const TSL_INDEX row = exact_row(first_row, e), col = exact_col(first_col, e);
      if (row < g.m && col < g.n) {
        TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
        const exact_line of_row = exact_measures_of_row(lines, first_row, e, &g),
                         of_col = exact_measures_of_col(lines, first_col, e, &g);
        const exact_enclosure bounds =
            exact_enclose_sum(exact_get(sums.high, e), exact_get(sums.panel_or_low, e), &of_row, &of_col,
                              exact_load_c(to, &g), &g);
        left |= exact_store_near(&bounds, to) ? 0u : 1u << e;
      }
    }
    open[exact_word(tile, &g)] = (unsigned short)left;
  }
}

#ifndef TSL_REAL_IS_DOUBLE
/* Returns the sum of terms first, first + distance, ... of an element as a pair that starts at `base`. */
TSL_FUNCTION exact_pair exact_as_pair(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *b,
                                      TSL_INDEX first, int distance, double base,
                                      const tsl_gemm_arguments *g) {
  exact_pair pair;
  int count = 0;
  pair.high = base;
  pair.low = 0;
  for (TSL_INDEX l = first; l < g->k; l += distance) {
    const double x = tsl_number(a[l * g->a_col_stride], true), y = tsl_number(b[l * g->b_row_stride], true),
                 next = TSL_FMA(x, y, pair.high), moved = next - pair.high;
    pair.low += TSL_FMA(x, y, -moved);
    pair.high = next;
    if (++count == EXACT_PANEL) {
      const double all = pair.high + pair.low;
      pair.low -= all - pair.high;
      pair.high = all;
      count = 0;
    }
  }
  return pair;
}
#endif

#if TOGETHER
/* Adds up the undecided elements of floats as pairs; all items of a group share an element's terms. Amounts
 * taken off the bases are added without error: multiples of the base's last place, and below the base. */
TSL_KERNEL(SIDE, SIDE, 1)
tsl_exact_pairs(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                TSL_GLOBAL tsl_result *TSL_RESTRICT c, TSL_GLOBAL const double *TSL_RESTRICT lines,
                TSL_GLOBAL unsigned short *TSL_RESTRICT open, const tsl_gemm_arguments g) {
  TSL_LOCAL double moved[ITEMS];
  TSL_LOCAL double low[ITEMS];
  TSL_LOCAL unsigned words[ITEMS];
  TSL_LOCAL unsigned any[1];
  const TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TILE, tiles = (g.m + TILE - 1) / TILE;
  const int item = TSL_ITEM(1) * SIDE + TSL_ITEM(0);
  for (TSL_INDEX tile = TSL_GROUP(1); tile < tiles; tile += TSL_GROUPS(1)) {
    unsigned left = open[exact_word(tile, &g)];
    if (item == 0)
      any[0] = 0;
    TSL_BARRIER();
    words[item] = left;
    if (left != 0)
      TSL_LOCAL_ADD(any, 1u);
    TSL_BARRIER();
    for (int other = 0; any[0] != 0 && other < ITEMS; other++)
      for (int e = 0; words[other] >> e != 0; e++) {
        const TSL_INDEX row = tile * TILE + other / SIDE * EACH + e / EACH,
                        col = first_col + other % SIDE + SIDE * (e % EACH);
        if ((words[other] >> e & 1) == 0)
          continue;
        const exact_line of_row = exact_load_line(lines, g.m, row),
                         of_col = exact_load_line(lines + 3 * g.m, g.n, col);
        const double base = exact_start_value(exact_sum_limit(&of_row, &of_col));
        const exact_pair own = exact_as_pair(a + g.a_offset + row * g.a_row_stride,
                                             b + g.b_offset + col * g.b_col_stride, item, ITEMS, base, &g);
        moved[item] = own.high - base;
        low[item] = own.low;
        for (int reach = ITEMS / 2; reach > 0; reach /= 2) {
          TSL_BARRIER();
          if (item < reach) {
            moved[item] += moved[item + reach];
            low[item] += low[item + reach];
          }
        }
        if (item == 0) {
          TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
          const exact_enclosure bounds =
              exact_enclose_pair(base + moved[0], low[0], 2, &of_row, &of_col, exact_load_c(to, &g), &g);
          if (exact_store_near(&bounds, to))
            words[other] &= ~(1u << e);
        }
        TSL_BARRIER();
      }
    open[exact_word(tile, &g)] = (unsigned short)words[item];
  }
}
#endif

/* Adds a product to a superaccumulator. Returns flags of special values. */
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

/* Computes and stores one element of C by a superaccumulator. */
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
  /* an empty sum is not scaled: infinity times 0 would be NaN */
  const double result =
      tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, flags, g->k == 0 ? 0 : g->alpha, g->beta,
                       g->beta == 0 ? 0 : tsl_widen_result(*c), wide, TSL_C_DIGITS, TSL_C_LEAST);
  *c = result == result ? tsl_round_to_result((TSL_REAL)result) : EXACT_NAN;
}

TSL_KERNEL_SHARING(SIDE, SIDE, 1, GROUPS)
tsl_exact_left(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
               TSL_GLOBAL tsl_result *TSL_RESTRICT c, TSL_GLOBAL const double *TSL_RESTRICT lines,
               TSL_GLOBAL const unsigned short *TSL_RESTRICT open, const tsl_gemm_arguments g) {
  const TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TILE, tiles = (g.m + TILE - 1) / TILE;
  for (TSL_INDEX tile = TSL_GROUP(1); tile < tiles; tile += TSL_GROUPS(1)) {
    const unsigned left = open[exact_word(tile, &g)];
    for (int e = 0; left >> e != 0; e++) {
      const TSL_INDEX row = exact_row(tile * TILE, e), col = exact_col(first_col, e);
      TSL_GLOBAL const tsl_element *const of_a = a + g.a_offset + row * g.a_row_stride;
      TSL_GLOBAL const tsl_element *const of_b = b + g.b_offset + col * g.b_col_stride;
      TSL_GLOBAL tsl_result *const to = c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride;
      if ((left >> e & 1) == 0)
        continue;
#if !defined(TSL_REAL_IS_DOUBLE) && !TOGETHER
      const exact_line of_row = exact_load_line(lines, g.m, row),
                       of_col = exact_load_line(lines + 3 * g.m, g.n, col);
      const exact_pair own =
          exact_as_pair(of_a, of_b, 0, 1, exact_start_value(exact_sum_limit(&of_row, &of_col)), &g);
      const exact_enclosure bounds =
          exact_enclose_pair(own.high, own.low, 1, &of_row, &of_col, exact_load_c(to, &g), &g);
      if (exact_store_near(&bounds, to))
        continue;
#endif
      exact_element(of_a, of_b, to, &g);
    }
  }
}
