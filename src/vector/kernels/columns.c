/* Idea: a matrix times a vector reads each element once. So several columns are processed together: the
 * vector that they share is loaded and stored once for the group.
 *
 *       columns, `ld` apart           add    y[i] += t0 a0 + t1 a1 + ... + t7 a7       (y in the L1 cache)
 *   | a0 | a1 | a2 | ... | a7         dot    s0 += a0 x[i], ..., s7 += a7 x[i]         (sums in registers)
 * i | == | == | == |     | ==         both   y[i] += t0 a0 + ..., s0 += a0 x[i], ...   (four columns)
 * | | == | == | == |     | ==         update a0[i] += t0 x[i], ...                     (one column)
 * v
 *
 * Complex columns are interleaved components. The sum of im(t) a is separate, and multiplied by i once for
 * all columns; a dot multiplies x by i. The last elements of a column use a mask. Small squares on a diagonal
 * are computed element by element. Limits: x, y, t and s are dense. */
#include "vector/kernels/elements_kernel.h"

#include <math.h>

enum { MANY = 8, FEW = 4 };

static inline bool is_zero(const REAL *t) {
  return t[0] == 0 && (PARTS == 1 || t[PARTS - 1] == 0);
}

typedef struct columns {
  const REAL *a;
  int64_t ld, count; /* distance between columns; components of a column */
} columns;

static inline bool is_far(int64_t rows, int64_t count) {
  return rows * count * PARTS > (int64_t)FAR;
}
/* Returns true if load_far() is faster: for large matrices of f64 only. */
static inline bool loads_far(int64_t rows, int64_t count) {
  return HAS_LOAD_FAR && PARTS == 1 && sizeof(REAL) == 8 && is_far(rows, count);
}
/* components of a page, and of a column of a few vectors */
enum { PAGE = (1 << 12) / sizeof(REAL), BRIEF = (1 << 10) / sizeof(REAL) };

/* Loads `here` components; a full vector if `whole`. */
TSL_INLINE vector load(const REAL *from, bool whole, int64_t here) {
  return whole ? NAME(load)(from) : NAME(load_part)(from, here);
}
TSL_INLINE void store(REAL *dst, vector value, bool whole, int64_t here) {
  if (whole)
    NAME(store)(dst, value);
  else
    NAME(store_part)(dst, value, here);
}

TSL_INLINE vector turned_of(vector x) {
  if (PARTS == 2)
    return NAME(times_i)(x);
  return x;
}

/* Returns y + (re a + i im a). The columns' sum is rounded first, so that it does not wait for y. */
TSL_INLINE vector joined(vector y, vector state, vector turned) {
  if (PARTS == 2)
    state += NAME(times_i)(turned);
  TSL_KEEP(state);
  return y + state;
}

TSL_INLINE vector added(columns x, int64_t i, const vector *re, const vector *im, vector y, int together,
                        bool far) {
  vector own = {0}, turned = {0};
  TSL_UNROLL for (int j = 0; j < together; j++) {
    vector a = load_whole(x.a + j * x.ld + i, far);
    if (PARTS == 2) {
      a = loaded(a);
      turned += im[j] * a;
    }
    own += re[j] * a;
  }
  return joined(y, own, turned);
}

TSL_INLINE vector added_part(columns x, int64_t i, const vector *re, const vector *im, vector y,
                             int together) {
  vector own = {0}, turned = {0};
  TSL_UNROLL for (int j = 0; j < together; j++) {
    vector a = NAME(load_part)(x.a + j * x.ld + i, x.count - i);
    if (PARTS == 2) {
      a = loaded(a);
      turned += im[j] * a;
    }
    own += re[j] * a;
  }
  return joined(y, own, turned);
}

TSL_INLINE int64_t add_whole(columns x, const vector *re, const vector *im, REAL *y, int together, bool far) {
  int64_t i = 0;
  for (; i + LANES <= x.count; i += LANES)
    NAME(store)(y + i, added(x, i, re, im, NAME(load)(y + i), together, far));
  return i;
}

/* Adds some columns to y. Its last partial vector is `rest`: reading it after a store would wait. */
TSL_INLINE void add_some(columns x, const REAL *t, REAL *y, vector *rest, int together, bool far) {
  vector re[MANY], im[MANY];
  TSL_UNROLL for (int j = 0; j < together; j++) {
    re[j] = all(t[PARTS * j]);
    im[j] = all(t[PARTS * j + PARTS - 1]);
  }
  const int64_t i = far ? add_whole(x, re, im, y, together, true) : add_whole(x, re, im, y, together, false);
  if (i < x.count)
    *rest = added_part(x, i, re, im, *rest, together);
}

static bool has_zero(const REAL *t, int count) {
  bool found = false;
  for (int j = 0; j < count; j++)
    found = found || is_zero(t + PARTS * j);
  return found;
}

/* columns with factors in registers: complex columns have two factors each */
enum { TOGETHER = PARTS == 2 ? FEW : MANY };

/* Returns how many columns are added together; 0: the first column is skipped, because its factor is 0. */
static inline int step_at(const REAL *t, int64_t count, bool skips) {
  if (count >= TOGETHER && !(skips && has_zero(t, TOGETHER)))
    return TOGETHER;
  if (PARTS == 1 && count >= FEW && !(skips && has_zero(t, FEW)))
    return FEW;
  if (count >= 2 && !(skips && has_zero(t, 2)))
    return 2;
  return skips && is_zero(t) ? 0 : 1;
}

/* vectors of a short y, which is in registers: groups of columns need not wait for stores */
enum { HELD = PARTS == 2 ? 2 : 4 };
TSL_INLINE void add_group(columns x, const REAL *t, vector *sum, int vectors, bool whole, int64_t here,
                          int together) {
  const int64_t last = (vectors - 1) * LANES;
  vector own[HELD], turned[HELD];
  TSL_UNROLL for (int v = 0; v < vectors; v++) own[v] = turned[v] = (vector){0};
  TSL_UNROLL for (int c = 0; c < together; c++) {
    const vector re = all(t[PARTS * c]), im = all(t[PARTS * c + PARTS - 1]);
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      const REAL *from = x.a + c * x.ld;
      vector a = v < vectors - 1 ? NAME(load)(from + v * LANES) : load(from + last, whole, here);
      if (PARTS == 2) {
        a = loaded(a);
        turned[v] += im * a;
      }
      own[v] += re * a;
    }
  }
  TSL_UNROLL for (int v = 0; v < vectors; v++) sum[v] = joined(sum[v], own[v], turned[v]);
}

TSL_INLINE void add_held(columns x, const REAL *t, int64_t count, REAL *y, bool skips, int vectors) {
  const int64_t last = (vectors - 1) * LANES, here = x.count - last;
  const bool whole = here == LANES;
  vector sum[HELD];
  TSL_UNROLL for (int v = 0; v < vectors - 1; v++) sum[v] = NAME(load)(y + v * LANES);
  sum[vectors - 1] = load(y + last, whole, here);
  for (int64_t j = 0; j < count;) {
    const int step = step_at(t, count - j, skips), passed = step > 0 ? step : 1;
    if (step == TOGETHER)
      add_group(x, t, sum, vectors, whole, here, TOGETHER);
    else if (step == FEW)
      add_group(x, t, sum, vectors, whole, here, FEW);
    else if (step == 2)
      add_group(x, t, sum, vectors, whole, here, 2);
    else if (step == 1)
      add_group(x, t, sum, vectors, whole, here, 1);
    j += passed;
    t += PARTS * passed;
    x.a += passed * x.ld;
  }
  TSL_UNROLL for (int v = 0; v < vectors - 1; v++) NAME(store)(y + v * LANES, sum[v]);
  store(y + last, sum[vectors - 1], whole, here);
}

static void add_short(columns x, const REAL *t, int64_t count, REAL *y, bool skips) {
  const int64_t vectors = (x.count + LANES - 1) / LANES;
  if (vectors == 1)
    add_held(x, t, count, y, skips, 1);
  else if (vectors == 2)
    add_held(x, t, count, y, skips, 2);
  else if (HELD > 2 && vectors == 3)
    add_held(x, t, count, y, skips, 3);
  else if (HELD > 2 && vectors == 4)
    add_held(x, t, count, y, skips, 4);
}

static void add(int64_t rows, int64_t count, const void *a, int64_t ld, const void *t_data, void *y_data,
                bool skips) {
  const REAL *t = t_data;
  REAL *y = y_data;
  columns x = {a, ld * PARTS, rows * PARTS};
  if (x.count <= HELD * LANES) {
    add_short(x, t, count, y, skips);
    return;
  }
  const int64_t more = x.count % LANES, whole = x.count - more;
  const bool far = loads_far(rows, count);
  vector rest = {0};
  if (more > 0)
    rest = NAME(load_part)(y + whole, more);
  for (int64_t j = 0; j < count;) {
    const int step = step_at(t, count - j, skips), passed = step > 0 ? step : 1;
    if (step == TOGETHER)
      add_some(x, t, y, &rest, TOGETHER, false);
    else if (step == FEW)
      add_some(x, t, y, &rest, FEW, far);
    else if (step == 2)
      add_some(x, t, y, &rest, 2, far);
    else if (step == 1)
      add_some(x, t, y, &rest, 1, far);
    j += passed;
    t += PARTS * passed;
    x.a += passed * x.ld;
  }
  if (more > 0)
    NAME(store_part)(y + whole, rest, more);
}

/* Sums of a x, and of a times_i(x). */
typedef struct sums {
  vector plain, turned;
} sums;

/* Adds the sums to s. Lanes of a x are re re and im im; lanes of a times_i(x) are -re im and im re. The order
 * of a column's sum does not depend on other columns. */
TSL_INLINE void finish(const sums *accumulators, bool conjugate, REAL *s, int together) {
  enum { EACH = 4 / PARTS };
  TSL_UNROLL for (int first = 0; first < together; first += EACH) {
    vector all_of[4] = {{0}, {0}, {0}, {0}};
    REAL totals[4];
    TSL_UNROLL for (int j = 0; j < EACH; j++) if (first + j < together) {
      all_of[PARTS * j] = accumulators[first + j].plain;
      if (PARTS == 2)
        all_of[PARTS * j + PARTS - 1] = -accumulators[first + j].turned;
    }
    if (PARTS == 2 && !conjugate)
      TSL_UNROLL for (int j = 0; j < 4; j++) all_of[j] *= alternating();
    NAME(totals)(all_of, totals);
    TSL_UNROLL for (int c = 0; c < 4; c++) if (PARTS * first + c < PARTS * together) s[PARTS * first + c] +=
        totals[c];
  }
}

TSL_INLINE void dot_at(columns a, int64_t i, const REAL *x, sums *accumulators, int together, bool whole,
                       bool far) {
  const int64_t here = a.count - i;
  const vector plain = load(x + i, whole, here), turned = turned_of(plain);
  TSL_UNROLL for (int j = 0; j < together; j++) {
    vector column = whole ? load_whole(a.a + j * a.ld + i, far) : NAME(load_part)(a.a + j * a.ld + i, here);
    if (PARTS == 2) {
      column = loaded(column);
      accumulators[j].turned += column * turned;
    }
    accumulators[j].plain += column * plain;
  }
}

/* Computes some columns. A column's sum has equal bits among any number of columns, as programs expect that
 * apply one reflection to different numbers of columns. */
TSL_INLINE void dot_some(columns a, const REAL *x, REAL *s, int together, bool far) {
  sums of[MANY];
  TSL_UNROLL for (int j = 0; j < together; j++) of[j] = (sums){{0}, {0}};
  int64_t i = 0;
  if (far)
    for (; i + LANES <= a.count; i += LANES)
      dot_at(a, i, x, of, together, true, true);
  for (; i + LANES <= a.count; i += LANES)
    dot_at(a, i, x, of, together, true, false);
  if (i < a.count)
    dot_at(a, i, x, of, together, false, false);
  finish(of, false, s, together);
}

static void dot_along(int64_t rows, int64_t count, const REAL *from, int64_t ld, const REAL *x, REAL *s) {
  columns a = {from, ld * PARTS, rows * PARTS};
  const bool far = loads_far(rows, count);
  int64_t j = 0;
  for (; j + TOGETHER <= count; j += TOGETHER, a.a += TOGETHER * a.ld)
    dot_some(a, x, s + PARTS * j, TOGETHER, false);
  for (; PARTS == 1 && j + FEW <= count; j += FEW, a.a += FEW * a.ld)
    dot_some(a, x, s + PARTS * j, FEW, far);
  for (; j + 2 <= count; j += 2, a.a += 2 * a.ld)
    dot_some(a, x, s + PARTS * j, 2, far);
  if (j < count)
    dot_some(a, x, s + PARTS * j, 1, far);
}

#include "vector/kernels/short_dot.h"
#include "vector/kernels/stream_dot.h"

static void dot(int64_t rows, int64_t count, const void *a, int64_t ld, const void *x, void *s) {
  if (PARTS == 1 && rows > 0 && ld <= APART_MOST && dot_stream(rows, count, a, ld, x, s))
    return;
  if (rows * PARTS <= SHORT_MOST)
    dot_short(rows, count, a, ld * PARTS, x, s);
  else
    dot_along(rows, count, a, ld, x, s);
}

TSL_INLINE void both_at(columns a, int64_t i, const vector *re, const vector *im, REAL *y, const REAL *x,
                        sums *accumulators, int together, bool whole, int64_t here) {
  const vector plain = load(x + i, whole, here), turned = turned_of(plain);
  vector sum = load(y + i, whole, here), later = {0};
  TSL_UNROLL for (int j = 0; j < together; j++) {
    const vector column = loaded(load(a.a + j * a.ld + i, whole, here));
    sum += re[j] * column;
    accumulators[j].plain += column * plain;
    if (PARTS == 2) {
      later += im[j] * column;
      accumulators[j].turned += column * turned;
    }
  }
  if (PARTS == 2)
    sum += NAME(times_i)(later);
  store(y + i, sum, whole, here);
}

/* columns with factors and sums in registers */
enum { BOTH = (REGISTERS >= 32 ? 8 : 4) / PARTS };

/* Returns old + t x; `im` has the signs of times_i(). */
TSL_INLINE vector updated(vector old, vector re, vector im, vector x) {
  if (PARTS == 1)
    return old + re * x;
  x = loaded(x);
  return (old + re * x) + im * NAME(swapped)(x);
}

/* Full vectors of smaller sizes for the rest of a column: loads after a masked store would wait. */
typedef REAL eight __attribute__((vector_size(8 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
typedef REAL four __attribute__((vector_size(4 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
typedef REAL two __attribute__((vector_size(2 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
TSL_INLINE void update_rest(int64_t count, const REAL *x, const REAL *by, REAL *a) {
  const REAL t = by[0];
  int64_t i = 0;
  if (PARTS == 2) {
    for (; i < count; i += 2) {
      const REAL re = x[i], im = x[i + 1];
      a[i] = (a[i] + t * re) + -by[PARTS - 1] * im;
      a[i + 1] = (a[i + 1] + t * im) + by[PARTS - 1] * re;
    }
    return;
  }
  if (LANES > 8 && count & 8) {
    *(eight *)a += t * *(const eight *)x;
    i = 8;
  }
  if (LANES > 4 && count & 4) {
    *(four *)(a + i) += t * *(const four *)(x + i);
    i += 4;
  }
  if (LANES > 2 && count & 2) {
    *(two *)(a + i) += t * *(const two *)(x + i);
    i += 2;
  }
  if (count & 1)
    a[i] += t * x[i];
}

/* Half vectors for short columns at any address: only one of two stores crosses a cache line. */
typedef REAL half __attribute__((vector_size(32), may_alias, aligned(sizeof(REAL))));
enum { HALF = 32 / sizeof(REAL) };

/* Updates in steps of four half vectors; returns the end. */
TSL_INLINE int64_t update_halves(int64_t count, const REAL *x, REAL t, REAL *a) {
  const half by = t - (half){0};
  int64_t i = 0;
  for (; i + 4 * HALF <= count; i += 4 * HALF)
    TSL_UNROLL for (int64_t v = 0; v < 4 * HALF; v += HALF) {
      half *const at = (half *)(a + i + v);
      *at += by * *(const half *)(x + i + v);
    }
  return i;
}

TSL_INLINE void update_column(int64_t count, const REAL *x, const REAL *t, REAL *a, bool far) {
  const vector re = all(t[0]), im = all(t[PARTS - 1]) * -alternating();
  const bool far_x = far && count > (int64_t)FAR;
  int64_t i = 0;
  if (HAS_LOAD_FAR && far && PARTS == 1 && count < (int64_t)BRIEF)
    i = update_halves(count, x, t[0], a);
  if (far_x)
    for (; i + 4 * LANES <= count; i += 4 * LANES)
      TSL_UNROLL for (int64_t v = 0; v < 4 * LANES; v += LANES)
          NAME(store)(a + i + v, updated(load_whole(a + i + v, far), re, im, load_whole(x + i + v, far)));
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int64_t v = 0; v < 4 * LANES; v += LANES)
        NAME(store)(a + i + v, updated(load_whole(a + i + v, far), re, im, NAME(load)(x + i + v)));
  for (; i + LANES <= count; i += LANES)
    NAME(store)(a + i, updated(load_whole(a + i, far), re, im, NAME(load)(x + i)));
  update_rest(count - i, x + i, t, a + i);
}

/* Reads the lines of a skipped column, if columns are short and far: the prefetcher needs a stream. */
static void pass_over(int64_t count, const REAL *a) {
  enum { LINE = 64 / sizeof(REAL) };
  for (int64_t i = 0; i < count; i += LINE)
    (void)*(const volatile REAL *)(a + i);
}

TSL_INLINE void update_columns(int64_t rows, int64_t count, const REAL *x, const REAL *t, REAL *a, int64_t ld,
                               bool far) {
  for (int64_t j = 0; j < count; j++, t += PARTS, a += PARTS * ld)
    if (!is_zero(t))
      update_column(rows * PARTS, x, t, a, far);
    else if (far && rows * PARTS < (int64_t)PAGE)
      pass_over(rows * PARTS, a);
}

static void update(int64_t rows, int64_t count, const void *x, const void *t, void *a, int64_t ld, bool far) {
  if (far)
    update_columns(rows, count, x, t, a, ld, true);
  else
    update_columns(rows, count, x, t, a, ld, false);
}

typedef struct number {
  REAL re, im;
} number;

static inline number get(const REAL *src) {
  return (number){src[0], PARTS == 2 ? src[PARTS - 1] : 0};
}
static inline void put(REAL *data, number value) {
  data[0] = value.re;
  if (PARTS == 2)
    data[PARTS - 1] = value.im;
}
static inline number product(number a, number b) {
  return PARTS == 1 ? (number){a.re * b.re, 0}
                    : (number){NAME(fma_number)(-(a.im * b.im), a.re, b.re),
                               NAME(fma_number)(a.im * b.re, a.re, b.im)};
}
/* Divides by R. L. Smith's method (1962), whose intermediate values do not overflow. */
static inline number quotient(number a, number b) {
  if (PARTS == 1)
    return (number){a.re / b.re, 0};
  const bool flat = fabs((double)b.re) >= fabs((double)b.im);
  const REAL large = flat ? b.re : b.im, small = flat ? b.im : b.re, ratio = small / large;
  const REAL below = large + small * ratio;
  return flat ? (number){(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below}
              : (number){(a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below};
}

static inline void accumulate(REAL *data, number a, number b) {
  const number old = get(data), more = product(a, b);
  put(data, (number){old.re + more.re, old.im + more.im});
}

typedef struct triangle {
  const REAL *a;
  int64_t ld, n; /* in elements */
  bool hermitian;
} triangle;

/* Returns a mask of a vector's components from `first` on; `first` may be negative or beyond the vector. */
static inline vector_i32 lane_mask_from(int64_t first) {
  enum { EDGE = 32, WORDS = sizeof(REAL) / 4 };
  static const uint32_t words[2 * EDGE] = {
      [EDGE] = ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
      ~0u,          ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
  };
  return (vector_i32)load_word_f32(words + EDGE - first * WORDS);
}

/* Sets masks for the column whose diagonal begins at component `index`: off the diagonal, and with it. */
TSL_INLINE void keep(int64_t index, bool upper, bool hermitian, vector_i32 *beside, vector_i32 *with) {
  *beside = upper ? ~lane_mask_from(index) : lane_mask_from(index + PARTS);
  *with = upper ? ~lane_mask_from(index + PARTS) : lane_mask_from(index);
  if (PARTS == 2 && hermitian)
    *with &= ~(lane_mask_from(index + 1) & ~lane_mask_from(index + 2));
}

/* Group of columns from j on, with their factors and sums. */
typedef struct group {
  columns a;
  int64_t j;
  const REAL *x;
  vector re[BOTH], im[BOTH];
  sums of[BOTH];
} group;

/* Processes the diagonal of a group. Elements outside of the triangle are read and masked. */
TSL_INLINE void on_diagonal(group *g, int64_t i, REAL *y, bool upper, bool hermitian, int together) {
  const int64_t here = g->a.count - i;
  const bool whole = here >= LANES;
  const vector plain = load(g->x + i, whole, here), turned = turned_of(plain);
  vector sum = load(y + i, whole, here), later = {0};
  TSL_UNROLL for (int j = 0; j < together; j++) {
    const vector_i32 column = (vector_i32)load(g->a.a + j * g->a.ld + i, whole, here);
    vector_i32 beside, with;
    keep(PARTS * (g->j + j) - i, upper, hermitian, &beside, &with);
    sum += g->re[j] * (vector)(column & with);
    g->of[j].plain += (vector)(column & beside) * plain;
    if (PARTS == 2) {
      later += g->im[j] * (vector)(column & with);
      g->of[j].turned += (vector)(column & beside) * turned;
    }
  }
  if (PARTS == 2)
    sum += NAME(times_i)(later);
  store(y + i, sum, whole, here);
}

/* Processes a group of columns. Vectors begin at multiples of their length, as the stores before. */
TSL_INLINE void symmetric_some(const triangle *shape, int64_t j, const REAL *t, const REAL *x, REAL *y,
                               REAL *s, bool upper, int together) {
  const int64_t count = PARTS * shape->n, first = PARTS * j / LANES * LANES, end = PARTS * (j + together);
  group g = {.a = {shape->a + PARTS * shape->ld * j, PARTS * shape->ld, count}, .j = j, .x = x};
  TSL_UNROLL for (int c = 0; c < together; c++) {
    g.re[c] = all(t[PARTS * c]);
    g.im[c] = all(t[PARTS * c + PARTS - 1]);
    g.of[c] = (sums){{0}, {0}};
  }
  int64_t i = upper ? 0 : first;
  if (upper)
    for (; i < first; i += LANES)
      both_at(g.a, i, g.re, g.im, y, x, g.of, together, true, LANES);
  for (; i < end; i += LANES)
    on_diagonal(&g, i, y, upper, shape->hermitian, together);
  if (!upper) {
    for (; i + LANES <= count; i += LANES)
      both_at(g.a, i, g.re, g.im, y, x, g.of, together, true, LANES);
    if (i < count)
      both_at(g.a, i, g.re, g.im, y, x, g.of, together, false, count - i);
  }
  finish(g.of, shape->hermitian, s, together);
}

/* Processes columns `first` to `end` - 1, whose factors and sums begin at t and s. */
TSL_INLINE void symmetric_columns(const triangle *shape, int64_t first, int64_t end, const REAL *t,
                                  const REAL *x, REAL *y, REAL *s, bool upper) {
  for (int64_t j = first; j < end;) {
    int step = 1;
    if (j + BOTH <= end)
      symmetric_some(shape, j, t, x, y, s, upper, step = BOTH);
    else if ((int)BOTH > (int)FEW && j + FEW <= end)
      symmetric_some(shape, j, t, x, y, s, upper, step = FEW);
    else if (BOTH > 2 && j + 2 <= end)
      symmetric_some(shape, j, t, x, y, s, upper, step = 2);
    else
      symmetric_some(shape, j, t, x, y, s, upper, 1);
    j += step;
    t += PARTS * step;
    s += PARTS * step;
  }
}

static void symmetric(int64_t n, int64_t first, int64_t end, const void *a, int64_t ld,
                      tsl_vector_number alpha, const void *t_data, const void *x, void *y_data, bool upper,
                      bool hermitian) {
  enum { TURN = 64 };
  const triangle of = {a, ld, n, hermitian};
  const number by = {(REAL)alpha.re, (REAL)alpha.im};
  const REAL *t = t_data;
  REAL *y = y_data, s[PARTS * TURN];
  for (int64_t turn = first; turn < end; turn += TURN) {
    const int64_t last = end - turn < TURN ? end : turn + TURN;
    memset(s, 0, (size_t)((last - turn) * PARTS) * sizeof *s);
    if (upper)
      symmetric_columns(&of, turn, last, t + PARTS * (turn - first), x, y, s, true);
    else
      symmetric_columns(&of, turn, last, t + PARTS * (turn - first), x, y, s, false);
    for (int64_t j = turn; j < last; j++)
      accumulate(y + PARTS * j, by, get(s + PARTS * (j - turn)));
  }
}

static void update_triangle(int64_t n, int64_t first, int64_t end, const void *x_data, const void *t_data,
                            void *a_data, int64_t ld, bool upper, bool hermitian) {
  const REAL *x = x_data, *t = t_data;
  const bool far = HAS_LOAD_FAR && is_far(n, end - first);
  for (int64_t j = first; j < end; j++, t += PARTS) {
    const int64_t top = upper ? 0 : j, count = upper ? j + 1 : n - j;
    REAL *column = (REAL *)a_data + PARTS * ld * j;
    if (!is_zero(t) && far)
      update_column(PARTS * count, x + PARTS * top, t, column + PARTS * top, true);
    else if (!is_zero(t))
      update_column(PARTS * count, x + PARTS * top, t, column + PARTS * top, false);
    if (hermitian)
      put(column + PARTS * j, (number){column[PARTS * j], 0});
  }
}

static inline number small_sum(const REAL *column, const REAL *x, int first, int end) {
  REAL sum[2] = {0, 0};
  for (int r = first; r < end; r++)
    accumulate(sum, get(column + PARTS * r), get(x + PARTS * r));
  return (number){sum[0], sum[PARTS - 1]};
}

/* Processes column j: updates x off the diagonal by x[j], or x[j] by x off the diagonal. */
static void small_column(int j, int n, const REAL *a, int64_t ld, tsl_diagonal way, REAL *x) {
  const int first = way.upper ? 0 : j + 1, end = way.upper ? j : n;
  const REAL *column = a + PARTS * ld * j, sign = way.solves ? -1 : 1;
  const number at = get(column + PARTS * j);
  number value = get(x + PARTS * j);
  if (way.transposed) {
    if (!way.solves && !way.unit)
      value = product(value, at);
    const number sum = small_sum(column, x, first, end);
    value = (number){value.re + sign * sum.re, value.im + sign * sum.im};
    put(x + PARTS * j, way.solves && !way.unit ? quotient(value, at) : value);
    return;
  }
  if (value.re == 0 && value.im == 0)
    return;
  if (way.solves && !way.unit)
    value = quotient(value, at);
  for (int r = first; r < end; r++)
    accumulate(x + PARTS * r, (number){sign * value.re, sign * value.im}, get(column + PARTS * r));
  put(x + PARTS * j, way.solves || way.unit ? value : product(value, at));
}

/* Processes a small square, so that columns read old values for products, new values for solutions. */
static void careful_square(int n, const REAL *a, int64_t ld, tsl_diagonal way, REAL *x) {
  const bool ascends = way.upper != (way.transposed != way.solves);
  for (int step = 0; step < n; step++)
    small_column(ascends ? step : n - 1 - step, n, a, ld, way, x);
}

/* Square as a lower triangle without transpose; distances are negative if it is read backwards. */
typedef struct square {
  const REAL *a;
  int64_t down, across, step;
  REAL *x;
  bool unit;
} square;

/* Computes a square with all of x in registers; each element waits only for those before it. */
TSL_INLINE void square_of(square block, bool solves, int n) {
  number x[TOGETHER];
  TSL_UNROLL for (int r = 0; r < n; r++) x[r] = get(block.x + r * block.step);
  if (solves) {
    TSL_UNROLL for (int c = 0; c < n; c++) {
      const REAL *column = block.a + c * block.across;
      if (!block.unit)
        x[c] = quotient(x[c], get(column + c * block.down));
      TSL_UNROLL for (int r = c + 1; r < n; r++) {
        const number less = product(get(column + r * block.down), x[c]);
        x[r] = (number){x[r].re - less.re, x[r].im - less.im};
      }
    }
  } else {
    TSL_UNROLL for (int r = n - 1; r >= 0; r--) {
      const REAL *row = block.a + r * block.down;
      if (!block.unit)
        x[r] = product(x[r], get(row + r * block.across));
      TSL_UNROLL for (int c = 0; c < r; c++) {
        const number more = product(get(row + c * block.across), x[c]);
        x[r] = (number){x[r].re + more.re, x[r].im + more.im};
      }
    }
  }
  TSL_UNROLL for (int r = 0; r < n; r++) put(block.x + r * block.step, x[r]);
}

TSL_INLINE void square_with(square block, bool solves, int n) {
  if (n == TOGETHER)
    square_of(block, solves, TOGETHER);
  else if (PARTS == 1 && n == FEW)
    square_of(block, solves, FEW);
  else if (n == 2)
    square_of(block, solves, 2);
  else
    square_of(block, solves, 1);
}

static void small_square(int n, const REAL *a, int64_t ld, tsl_diagonal way, REAL *x) {
  const int64_t down = way.transposed ? PARTS * ld : PARTS, across = way.transposed ? PARTS : PARTS * ld;
  const bool turned = way.upper != way.transposed;
  const int64_t sign = turned ? -1 : 1, last = turned ? n - 1 : 0;
  const square of = {a + last * (down + across), sign * down, sign * across, sign * PARTS,
                     x + PARTS * last,           way.unit};
  if (!way.transposed && has_zero(x, n))
    careful_square(n, a, ld, way, x);
  else if (way.solves)
    square_with(of, true, n);
  else
    square_with(of, false, n);
}

/* Processes the rows outside of a small square, for columns j to j + count - 1. */
static void off_diagonal_rows(int64_t n, int64_t j, int count, const REAL *a, int64_t ld, tsl_diagonal way,
                              REAL *x) {
  const int64_t first = way.upper ? 0 : j + count, rows = way.upper ? j : n - first;
  const REAL *column = a + PARTS * (ld * j + first), sign = way.solves ? -1 : 1;
  REAL t[PARTS * MANY];
  if (rows == 0)
    return;
  if (way.transposed) {
    for (int c = 0; c < PARTS * count; c++)
      t[c] = 0;
    dot_along(rows, count, column, ld, x + PARTS * first, t); /* faster for few columns */
    for (int c = 0; c < PARTS * count; c++)
      x[PARTS * j + c] += sign * t[c];
  } else {
    for (int c = 0; c < PARTS * count; c++)
      t[c] = sign * x[PARTS * j + c];
    add(rows, count, column, ld, t, x + PARTS * first, true);
  }
}

/* Returns the columns of a square that begins at j; the last squares are decreasing powers of two. */
static int square_from(int64_t n, int64_t j) {
  int count = TOGETHER;
  while (count > n - j)
    count /= 2;
  return count;
}
static int square_before(int64_t end) {
  const int64_t inside = end % TOGETHER;
  return inside == 0 ? TOGETHER : (int)(inside & -inside);
}

static void diagonal(int64_t n, const void *a_data, int64_t ld, tsl_diagonal way, void *x_data) {
  const bool ascends = way.upper != (way.transposed != way.solves);
  const REAL *a = a_data;
  REAL *x = x_data;
  int64_t left = n;
  while (left > 0) {
    const int count = ascends ? square_from(n, n - left) : square_before(left);
    const int64_t j = ascends ? n - left : left - count;
    if (way.transposed == way.solves)
      off_diagonal_rows(n, j, count, a, ld, way, x);
    small_square(count, a + PARTS * (ld * j + j), ld, way, x + PARTS * j);
    if (way.transposed != way.solves)
      off_diagonal_rows(n, j, count, a, ld, way, x);
    left -= count;
  }
}

const tsl_column_kernels TSL_ISA_NAME(tsl_columns) = {.add = add,
                                                      .dot = dot,
                                                      .update = update,
                                                      .update_triangle = update_triangle,
                                                      .symmetric = symmetric,
                                                      .diagonal = diagonal};
