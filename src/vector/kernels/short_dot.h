/* s += A' x for columns no longer than a vector: a part of columns.c. Vectors lie across columns, transposed
 * in registers, and each lane sums one column. Vectors along columns would be mostly empty.
 *
 *   columns  j   j+1  j+2 ...            STEPS elements of each column    sums of j, j+1, ... in one vector
 *          | a | a  | a  |      ->       moved[0]  a  a  a  ...   * x[0]
 *          | b | b  | b  |               moved[1]  b  b  b  ...   * x[1]
 *
 * The rest of a column is loaded with the elements before it; columns shorter than STEPS with the following
 * elements, the last columns with the previous. Bits do not depend on the number of columns. */

#define TYPED(word) JOIN(JOIN(word, _), TSL_TYPE)
enum {
  SHORT_STEPS = TYPED(STEPS),
  ACROSS = TYPED(LANES),
  SHORT_COMPONENTS_MAX = PARTS == 2  ? 2 * LANES
                         : LANES > 8 ? LANES / 2
                                     : LANES /* components: longer columns fill vectors along them */
};
typedef TYPED(element) element;

TSL_INLINE void add_short_row(vector a, const REAL *x, sums *accumulators) {
  accumulators->plain += splat(x[0]) * a;
  if (PARTS == 2)
    accumulators->turned += splat(x[PARTS - 1]) * a;
}

static vector gather_elements(const element *const *src, int64_t i) {
  union {
    vector whole;
    element each[ACROSS];
  } all_of;
  for (int c = 0; c < ACROSS; c++)
    all_of.each[c] = src[c][i];
  return all_of.whole;
}

/* Adds elements `first` to `rows` - 1 of each column, among the SHORT_STEPS elements from `base` on. */
TSL_INLINE void add_short_rest(const element *const *src, int64_t base, int64_t first, int64_t rows,
                               const REAL *x, sums *accumulators) {
  vector moved[SHORT_STEPS];
  TYPED(transpose)(src, base, moved);
  TSL_UNROLL for (int s = 0; s < SHORT_STEPS; s++) if (base + s >= first && base + s < rows)
      add_short_row(moved[s], x + PARTS * (base + s), accumulators);
}

/* Returns the sums of ACROSS columns. Flags: elements before or after the columns' rest can be read. */
TSL_INLINE vector short_sums(const element *const *src, int64_t rows, const REAL *x, bool can_read_after,
                             bool can_read_before) {
  sums all = {{0}, {0}};
  int64_t i = 0;
  for (; i + SHORT_STEPS <= rows; i += SHORT_STEPS) {
    vector moved[SHORT_STEPS];
    TYPED(transpose)(src, i, moved);
    TSL_UNROLL for (int s = 0; s < SHORT_STEPS; s++) add_short_row(moved[s], x + PARTS * (i + s), &all);
  }
  if (i < rows && (i > 0 || can_read_before))
    add_short_rest(src, rows - SHORT_STEPS, i, rows, x, &all);
  else if (i < rows && can_read_after)
    add_short_rest(src, 0, 0, rows, x, &all);
  else
    for (; i < rows; i++)
      add_short_row(gather_elements(src, i), x + PARTS * i, &all);
  if (PARTS == 2)
    all.plain += times_i(all.turned);
  return all.plain;
}

/* Returns the sums of `valid_count` columns, at most ACROSS, from `a` on. */
TSL_INLINE vector short_group(int64_t valid_count, int64_t rows, const REAL *a, int64_t ld, const REAL *x,
                              bool can_read_after, bool can_read_before) {
  const element *at[ACROSS];
  TSL_UNROLL for (int c = 0; c < ACROSS; c++) at[c] =
      (const element *)(const void *)(a +
                                      (valid_count == ACROSS || c < valid_count ? c : valid_count - 1) * ld);
  return short_sums(at, rows, x, can_read_after, can_read_before);
}

static void dot_short(int64_t rows, int64_t count, const REAL *a, int64_t ld, const REAL *x, REAL *s) {
  int64_t j = 0;
  for (; j + ACROSS <= count; j += ACROSS, a += ACROSS * ld, s += LANES)
    NAME(store)
  (s,
   NAME(load)(s) + short_group(ACROSS, rows, a, ld, x, j + ACROSS + SHORT_STEPS <= count, j >= SHORT_STEPS));
  if (j == count)
    return;
  const int64_t valid_count = count - j;
  const vector found = short_group(valid_count, rows, a, ld, x, false, j >= SHORT_STEPS);
  NAME(store_part)(s, NAME(load_part)(s, PARTS * valid_count) + found, PARTS * valid_count);
}
