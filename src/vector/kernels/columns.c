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

static inline bool exceeds_l1(int64_t rows, int64_t count) {
  return rows * count * PARTS > (int64_t)FAR;
}
/* Returns true if load_beyond_l1() is faster: for large matrices of f64 only. */
static inline bool should_load_far(int64_t rows, int64_t count) {
  return HAS_LOAD_FAR && PARTS == 1 && sizeof(REAL) == 8 && exceeds_l1(rows, count);
}
/* components of a page, and of a column of a few vectors */
enum { PAGE_COMPONENTS = (1 << 12) / sizeof(REAL), BRIEF_COMPONENTS = (1 << 10) / sizeof(REAL) };

/* Loads `valid_count` components, the others as 0; a full vector if `is_full`. */
TSL_INLINE vector load(const REAL *from, bool is_full, int64_t valid_count) {
  return is_full ? NAME(load)(from) : NAME(load_part)(from, valid_count);
}
TSL_INLINE void store(REAL *dst, vector value, bool is_full, int64_t valid_count) {
  if (is_full)
    NAME(store)(dst, value);
  else
    NAME(store_part)(dst, value, valid_count);
}

TSL_INLINE vector times_i(vector x) {
  if (PARTS == 2)
    return NAME(times_i)(x);
  return x;
}

/* Returns y + (re a + i im a). The columns' sum is rounded first, so that it does not wait for y. */
TSL_INLINE vector add_to_y(vector y, vector state, vector turned) {
  if (PARTS == 2)
    state += NAME(times_i)(turned);
  TSL_KEEP(state);
  return y + state;
}

TSL_INLINE vector add_columns_at(columns x, int64_t i, const vector *re, const vector *im, vector y,
                                 int column_count, bool uses_far_loads) {
  vector own = {0}, turned = {0};
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    vector a = load_whole(x.a + j * x.ld + i, uses_far_loads);
    if (PARTS == 2) {
      a = keep_in_register(a);
      turned += im[j] * a;
    }
    own += re[j] * a;
  }
  return add_to_y(y, own, turned);
}

TSL_INLINE vector add_columns_part(columns x, int64_t i, const vector *re, const vector *im, vector y,
                                   int column_count) {
  vector own = {0}, turned = {0};
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    vector a = NAME(load_part)(x.a + j * x.ld + i, x.count - i);
    if (PARTS == 2) {
      a = keep_in_register(a);
      turned += im[j] * a;
    }
    own += re[j] * a;
  }
  return add_to_y(y, own, turned);
}

TSL_INLINE int64_t add_full_vectors(columns x, const vector *re, const vector *im, REAL *y, int column_count,
                                    bool uses_far_loads) {
  int64_t i = 0;
  for (; i + LANES <= x.count; i += LANES)
    NAME(store)(y + i, add_columns_at(x, i, re, im, NAME(load)(y + i), column_count, uses_far_loads));
  return i;
}

/* Adds some columns to y. Its last partial vector is `rest`: reading it after a store would wait. */
TSL_INLINE void add_columns(columns x, const REAL *t, REAL *y, vector *rest, int column_count,
                            bool uses_far_loads) {
  vector re[MANY], im[MANY];
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    re[j] = splat(t[PARTS * j]);
    im[j] = splat(t[PARTS * j + PARTS - 1]);
  }
  const int64_t i = uses_far_loads ? add_full_vectors(x, re, im, y, column_count, true)
                                   : add_full_vectors(x, re, im, y, column_count, false);
  if (i < x.count)
    *rest = add_columns_part(x, i, re, im, *rest, column_count);
}

static bool has_zero(const REAL *t, int count) {
  bool found = false;
  for (int j = 0; j < count; j++)
    found = found || is_zero(t + PARTS * j);
  return found;
}

/* columns with factors in registers: complex columns have two factors each */
enum { COLUMNS_TOGETHER = PARTS == 2 ? FEW : MANY };

/* Returns how many columns are added together; 0: the first column is skipped, because its factor is 0. */
static inline int columns_per_group(const REAL *t, int64_t count, bool skips) {
  if (count >= COLUMNS_TOGETHER && !(skips && has_zero(t, COLUMNS_TOGETHER)))
    return COLUMNS_TOGETHER;
  if (PARTS == 1 && count >= FEW && !(skips && has_zero(t, FEW)))
    return FEW;
  if (count >= 2 && !(skips && has_zero(t, 2)))
    return 2;
  return skips && is_zero(t) ? 0 : 1;
}

/* vectors of a short y, which is in registers: groups of columns need not wait for stores */
enum { SHORT_VECTORS_MAX = PARTS == 2 ? 2 : 4 };
TSL_INLINE void add_group(columns x, const REAL *t, vector *sum, int vectors, bool is_full,
                          int64_t valid_count, int column_count) {
  const int64_t last = (vectors - 1) * LANES;
  vector own[SHORT_VECTORS_MAX], turned[SHORT_VECTORS_MAX];
  TSL_UNROLL for (int v = 0; v < vectors; v++) own[v] = turned[v] = (vector){0};
  TSL_UNROLL for (int c = 0; c < column_count; c++) {
    const vector re = splat(t[PARTS * c]), im = splat(t[PARTS * c + PARTS - 1]);
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      const REAL *from = x.a + c * x.ld;
      vector a = v < vectors - 1 ? NAME(load)(from + v * LANES) : load(from + last, is_full, valid_count);
      if (PARTS == 2) {
        a = keep_in_register(a);
        turned[v] += im * a;
      }
      own[v] += re * a;
    }
  }
  TSL_UNROLL for (int v = 0; v < vectors; v++) sum[v] = add_to_y(sum[v], own[v], turned[v]);
}

TSL_INLINE void add_in_registers(columns x, const REAL *t, int64_t count, REAL *y, bool skips, int vectors) {
  const int64_t last = (vectors - 1) * LANES, valid_count = x.count - last;
  const bool is_full = valid_count == LANES;
  vector sum[SHORT_VECTORS_MAX];
  TSL_UNROLL for (int v = 0; v < vectors - 1; v++) sum[v] = NAME(load)(y + v * LANES);
  sum[vectors - 1] = load(y + last, is_full, valid_count);
  for (int64_t j = 0; j < count;) {
    const int step = columns_per_group(t, count - j, skips), passed = step > 0 ? step : 1;
    if (step == COLUMNS_TOGETHER)
      add_group(x, t, sum, vectors, is_full, valid_count, COLUMNS_TOGETHER);
    else if (step == FEW)
      add_group(x, t, sum, vectors, is_full, valid_count, FEW);
    else if (step == 2)
      add_group(x, t, sum, vectors, is_full, valid_count, 2);
    else if (step == 1)
      add_group(x, t, sum, vectors, is_full, valid_count, 1);
    j += passed;
    t += PARTS * passed;
    x.a += passed * x.ld;
  }
  TSL_UNROLL for (int v = 0; v < vectors - 1; v++) NAME(store)(y + v * LANES, sum[v]);
  store(y + last, sum[vectors - 1], is_full, valid_count);
}

static void add_to_short_y(columns x, const REAL *t, int64_t count, REAL *y, bool skips) {
  const int64_t vectors = (x.count + LANES - 1) / LANES;
  if (vectors == 1)
    add_in_registers(x, t, count, y, skips, 1);
  else if (vectors == 2)
    add_in_registers(x, t, count, y, skips, 2);
  else if (SHORT_VECTORS_MAX > 2 && vectors == 3)
    add_in_registers(x, t, count, y, skips, 3);
  else if (SHORT_VECTORS_MAX > 2 && vectors == 4)
    add_in_registers(x, t, count, y, skips, 4);
}

static void add_multiples_of_columns(int64_t rows, int64_t count, const void *a, int64_t ld,
                                     const void *t_data, void *y_data, bool skips) {
  const REAL *t = t_data;
  REAL *y = y_data;
  columns x = {a, ld * PARTS, rows * PARTS};
  if (x.count <= SHORT_VECTORS_MAX * LANES) {
    add_to_short_y(x, t, count, y, skips);
    return;
  }
  const int64_t more = x.count % LANES, is_full = x.count - more;
  const bool uses_far_loads = should_load_far(rows, count);
  vector rest = {0};
  if (more > 0)
    rest = NAME(load_part)(y + is_full, more);
  for (int64_t j = 0; j < count;) {
    const int step = columns_per_group(t, count - j, skips), passed = step > 0 ? step : 1;
    if (step == COLUMNS_TOGETHER)
      add_columns(x, t, y, &rest, COLUMNS_TOGETHER, false);
    else if (step == FEW)
      add_columns(x, t, y, &rest, FEW, uses_far_loads);
    else if (step == 2)
      add_columns(x, t, y, &rest, 2, uses_far_loads);
    else if (step == 1)
      add_columns(x, t, y, &rest, 1, uses_far_loads);
    j += passed;
    t += PARTS * passed;
    x.a += passed * x.ld;
  }
  if (more > 0)
    NAME(store_part)(y + is_full, rest, more);
}

/* Sums of a x, and of a times_i(x). */
typedef struct sums {
  vector plain, turned;
} sums;

/* Adds the sums to s. Lanes of a x are re re and im im; lanes of a times_i(x) are -re im and im re. The order
 * of a column's sum does not depend on other columns. */
TSL_INLINE void add_sums_to_s(const sums *accumulators, bool conjugate, REAL *s, int column_count) {
  enum { EACH = 4 / PARTS };
  TSL_UNROLL for (int first = 0; first < column_count; first += EACH) {
    vector all_of[4] = {{0}, {0}, {0}, {0}};
    REAL totals[4];
    TSL_UNROLL for (int j = 0; j < EACH; j++) if (first + j < column_count) {
      all_of[PARTS * j] = accumulators[first + j].plain;
      if (PARTS == 2)
        all_of[PARTS * j + PARTS - 1] = -accumulators[first + j].turned;
    }
    if (PARTS == 2 && !conjugate)
      TSL_UNROLL for (int j = 0; j < 4; j++) all_of[j] *= alternating_signs();
    NAME(sum_lanes_of_4)(all_of, totals);
    TSL_UNROLL for (int c = 0; c < 4; c++) if (PARTS * first + c < PARTS * column_count)
        s[PARTS * first + c] += totals[c];
  }
}

TSL_INLINE void dot_vectors_at(columns a, int64_t i, const REAL *x, sums *accumulators, int column_count,
                               bool is_full, bool uses_far_loads) {
  const int64_t valid_count = a.count - i;
  const vector plain = load(x + i, is_full, valid_count), turned = times_i(plain);
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    vector column = is_full ? load_whole(a.a + j * a.ld + i, uses_far_loads)
                            : NAME(load_part)(a.a + j * a.ld + i, valid_count);
    if (PARTS == 2) {
      column = keep_in_register(column);
      accumulators[j].turned += column * turned;
    }
    accumulators[j].plain += column * plain;
  }
}

/* Computes some columns. A column's sum has equal bits among any number of columns, as programs expect that
 * apply one reflection to different numbers of columns. */
TSL_INLINE void dot_columns(columns a, const REAL *x, REAL *s, int column_count, bool uses_far_loads) {
  sums of[MANY];
  TSL_UNROLL for (int j = 0; j < column_count; j++) of[j] = (sums){{0}, {0}};
  int64_t i = 0;
  if (uses_far_loads)
    for (; i + LANES <= a.count; i += LANES)
      dot_vectors_at(a, i, x, of, column_count, true, true);
  for (; i + LANES <= a.count; i += LANES)
    dot_vectors_at(a, i, x, of, column_count, true, false);
  if (i < a.count)
    dot_vectors_at(a, i, x, of, column_count, false, false);
  add_sums_to_s(of, false, s, column_count);
}

static void dot_columns_along(int64_t rows, int64_t count, const REAL *from, int64_t ld, const REAL *x,
                              REAL *s) {
  columns a = {from, ld * PARTS, rows * PARTS};
  const bool uses_far_loads = should_load_far(rows, count);
  int64_t j = 0;
  for (; j + COLUMNS_TOGETHER <= count; j += COLUMNS_TOGETHER, a.a += COLUMNS_TOGETHER * a.ld)
    dot_columns(a, x, s + PARTS * j, COLUMNS_TOGETHER, false);
  for (; PARTS == 1 && j + FEW <= count; j += FEW, a.a += FEW * a.ld)
    dot_columns(a, x, s + PARTS * j, FEW, uses_far_loads);
  for (; j + 2 <= count; j += 2, a.a += 2 * a.ld)
    dot_columns(a, x, s + PARTS * j, 2, uses_far_loads);
  if (j < count)
    dot_columns(a, x, s + PARTS * j, 1, uses_far_loads);
}

#include "vector/kernels/short_dot.h"
#include "vector/kernels/stream_dot.h"

static void dot_of_columns(int64_t rows, int64_t count, const void *a, int64_t ld, const void *x, void *s) {
  if (PARTS == 1 && rows > 0 && ld <= DISTANCE_MAX && dot_stream(rows, count, a, ld, x, s))
    return;
  if (rows * PARTS <= SHORT_COMPONENTS_MAX)
    dot_short(rows, count, a, ld * PARTS, x, s);
  else
    dot_columns_along(rows, count, a, ld, x, s);
}

TSL_INLINE void add_and_dot_at(columns a, int64_t i, const vector *re, const vector *im, REAL *y,
                               const REAL *x, sums *accumulators, int column_count, bool is_full,
                               int64_t valid_count) {
  const vector plain = load(x + i, is_full, valid_count), turned = times_i(plain);
  vector sum = load(y + i, is_full, valid_count), later = {0};
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    const vector column = keep_in_register(load(a.a + j * a.ld + i, is_full, valid_count));
    sum += re[j] * column;
    accumulators[j].plain += column * plain;
    if (PARTS == 2) {
      later += im[j] * column;
      accumulators[j].turned += column * turned;
    }
  }
  if (PARTS == 2)
    sum += NAME(times_i)(later);
  store(y + i, sum, is_full, valid_count);
}

/* columns with factors and sums in registers */
enum { COLUMNS_WITH_SUMS = (REGISTERS >= 32 ? 8 : 4) / PARTS };

/* Returns old + t x; `im` has the signs of times_i(). */
TSL_INLINE vector update_vector(vector old, vector re, vector im, vector x) {
  if (PARTS == 1)
    return old + re * x;
  x = keep_in_register(x);
  return (old + re * x) + im * NAME(swap_pairs)(x);
}

/* Full vectors of smaller sizes for the rest of a column: loads after a masked store would wait. */
typedef REAL eight __attribute__((vector_size(8 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
typedef REAL four __attribute__((vector_size(4 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
typedef REAL two __attribute__((vector_size(2 * sizeof(REAL)), may_alias, aligned(sizeof(REAL))));
TSL_INLINE void update_remainder(int64_t count, const REAL *x, const REAL *factor, REAL *a) {
  const REAL t = factor[0];
  int64_t i = 0;
  if (PARTS == 2) {
    for (; i < count; i += 2) {
      const REAL re = x[i], im = x[i + 1];
      a[i] = (a[i] + t * re) + -factor[PARTS - 1] * im;
      a[i + 1] = (a[i + 1] + t * im) + factor[PARTS - 1] * re;
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
TSL_INLINE int64_t update_half_vectors(int64_t count, const REAL *x, REAL t, REAL *a) {
  const half factor = t - (half){0};
  int64_t i = 0;
  for (; i + 4 * HALF <= count; i += 4 * HALF)
    TSL_UNROLL for (int64_t v = 0; v < 4 * HALF; v += HALF) {
      half *const at = (half *)(a + i + v);
      *at += factor * *(const half *)(x + i + v);
    }
  return i;
}

TSL_INLINE void update_column(int64_t count, const REAL *x, const REAL *t, REAL *a, bool uses_far_loads) {
  const vector re = splat(t[0]), im = splat(t[PARTS - 1]) * -alternating_signs();
  const bool far_x = uses_far_loads && count > (int64_t)FAR;
  int64_t i = 0;
  if (HAS_LOAD_FAR && uses_far_loads && PARTS == 1 && count < (int64_t)BRIEF_COMPONENTS)
    i = update_half_vectors(count, x, t[0], a);
  if (far_x)
    for (; i + 4 * LANES <= count; i += 4 * LANES)
      TSL_UNROLL for (int64_t v = 0; v < 4 * LANES; v += LANES)
          NAME(store)(a + i + v, update_vector(load_whole(a + i + v, uses_far_loads), re, im,
                                               load_whole(x + i + v, uses_far_loads)));
  for (; i + 4 * LANES <= count; i += 4 * LANES)
    TSL_UNROLL for (int64_t v = 0; v < 4 * LANES; v += LANES) NAME(store)(
        a + i + v, update_vector(load_whole(a + i + v, uses_far_loads), re, im, NAME(load)(x + i + v)));
  for (; i + LANES <= count; i += LANES)
    NAME(store)(a + i, update_vector(load_whole(a + i, uses_far_loads), re, im, NAME(load)(x + i)));
  update_remainder(count - i, x + i, t, a + i);
}

/* Reads the lines of a skipped column, if columns are short and far: the prefetcher needs a stream. */
static void touch_lines(int64_t count, const REAL *a) {
  enum { LINE = 64 / sizeof(REAL) };
  for (int64_t i = 0; i < count; i += LINE)
    (void)*(const volatile REAL *)(a + i);
}

TSL_INLINE void update_columns(int64_t rows, int64_t count, const REAL *x, const REAL *t, REAL *a, int64_t ld,
                               bool uses_far_loads) {
  for (int64_t j = 0; j < count; j++, t += PARTS, a += PARTS * ld)
    if (!is_zero(t))
      update_column(rows * PARTS, x, t, a, uses_far_loads);
    else if (uses_far_loads && rows * PARTS < (int64_t)PAGE_COMPONENTS)
      touch_lines(rows * PARTS, a);
}

static void add_to_columns(int64_t rows, int64_t count, const void *x, const void *t, void *a, int64_t ld,
                           bool uses_far_loads) {
  if (uses_far_loads)
    update_columns(rows, count, x, t, a, ld, true);
  else
    update_columns(rows, count, x, t, a, ld, false);
}

typedef struct number {
  REAL re, im;
} number;

static inline number load_number(const REAL *src) {
  return (number){src[0], PARTS == 2 ? src[PARTS - 1] : 0};
}
static inline void store_number(REAL *data, number value) {
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

static inline void add_product_to(REAL *data, number a, number b) {
  const number old = load_number(data), more = product(a, b);
  store_number(data, (number){old.re + more.re, old.im + more.im});
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
TSL_INLINE void set_masks(int64_t index, bool upper, bool hermitian, vector_i32 *off_diagonal,
                          vector_i32 *with_diagonal) {
  *off_diagonal = upper ? ~lane_mask_from(index) : lane_mask_from(index + PARTS);
  *with_diagonal = upper ? ~lane_mask_from(index + PARTS) : lane_mask_from(index);
  if (PARTS == 2 && hermitian)
    *with_diagonal &= ~(lane_mask_from(index + 1) & ~lane_mask_from(index + 2));
}

/* Group of columns from j on, with their factors and sums. */
typedef struct group {
  columns a;
  int64_t j;
  const REAL *x;
  vector re[COLUMNS_WITH_SUMS], im[COLUMNS_WITH_SUMS];
  sums column_sums[COLUMNS_WITH_SUMS];
} group;

/* Adds a group's products of a vector with diagonal elements. Elements outside of the triangle are masked. */
TSL_INLINE void add_diagonal_vector(group *g, int64_t i, REAL *y, bool upper, bool hermitian,
                                    int column_count) {
  const int64_t valid_count = g->a.count - i;
  const bool is_full = valid_count >= LANES;
  const vector plain = load(g->x + i, is_full, valid_count), turned = times_i(plain);
  vector sum = load(y + i, is_full, valid_count), later = {0};
  TSL_UNROLL for (int j = 0; j < column_count; j++) {
    const vector_i32 column = (vector_i32)load(g->a.a + j * g->a.ld + i, is_full, valid_count);
    vector_i32 off_diagonal, with_diagonal;
    set_masks(PARTS * (g->j + j) - i, upper, hermitian, &off_diagonal, &with_diagonal);
    sum += g->re[j] * (vector)(column & with_diagonal);
    g->column_sums[j].plain += (vector)(column & off_diagonal) * plain;
    if (PARTS == 2) {
      later += g->im[j] * (vector)(column & with_diagonal);
      g->column_sums[j].turned += (vector)(column & off_diagonal) * turned;
    }
  }
  if (PARTS == 2)
    sum += NAME(times_i)(later);
  store(y + i, sum, is_full, valid_count);
}

/* Adds a group's products to y and s. Vectors begin at multiples of their length, as the stores before. */
TSL_INLINE void add_symmetric_group(const triangle *shape, int64_t j, const REAL *t, const REAL *x, REAL *y,
                                    REAL *s, bool upper, int column_count) {
  const int64_t count = PARTS * shape->n, first = PARTS * j / LANES * LANES, end = PARTS * (j + column_count);
  group g = {.a = {shape->a + PARTS * shape->ld * j, PARTS * shape->ld, count}, .j = j, .x = x};
  TSL_UNROLL for (int c = 0; c < column_count; c++) {
    g.re[c] = splat(t[PARTS * c]);
    g.im[c] = splat(t[PARTS * c + PARTS - 1]);
    g.column_sums[c] = (sums){{0}, {0}};
  }
  int64_t i = upper ? 0 : first;
  if (upper)
    for (; i < first; i += LANES)
      add_and_dot_at(g.a, i, g.re, g.im, y, x, g.column_sums, column_count, true, LANES);
  for (; i < end; i += LANES)
    add_diagonal_vector(&g, i, y, upper, shape->hermitian, column_count);
  if (!upper) {
    for (; i + LANES <= count; i += LANES)
      add_and_dot_at(g.a, i, g.re, g.im, y, x, g.column_sums, column_count, true, LANES);
    if (i < count)
      add_and_dot_at(g.a, i, g.re, g.im, y, x, g.column_sums, column_count, false, count - i);
  }
  add_sums_to_s(g.column_sums, shape->hermitian, s, column_count);
}

/* Adds products of columns `first` to `end` - 1 to y and s. Their factors and sums begin at t and s. */
TSL_INLINE void add_symmetric_columns(const triangle *shape, int64_t first, int64_t end, const REAL *t,
                                      const REAL *x, REAL *y, REAL *s, bool upper) {
  for (int64_t j = first; j < end;) {
    int step = 1;
    if (j + COLUMNS_WITH_SUMS <= end)
      add_symmetric_group(shape, j, t, x, y, s, upper, step = COLUMNS_WITH_SUMS);
    else if ((int)COLUMNS_WITH_SUMS > (int)FEW && j + FEW <= end)
      add_symmetric_group(shape, j, t, x, y, s, upper, step = FEW);
    else if (COLUMNS_WITH_SUMS > 2 && j + 2 <= end)
      add_symmetric_group(shape, j, t, x, y, s, upper, step = 2);
    else
      add_symmetric_group(shape, j, t, x, y, s, upper, 1);
    j += step;
    t += PARTS * step;
    s += PARTS * step;
  }
}

static void multiply_symmetric(int64_t n, int64_t first, int64_t end, const void *a, int64_t ld,
                               tsl_vector_number alpha, const void *t_data, const void *x, void *y_data,
                               bool upper, bool hermitian) {
  enum { TURN = 64 };
  const triangle matrix = {a, ld, n, hermitian};
  const number factor = {(REAL)alpha.re, (REAL)alpha.im};
  const REAL *t = t_data;
  REAL *y = y_data, s[PARTS * TURN];
  for (int64_t turn = first; turn < end; turn += TURN) {
    const int64_t last = end - turn < TURN ? end : turn + TURN;
    memset(s, 0, (size_t)((last - turn) * PARTS) * sizeof *s);
    if (upper)
      add_symmetric_columns(&matrix, turn, last, t + PARTS * (turn - first), x, y, s, true);
    else
      add_symmetric_columns(&matrix, turn, last, t + PARTS * (turn - first), x, y, s, false);
    for (int64_t j = turn; j < last; j++)
      add_product_to(y + PARTS * j, factor, load_number(s + PARTS * (j - turn)));
  }
}

static void add_to_triangle(int64_t n, int64_t first, int64_t end, const void *x_data, const void *t_data,
                            void *a_data, int64_t ld, bool upper, bool hermitian) {
  const REAL *x = x_data, *t = t_data;
  const bool uses_far_loads = HAS_LOAD_FAR && exceeds_l1(n, end - first);
  for (int64_t j = first; j < end; j++, t += PARTS) {
    const int64_t top = upper ? 0 : j, count = upper ? j + 1 : n - j;
    REAL *column = (REAL *)a_data + PARTS * ld * j;
    if (!is_zero(t) && uses_far_loads)
      update_column(PARTS * count, x + PARTS * top, t, column + PARTS * top, true);
    else if (!is_zero(t))
      update_column(PARTS * count, x + PARTS * top, t, column + PARTS * top, false);
    if (hermitian)
      store_number(column + PARTS * j, (number){column[PARTS * j], 0});
  }
}

static inline number dot_of_rows(const REAL *column, const REAL *x, int first, int end) {
  REAL sum[2] = {0, 0};
  for (int r = first; r < end; r++)
    add_product_to(sum, load_number(column + PARTS * r), load_number(x + PARTS * r));
  return (number){sum[0], sum[PARTS - 1]};
}

/* Multiplies or solves with column j: updates x off the diagonal by x[j], or x[j] by x off the diagonal. */
static void apply_small_column(int j, int n, const REAL *a, int64_t ld, tsl_diagonal form, REAL *x) {
  const int first = form.upper ? 0 : j + 1, end = form.upper ? j : n;
  const REAL *column = a + PARTS * ld * j, sign = form.solves ? -1 : 1;
  const number at = load_number(column + PARTS * j);
  number value = load_number(x + PARTS * j);
  if (form.transposed) {
    if (!form.solves && !form.unit)
      value = product(value, at);
    const number sum = dot_of_rows(column, x, first, end);
    value = (number){value.re + sign * sum.re, value.im + sign * sum.im};
    store_number(x + PARTS * j, form.solves && !form.unit ? quotient(value, at) : value);
    return;
  }
  if (value.re == 0 && value.im == 0)
    return;
  if (form.solves && !form.unit)
    value = quotient(value, at);
  for (int r = first; r < end; r++)
    add_product_to(x + PARTS * r, (number){sign * value.re, sign * value.im},
                   load_number(column + PARTS * r));
  store_number(x + PARTS * j, form.solves || form.unit ? value : product(value, at));
}

/* Multiplies or solves; the order lets columns read old values for products, new values for solutions. */
static void apply_square_by_columns(int n, const REAL *a, int64_t ld, tsl_diagonal form, REAL *x) {
  const bool ascends = form.upper != (form.transposed != form.solves);
  for (int step = 0; step < n; step++)
    apply_small_column(ascends ? step : n - 1 - step, n, a, ld, form, x);
}

/* Square as a lower triangle without transpose; distances are negative if it is read backwards. */
typedef struct square {
  const REAL *a;
  int64_t down, across, step; /* components to the next row, column, and element of x */
  REAL *x;
  bool unit;
} square;

/* Computes a square with all of x in registers; each element waits only for those before it. */
TSL_INLINE void compute_square(square block, bool solves, int n) {
  number x[COLUMNS_TOGETHER];
  TSL_UNROLL for (int r = 0; r < n; r++) x[r] = load_number(block.x + r * block.step);
  if (solves) {
    TSL_UNROLL for (int c = 0; c < n; c++) {
      const REAL *column = block.a + c * block.across;
      if (!block.unit)
        x[c] = quotient(x[c], load_number(column + c * block.down));
      TSL_UNROLL for (int r = c + 1; r < n; r++) {
        const number less = product(load_number(column + r * block.down), x[c]);
        x[r] = (number){x[r].re - less.re, x[r].im - less.im};
      }
    }
  } else {
    TSL_UNROLL for (int r = n - 1; r >= 0; r--) {
      const REAL *row = block.a + r * block.down;
      if (!block.unit)
        x[r] = product(x[r], load_number(row + r * block.across));
      TSL_UNROLL for (int c = 0; c < r; c++) {
        const number more = product(load_number(row + c * block.across), x[c]);
        x[r] = (number){x[r].re + more.re, x[r].im + more.im};
      }
    }
  }
  TSL_UNROLL for (int r = 0; r < n; r++) store_number(block.x + r * block.step, x[r]);
}

TSL_INLINE void compute_square_of_size(square block, bool solves, int n) {
  if (n == COLUMNS_TOGETHER)
    compute_square(block, solves, COLUMNS_TOGETHER);
  else if (PARTS == 1 && n == FEW)
    compute_square(block, solves, FEW);
  else if (n == 2)
    compute_square(block, solves, 2);
  else
    compute_square(block, solves, 1);
}

static void apply_small_square(int n, const REAL *a, int64_t ld, tsl_diagonal form, REAL *x) {
  const int64_t down = form.transposed ? PARTS * ld : PARTS, across = form.transposed ? PARTS : PARTS * ld;
  const bool turned = form.upper != form.transposed;
  const int64_t sign = turned ? -1 : 1, last = turned ? n - 1 : 0;
  const square block = {a + last * (down + across), sign * down, sign * across, sign * PARTS,
                        x + PARTS * last,           form.unit};
  if (!form.transposed && has_zero(x, n))
    apply_square_by_columns(n, a, ld, form, x);
  else if (form.solves)
    compute_square_of_size(block, true, n);
  else
    compute_square_of_size(block, false, n);
}

/* Multiplies or solves with the rows outside of a small square, of columns j to j + count - 1. */
static void apply_off_diagonal_rows(int64_t n, int64_t j, int count, const REAL *a, int64_t ld,
                                    tsl_diagonal form, REAL *x) {
  const int64_t first = form.upper ? 0 : j + count, rows = form.upper ? j : n - first;
  const REAL *column = a + PARTS * (ld * j + first), sign = form.solves ? -1 : 1;
  REAL t[PARTS * MANY];
  if (rows == 0)
    return;
  if (form.transposed) {
    for (int c = 0; c < PARTS * count; c++)
      t[c] = 0;
    dot_columns_along(rows, count, column, ld, x + PARTS * first, t); /* faster for few columns */
    for (int c = 0; c < PARTS * count; c++)
      x[PARTS * j + c] += sign * t[c];
  } else {
    for (int c = 0; c < PARTS * count; c++)
      t[c] = sign * x[PARTS * j + c];
    add_multiples_of_columns(rows, count, column, ld, t, x + PARTS * first, true);
  }
}

/* Returns the columns of a square that begins at j; the last squares are decreasing powers of two. */
static int square_size_from(int64_t n, int64_t j) {
  int count = COLUMNS_TOGETHER;
  while (count > n - j)
    count /= 2;
  return count;
}
static int square_size_before(int64_t end) {
  const int64_t inside = end % COLUMNS_TOGETHER;
  return inside == 0 ? COLUMNS_TOGETHER : (int)(inside & -inside);
}

static void apply_triangle(int64_t n, const void *a_data, int64_t ld, tsl_diagonal form, void *x_data) {
  const bool ascends = form.upper != (form.transposed != form.solves);
  const REAL *a = a_data;
  REAL *x = x_data;
  int64_t left = n;
  while (left > 0) {
    const int count = ascends ? square_size_from(n, n - left) : square_size_before(left);
    const int64_t j = ascends ? n - left : left - count;
    if (form.transposed == form.solves)
      apply_off_diagonal_rows(n, j, count, a, ld, form, x);
    apply_small_square(count, a + PARTS * (ld * j + j), ld, form, x + PARTS * j);
    if (form.transposed != form.solves)
      apply_off_diagonal_rows(n, j, count, a, ld, form, x);
    left -= count;
  }
}

const tsl_column_kernels TSL_ISA_NAME(tsl_columns) = {.add = add_multiples_of_columns,
                                                      .dot = dot_of_columns,
                                                      .update = add_to_columns,
                                                      .update_triangle = add_to_triangle,
                                                      .symmetric = multiply_symmetric,
                                                      .diagonal = apply_triangle};
