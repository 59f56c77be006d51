/* The copies of elements of one size, as text: with ELEMENT and SUFFIX. Elements are moved and not computed
 * with. */

/* How many steps ahead a copy asks for its rows. */
enum { COPY_AHEAD = 12 };

/* Stores `count` elements at `to`, and what the vector has behind them, where that is before `end`: it is stored over
 * later. A part of a vector takes some processors ten times as long as a whole one. */
static inline void NAME(store_over)(ELEMENT *to, NAME(vector) value, int64_t count, const ELEMENT *end) {
  if (end - to >= NAME(LANES))
    NAME(store)(to, value);
  else
    NAME(store_edge)(to, value, count);
}

/* Neighbours that lie side by side. */
static void NAME(copy_side_by_side)(const ELEMENT *in, int64_t along, int64_t count, int64_t depth,
                                    int64_t width, ELEMENT *out) {
  enum { LANES = NAME(LANES) };
  const int64_t whole = count / LANES * LANES, rest = count - whole, last = width - whole;
  const ELEMENT *const end = out + depth * width;
  for (int64_t l = 0; l < depth; l++, in += along, out += width) {
    __builtin_prefetch(in + COPY_AHEAD * along);
    __builtin_prefetch(in + COPY_AHEAD * along + LANES);
    for (int64_t t = 0; t < whole; t += LANES)
      NAME(store)(out + t, NAME(load)(in + t));
    if (rest > 0)
      NAME(store_over)(out + whole, NAME(load_part)(in + whole, rest), last, end);
  }
}

/* At most LANES neighbours, each with its numbers side by side: they are turned in registers, and `stored` of them
 * are written. A row that is not there is read as the first one. What lies at `end` is not touched. */
static void NAME(copy_turned)(const ELEMENT *in, int64_t across, int64_t count, int64_t depth, int64_t width,
                              int64_t stored, ELEMENT *out, const ELEMENT *end) {
  enum { LANES = NAME(LANES), TURN = NAME(TURN) };
  const ELEMENT *row[LANES];
  int64_t l = 0;
  for (int64_t t = 0; t < LANES; t++)
    row[t] = in + (t < count ? t * across : 0);
  for (; l + TURN <= depth; l += TURN) {
    NAME(vector) turned[TURN];
    NAME(turn)(row, l, turned);
    TSL_UNROLL for (int s = 0; s < TURN; s++, out += width) NAME(store_over)(out, turned[s], stored, end);
  }
  for (; l < depth; l++, out += width)
    for (int64_t t = 0; t < stored; t++)
      out[t] = row[t][l];
}

static void NAME(copy_any)(const ELEMENT *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                           int64_t width, ELEMENT *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width)
    for (int64_t t = 0; t < width; t++)
      out[t] = t < count ? in[t * across] : (ELEMENT){0};
}

/* kernels.h has the contract. */
static void NAME(copy_sliver)(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                              int64_t width, void *out) {
  const ELEMENT *from = in;
  ELEMENT *to = out;
  if (across == 1)
    NAME(copy_side_by_side)(from, along, count, depth, width, to);
  else if (along == 1)
    for (int64_t t = (count - 1) / NAME(LANES) * NAME(LANES); t >= 0; t -= NAME(LANES)) {
      const int64_t read = least(count - t, NAME(LANES)), stored = least(width - t, NAME(LANES));
      NAME(copy_turned)(from + t * across, across, read, depth, width, stored, to + t, to + depth * width);
    }
  else
    NAME(copy_any)(from, across, along, count, depth, width, to);
}

/* Whole strips whose columns lie side by side: a row of all of them at a time, since the next row may be on another
 * page. */
static void NAME(copy_rows)(const ELEMENT *in, int64_t along, int64_t strips, int64_t depth, int64_t width,
                            int64_t whole, ELEMENT *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width) {
    const ELEMENT *const wanted = in + (l + COPY_AHEAD < depth ? COPY_AHEAD * along : 0);
    for (int64_t j = 0; j < strips; j++)
      for (int64_t t = 0; t < width; t += NAME(LANES)) {
        __builtin_prefetch(wanted + j * width + t);
        NAME(store)(out + j * width * whole + t, NAME(load)(in + j * width + t));
      }
  }
}

static void NAME(copy_strips)(const void *in, int64_t across, int64_t along, int64_t count, int64_t first,
                              int64_t end, int64_t width, int64_t whole, void *out) {
  const ELEMENT *const from = (const ELEMENT *)in + first * along;
  const int64_t depth = end - first, in_rows = across == 1 ? count / width : 0;
  NAME(copy_rows)(from, along, in_rows, depth, width, whole, (ELEMENT *)out + first * width);
  for (int64_t t = in_rows * width; t < count; t += width) {
    const int64_t rest = least(count - t, width),
                  vectors = (rest + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
    NAME(copy_sliver)
    (from + t * across, across, along, rest, depth, vectors, (ELEMENT *)out + t * whole + first * vectors);
  }
}
