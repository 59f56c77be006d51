/* Idea: the sum without any rounding, and one rounding at the end. Every product is split at fixed powers
 * of two, and the parts are added as integers. Integer sums do not depend on the order: equal bits on any
 * device, with any number of items, for any permutation of the terms. Beyond `fixed_tree`: bits
 * independent of the order, and no error except the final rounding, for any cancellation.
 *
 *   a product         |<---- 106 bits, 48 of floats ---->|
 *   window    level 0 |     1     |     2     |     3     |  ...  |     6    |  52 bits each, from 2^top down
 *
 *   base + tail   its low 52 bits are the tail in units of the level, rounded: an integer to add. The rest of
 *                 the tail is tail - ((base + tail) - base), exactly, and goes to the next level
 *
 *   superaccumulator  | 83 | 82 | ...  | 2 | 1 | 0 |  84 digits of 52 bits from 2^-2150 (floats: 19)
 *
 * An item reads TERMS terms, as 16-byte vectors where both operands allow it, and prefetches the next tile.
 * The products go through the first three (floats: two) levels of a window, whose top comes from the group's
 * first products. If the exponent of base + tail differs from the base's, or a tail remains, all six levels
 * are tried. If they fail, the item adds the terms as integers to its superaccumulator in private memory, and
 * moves its window to them. At the end a group adds the levels and superaccumulators of its items and stores
 * the digits in scratch memory. The last launch adds these digits, multiplies by alpha and adds beta c
 * without rounding, and rounds once.
 *
 * Result: alpha (x0 y0 + x1 y1 + ...) + beta c, rounded once to nearest, ties to even, also if subnormal;
 * infinity only if the exact result rounds to it. An exact zero is +0 (also a sum of -0 only); a result that
 * rounds to zero keeps its sign. NaN comes from NaN, 0 times infinity, and infinities of both signs; it has
 * no sign and no payload.
 *
 * Parameters: TSL_PARAM_GROUP, items of a group. Local memory: 72 bytes an item, and the digits. Any strides
 * and sizes. Needs doubles with subnormals for all types. Narrow types are converted to float; a narrow C is
 * rounded once. Sums of integers are exact for 2^37 terms, then taken modulo 2^32. A term takes 16
 * instructions (doubles: 28) where products lie within 2^45 (2^38) of the largest, three times as many within
 * 2^250 (2^190), hundreds beyond. */
#include "item.cl"

#define LINES 8
/* Row of a group: its digits and a summary (range of digits, non-finite flags). */
#define ROW (TSL_EXACT_DIGITS + 1)
#define LAST_ITEMS 256
/* Groups of 256 items that should fit a compute unit, enough to keep its memory busy. */
#ifdef TSL_REAL_IS_DOUBLE
#define GROUPS_A_UNIT 3
#else
#define GROUPS_A_UNIT 4
#endif

/* Sums LINES numbers of each item over the group: out[v] is the sum of all items' number v. */
TSL_FUNCTION void exact_fold(TSL_LOCAL_POINTER TSL_INDEX *lines, TSL_LOCAL_POINTER TSL_INDEX *parts,
                             const TSL_INDEX *numbers, TSL_LOCAL_POINTER TSL_INDEX *out) {
  const int item = TSL_ITEM(0), across = GROUP / LINES, line = item / across;
  TSL_UNROLL
  for (int v = 0; v < LINES; v++)
    lines[v * GROUP + item] = numbers[v];
  TSL_BARRIER();
  TSL_INDEX sum = 0;
  TSL_UNROLL
  for (int i = 0; i < LINES; i++)
    sum += lines[line * GROUP + i * across + item % across];
  parts[item] = sum;
  TSL_BARRIER();
  if (item < LINES) {
    sum = 0;
    TSL_UNROLL_BY(8)
    for (int i = 0; i < across; i++)
      sum += parts[item * across + i];
    out[item] = sum;
  }
  TSL_BARRIER();
}

/* Returns the largest `number` of the group's items, in every item. */
TSL_FUNCTION int exact_largest(TSL_LOCAL_POINTER TSL_INDEX *lines, int number) {
  const int item = TSL_ITEM(0);
  lines[item] = number;
  TSL_BARRIER();
  for (int step = GROUP / 2; step > 0; step /= 2) {
    if (item < step && lines[item + step] > lines[item])
      lines[item] = lines[item + step];
    TSL_BARRIER();
  }
  const int largest = (int)lines[0];
  TSL_BARRIER();
  return largest;
}

/* Returns the counts of items with NaN, either infinity, digits, and deep levels, in 12 bits each. */
TSL_FUNCTION TSL_INDEX exact_counts(const exact_sum *sum) {
  return (TSL_INDEX)(sum->flags & TSL_EXACT_NAN ? 1 : 0) +
         ((TSL_INDEX)(sum->flags & TSL_EXACT_PLUS ? 1 : 0) << 12) +
         ((TSL_INDEX)(sum->flags & TSL_EXACT_MINUS ? 1 : 0) << 24) +
         ((TSL_INDEX)(sum->slow != 0 ? 1 : 0) << 36) + ((TSL_INDEX)(sum->deep != 0 ? 1 : 0) << 48);
}

/* Returns a group's summary: flags, first digit and end of digits (8 bits each), number of groups. */
TSL_FUNCTION TSL_INDEX exact_summary(TSL_INDEX counts, int top) {
  const int flags = (counts & 0xfff ? TSL_EXACT_NAN : 0) | (counts >> 12 & 0xfff ? TSL_EXACT_PLUS : 0) |
                    (counts >> 24 & 0xfff ? TSL_EXACT_MINUS : 0);
  const bool slow = (counts >> 36 & 0xfff) != 0, deep = counts >> 48 != 0;
  const int lowest = top - 52 * (deep ? TSL_EXACT_DEEP : SHALLOW) - TSL_EXACT_LOW;
  const int highest = (top + 32 - TSL_EXACT_LOW) / 52 + 3; /* level 0's upper half, and a carry */
  const int first = slow ? 0 : lowest / 52,
            end = slow || highest > TSL_EXACT_DIGITS ? TSL_EXACT_DIGITS : highest;
  return flags | first << 8 | end << 16 | (TSL_INDEX)TSL_GROUPS(0) << 24;
}

/* Adds the levels of a window at `top` to the digits `total`. */
TSL_FUNCTION void exact_levels_to_digits(TSL_LOCAL_POINTER const TSL_INDEX *levels, int top,
                                         TSL_LOCAL_POINTER TSL_INDEX *total) {
  for (int j = 0; j < LEVELS; j++)
    for (int part = 0; part < 2; part++) {
      const TSL_INDEX level = levels[j];
      const TSL_INDEX value = part == 0 ? level & (((TSL_INDEX)1 << 32) - 1) : level >> 32;
      const tsl_exact_parts parts = tsl_exact_split(value, top - 52 * j + 32 * part - TSL_EXACT_LOW);
      total[parts.digit] += parts.low;
      total[parts.digit + 1] += parts.high;
    }
}

/* Gets an item's LINES digits from digit `first` on; zeros if its digits are unused. */
TSL_FUNCTION void exact_choose_digits(const exact_sum *sum, const exact_memory *memory, int first,
                                      TSL_INDEX *numbers) {
  TSL_UNROLL
  for (int v = 0; v < LINES; v++)
    numbers[v] = sum->slow != 0 && first + v < TSL_EXACT_DIGITS ? memory->digits[first + v] : 0;
}

/* Gets an item's levels and flags. If its window has moved, all is in the digits. */
TSL_FUNCTION void exact_choose_levels(exact_sum *sum, exact_memory *memory, TSL_INDEX *numbers) {
  if (sum->slow != 0)
    exact_window_to_digits(sum, memory);
  else if (sum->deep != 0)
    exact_levels_to_memory(sum, memory);
  tsl_exact_settle_levels(sum->levels, SHALLOW + 1);
  TSL_UNROLL
  for (int j = 0; j < LEVELS; j++)
    numbers[j] = sum->deep != 0 ? memory->levels[j] : 0;
  TSL_UNROLL
  for (int j = 0; j <= SHALLOW; j++)
    numbers[j] += sum->levels[j];
  numbers[LEVELS] = exact_counts(sum);
}

/* Returns a digit after one carry step, so that the sum of a thousand groups fits. */
TSL_FUNCTION TSL_INDEX exact_carried_digit(TSL_LOCAL_POINTER const TSL_INDEX *total, int i) {
  const TSL_INDEX carry = i > 0 ? total[i - 1] >> 52 : 0;
  return carry + (i < TSL_EXACT_DIGITS - 1 ? total[i] & TSL_EXACT_MASK : total[i]);
}

TSL_KERNEL_SHARING(GROUP, 1, 1, GROUPS_A_UNIT * 256 / GROUP)
tsl_dot_exact(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
              TSL_GLOBAL TSL_INDEX *TSL_RESTRICT rows, const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_INDEX lines[LINES * GROUP], parts[GROUP], sums[LINES], total[TSL_EXACT_DIGITS];
  TSL_INDEX numbers[LINES];
  exact_memory memory;
  exact_terms terms;
  exact_sum own;
  terms.a = a + g.a_offset;
  terms.b = b + g.b_offset;
  terms.a_stride = g.a_col_stride;
  terms.b_stride = g.b_row_stride;
  terms.first = TSL_GROUP(0) * TILE + TSL_ITEM(0) * WIDTH;
  terms.k = g.k;
  terms.vectors =
      g.a_col_stride == 1 && g.b_row_stride == 1 && exact_is_aligned(terms.a) && exact_is_aligned(terms.b);
  TSL_UNROLL
  for (int j = 0; j <= SHALLOW; j++)
    own.levels[j] = 0;
  own.flags = 0;
  own.deep = 0;
  own.slow = 0;
  const int top = tsl_exact_top_for(exact_largest(lines, exact_first_exponent(&terms)));
  own.top = top;
  exact_add_tiles(&terms, &own, &memory);
  exact_choose_levels(&own, &memory, numbers);
  for (int i = TSL_ITEM(0); i < TSL_EXACT_DIGITS; i += GROUP)
    total[i] = 0;
  exact_fold(lines, parts, numbers, sums);
  const TSL_INDEX counts = sums[LEVELS];
  if (TSL_ITEM(0) == 0)
    exact_levels_to_digits(sums, top, total);
  TSL_BARRIER();
  for (int first = 0; first < (counts >> 36 & 0xfff ? TSL_EXACT_DIGITS : 0); first += LINES) {
    exact_choose_digits(&own, &memory, first, numbers);
    exact_fold(lines, parts, numbers, sums);
    if (TSL_ITEM(0) < LINES && first + TSL_ITEM(0) < TSL_EXACT_DIGITS)
      total[first + TSL_ITEM(0)] += sums[TSL_ITEM(0)];
    TSL_BARRIER();
  }
  TSL_GLOBAL TSL_INDEX *row = rows + (TSL_INDEX)TSL_GROUP(0) * ROW;
  for (int i = TSL_ITEM(0); i < TSL_EXACT_DIGITS; i += GROUP)
    row[i] = exact_carried_digit(total, i);
  if (TSL_ITEM(0) == 0)
    row[TSL_EXACT_DIGITS] = exact_summary(counts, top);
}

/* Joins two summaries without the number of groups: all flags, the lowest first digit and the highest end. */
TSL_FUNCTION TSL_INDEX exact_join(TSL_INDEX a, TSL_INDEX b) {
  const TSL_INDEX a_first = a >> 8 & 0xff, b_first = b >> 8 & 0xff, a_end = a >> 16 & 0xff,
                  b_end = b >> 16 & 0xff;
  return ((a | b) & 0xff) | (a_first < b_first ? a_first : b_first) << 8 |
         (a_end > b_end ? a_end : b_end) << 16;
}

#define EXACT_NOTHING (255 << 8)

/* Returns the joined summary of all groups, without the number of groups, to all items. */
TSL_FUNCTION int exact_join_summaries(TSL_GLOBAL const TSL_INDEX *rows, int groups,
                                      TSL_LOCAL_POINTER TSL_INDEX *line) {
  const int item = TSL_ITEM(0);
  TSL_INDEX own = EXACT_NOTHING;
  for (int group = item; group < groups; group += LAST_ITEMS)
    own = exact_join(own, rows[(TSL_INDEX)group * ROW + TSL_EXACT_DIGITS]);
  line[item] = own;
  TSL_BARRIER();
  for (int step = LAST_ITEMS / 2; step > 0; step /= 2) {
    if (item < step)
      line[item] = exact_join(line[item], line[item + step]);
    TSL_BARRIER();
  }
  const int all = (int)line[0];
  TSL_BARRIER();
  return all;
}

/* Stores c from the sum. A sum of integers is exact, a whole number below 2^53; the rest is modulo 2^32. */
TSL_FUNCTION void exact_store(TSL_GLOBAL tsl_result *c, TSL_LOCAL_POINTER TSL_INDEX *digits, int first,
                              int end, int flags, const tsl_gemm_arguments *g,
                              TSL_LOCAL_POINTER TSL_INDEX *wide) {
#ifdef TSL_REAL_IS_INTEGER
  const TSL_INDEX sum = (TSL_INDEX)tsl_exact_result(digits, first, end, flags, 1, 0, 0, wide, 53, -1074);
  const unsigned scaled = (unsigned)g->alpha * (unsigned)sum;
  *c = (int)(g->beta == 0 ? scaled : scaled + (unsigned)g->beta * (unsigned)*c);
#else
  const double result =
      tsl_exact_result(digits, first, end, flags, g->alpha, g->beta, g->beta == 0 ? 0 : tsl_widen_result(*c),
                       wide, TSL_C_DIGITS, TSL_C_LEAST);
  *c = tsl_round_to_result(result == result ? (TSL_REAL)result : TSL_NAN(TSL_REAL));
#endif
}

/* Adds the rows of all groups and stores c. An item adds one digit of a slice of the rows. */
TSL_KERNEL(LAST_ITEMS, 1, 1)
tsl_dot_exact_last(TSL_GLOBAL const TSL_INDEX *TSL_RESTRICT rows, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                   const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_INDEX line[LAST_ITEMS], digits[TSL_EXACT_DIGITS], wide[TSL_EXACT_WIDE];
  const int item = TSL_ITEM(0), groups = g.k > 0 ? (int)(rows[TSL_EXACT_DIGITS] >> 24) : 0;
  const int summary = exact_join_summaries(rows, groups, line);
  const int first = summary >> 8 & 0xff, end = summary >> 16;
  const int count = end > first ? end - first : 1, slices = LAST_ITEMS / count, slice = item / count;
  TSL_INDEX own = 0;
  if (slice < slices) {
    TSL_GLOBAL const TSL_INDEX *from = rows + first + item % count;
    TSL_UNROLL_BY(8)
    for (int group = slice; group < groups; group += slices)
      own += from[(TSL_INDEX)group * ROW];
  }
  line[item] = own;
  for (int i = item; i < TSL_EXACT_WIDE; i += LAST_ITEMS)
    wide[i] = 0;
  TSL_BARRIER();
  if (item < count) {
    for (int other = 1; other < slices; other++)
      own += line[item + other * count];
    if (item < end - first)
      digits[first + item] = own;
  }
  TSL_BARRIER();
  if (item == 0)
    exact_store(c + g.c_offset, digits, first, end, summary & 0xff, &g, wide);
}
