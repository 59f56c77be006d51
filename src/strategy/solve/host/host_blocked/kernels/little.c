/* Idea: a small product (at most 32 rows, columns and terms) is computed without a plan, a job, or memory
 * except the stack. A may be a stored triangle, C a requested triangle. One tile serves all types and
 * structures.
 *
 *              B, in micro-panels  C's rows are contiguous, or all is transposed: C' = B' A'
 *                 |<-2 vectors->|
 *                 |-------------|  general B     its columns are copied to micro-panels
 *                 |             |  structured    a symmetric or hermitian matrix is completed row by row in a
 *                 |             |                square (A, too); else it is read in place
 *                 +-------------+
 *   A, 4 rows     | tile        |
 *   +-----------+ |             |  Tiles outside of the requested triangle are skipped, and vectors on its
 *   |           | +-------------+  diagonal are stored in part.
 *   +-----------+
 *
 * A triangle times C in place, C' = C' A', is supported where A is real and its rows are vectors. Zeros fill
 * A; rows with a sum that is not finite are computed again with care. Sums of imaginary parts of A are
 * multiplied by i at the end. Limits: 32 rows, columns and terms; C has one stride of 1. */
#include "strategy/solve/host/host_blocked/host_blocked_panel.h"
#include "strategy/solve/host/host_blocked/kernel.h"

#include "core/memory.h"
#include "host/int_math.h"

enum { SIDE_MAX = TSL_SOLVE_SMALL_PRODUCT_MAX, TILE_ROWS = 4 /* rows of a tile */ };
_Static_assert(SIDE_MAX % COLUMNS == 0, "a square's rows are whole micro-panels");

typedef enum side { ALL, LOWER, UPPER } side;

typedef struct small_factor {
  tsl_view view;
  tesela_structure structure;
  side stored;
  bool conjugates;
} small_factor;

/* Data of the tiles; strides in numbers. */
typedef struct small_product {
  const REAL *a, *b;
  int64_t a_row, a_col, b_step, b_panel;
  element *c;
  int64_t c_row; /* in elements */
  int64_t m, n, k;
  side c_triangle;
  bool conjugates_a, conjugates_b, adds;
  const double *alpha, *beta;
} small_product;

#if HAS_RANGES
TSL_INLINE NUMBER(mask) range_of(int64_t first, int64_t end) {
  return (NUMBER(mask))(NUMBER(mask_of)(PARTS * end) & ~NUMBER(mask_of)(PARTS * first));
}
TSL_INLINE vector load_range_or_zeros(const element *from, int64_t first, int64_t end) {
  return NUMBER(load_masked)((const REAL *)(const void *)from, range_of(first, end));
}
TSL_INLINE void store_only_range(element *dst, vector value, int64_t first, int64_t end) {
  NUMBER(store_any_lanes)((REAL *)(void *)dst, value, range_of(first, end));
}
#else
static vector load_range_or_zeros(const element *from, int64_t first, int64_t end) {
  union {
    vector whole;
    element part[NAME(LANES)];
  } all = {{0}};
  for (int64_t i = first; i < end; i++)
    all.part[i] = from[i];
  return all.whole;
}
static void store_only_range(element *dst, vector value, int64_t first, int64_t end) {
  union {
    vector whole;
    element part[NAME(LANES)];
  } all = {value};
  for (int64_t i = first; i < end; i++)
    dst[i] = all.part[i];
}
#endif

TSL_INLINE vector conjugate(vector value) {
#if PARTS_ARE_TWO
  return NUMBER(swap_pairs)(NUMBER(times_i)(value));
#else
  return value;
#endif
}

/* Returns the complete sum. conj(a) b changes the sign of the second sum; a conj(b) is conj(conj(a) b). */
TSL_INLINE vector join_sums(const small_product *w, vector sum, vector turned) {
#if PARTS_ARE_TWO
  const vector by_i = NUMBER(times_i)(turned);
  const vector value = w->conjugates_a != w->conjugates_b ? sum - by_i : sum + by_i;
  return w->conjugates_b ? conjugate(value) : value;
#else
  (void)w;
  (void)turned;
  return sum;
#endif
}

TSL_INLINE vector add_beta_c(const small_product *w, vector value, vector before) {
  if (w->beta[0] == 1 && w->beta[1] == 0)
    return value + before;
#if PARTS_ARE_TWO
  if (w->beta[1] != 0)
    return value + times_alpha(w->beta, before);
#endif
  return NUMBER(fma)(value, (REAL)w->beta[0], before);
}

TSL_INLINE void store_vector_of_tile(const small_product *w, int64_t i, int64_t j, vector value) {
  element *to = w->c + i * w->c_row + j;
  const int64_t first = w->c_triangle == UPPER && i > j ? i - j : 0;
  const int64_t end = tsl_min(NAME(LANES), (w->c_triangle == LOWER ? i + 1 : w->n) - j);
  value = times_alpha(w->alpha, value);
  if (first == 0 && end == NAME(LANES)) {
    if (w->adds)
      value = add_beta_c(w, value, NAME(load)(to));
    NAME(store)(to, value);
  } else if (first < end) {
    if (w->adds)
      value = add_beta_c(w, value, load_range_or_zeros(to, first, end));
    if (w->c_triangle == ALL)
      store_first(to, value, end);
    else
      store_only_range(to, value, first, end);
  }
}

TSL_INLINE void add_products(const small_product *w, int64_t i, int rows, const REAL *b, int vectors,
                             vector sums[TILE_ROWS][VECTORS], vector turned[TILE_ROWS][VECTORS]) {
  const int64_t down = w->a_row, across = w->a_col, step = w->b_step;
  const REAL *number = w->a + i * down;
  for (int64_t l = 0; l < w->k; l++, number += across, b += step) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      const vector row = ((const vector *)(const void *)b)[v];
      TSL_UNROLL for (int r = 0; r < rows; r++) {
        sums[r][v] = NUMBER(fma)(sums[r][v], number[r * down], row);
        if (PARTS == 2)
          turned[r][v] = NUMBER(fma)(turned[r][v], number[r * down + PARTS - 1], row);
      }
    }
  }
}

TSL_INLINE void multiply_tile(const small_product *w, int64_t i, int rows, const REAL *b, int64_t j,
                              int vectors) {
  vector sums[TILE_ROWS][VECTORS] = {{{0}}}, turned[TILE_ROWS][VECTORS] = {{{0}}};
  add_products(w, i, rows, b, vectors, sums, turned);
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++)
        store_vector_of_tile(w, i + r, j + v * NAME(LANES), join_sums(w, sums[r][v], turned[r][v]));
  }
}

TSL_INLINE void compute_tiles(const small_product *w, int rows, int64_t i, const REAL *b, int64_t j) {
  enum { LANES = NAME(LANES) };
  const int64_t below = i + rows;
  const bool first = w->c_triangle != UPPER ||
                     i<j + LANES, second = w->n> j + LANES && (w->c_triangle != LOWER || below > j + LANES);
  if (w->c_triangle == LOWER && below <= j)
    return;
  if (first && second)
    multiply_tile(w, i, rows, b, j, VECTORS);
  else if (first)
    multiply_tile(w, i, rows, b, j, 1);
  else if (second)
    multiply_tile(w, i, rows, b + STEP / VECTORS, j + LANES, 1);
}

static void multiply_all_tiles(const small_product *w) {
  const REAL *b = w->b;
  for (int64_t j = 0; j < w->n; j += COLUMNS, b += w->b_panel) {
    int64_t i = 0;
    for (; i + TILE_ROWS <= w->m; i += TILE_ROWS)
      compute_tiles(w, TILE_ROWS, i, b, j);
    TSL_UNROLL for (int rows = 1; rows < TILE_ROWS; rows++) {
      if (w->m - i == rows)
        compute_tiles(w, rows, i, b, j);
    }
  }
}

/* Returns the conjugate. Adding 0 removes the sign of zeros. */
TSL_INLINE vector conjugate_clean(vector value) {
  return conjugate(value) + (vector){0};
}

/* Copies elements `first` to `end` of a line to a row; the other elements are zeros. */
TSL_INLINE void copy_line(const element *line, int64_t first, int64_t end, int64_t width, bool conjugates,
                          element *out) {
  enum { LANES = NAME(LANES) };
  for (int64_t j = 0; j < width; j += LANES) {
    const int64_t from = tsl_min(LANES, tsl_max(0, first - j)), to = tsl_max(from, tsl_min(LANES, end - j));
    const vector value =
        from == 0 && to == LANES ? NAME(load)(line + j) : load_range_or_zeros(line + j, from, to);
    NAME(store)(out + j, conjugates ? conjugate_clean(value) : value);
  }
}

/* Returns the bitwise or: one operand is 0, or both are equal. */
TSL_INLINE vector bitwise_or(vector a, vector b) {
  return (vector)((vector_i32)a | (vector_i32)b);
}

/* Mirrors the triangle into the other half, transposed in registers. Complete rows are unchanged. */
static void mirror(int64_t n, int64_t width, bool hermitian, element *out) {
  enum { LANES = NAME(LANES), STEPS = NAME(STEPS) };
  for (int64_t v = 0; v < width; v += LANES) {
    const moved_element *rows[LANES];
    for (int j = 0; j < LANES; j++)
      rows[j] = (const moved_element *)(const void *)(out + tsl_min(v + j, n - 1) * width);
    for (int64_t t = 0; t < n; t += STEPS) {
      MOVED(vector) moved[STEPS];
      MOVED(transpose)(rows, t, moved);
      for (int64_t s = 0; s < tsl_min(STEPS, n - t); s++) {
        element *to = out + (t + s) * width + v;
        const vector value = (vector)moved[s];
        NAME(store)(to, bitwise_or(NAME(load)(to), hermitian ? conjugate_clean(value) : value));
      }
    }
  }
}

/* Copies a symmetric or hermitian factor whole to `out`: n rows, `width` elements apart. */
static void complete_matrix(const small_factor *factor, int64_t n, int64_t width, element *out) {
  const tsl_view *view = &factor->view;
  const bool by_row = view->col_stride == 1, before = (factor->stored == LOWER) == by_row,
             hermitian = factor->structure == TESELA_HERMITIAN;
  const int64_t distance = by_row ? view->row_stride : view->col_stride;
  const element *line = (const element *)(const void *)view->at;
  for (int64_t t = 0; t < n; t++, line += distance)
    copy_line(line, before ? 0 : t, before ? t + 1 : n, width, hermitian && !by_row, out + t * width);
  mirror(n, width, hermitian, out);
  for (int64_t t = 0; PARTS == 2 && hermitian && t < n; t++)
    ((REAL *)(void *)(out + t * width + t))[PARTS - 1] = 0;
}

/* Prepares A: in place if it is general, else completed in `memory`. */
static void prepare_a(const small_factor *factor, small_product *w, REAL *memory) {
  const int64_t width = tsl_round_up(w->k, NAME(LANES));
  w->a = (const REAL *)(const void *)factor->view.at;
  w->a_row = PARTS * factor->view.row_stride;
  w->a_col = PARTS * factor->view.col_stride;
  if (factor->structure == TESELA_GENERAL)
    return;
  complete_matrix(factor, w->k, width, (element *)(void *)memory);
  w->a = memory;
  w->a_row = PARTS * width;
  w->a_col = PARTS;
}

static void prepare_b(const small_factor *factor, small_product *w, REAL *memory) {
  static const double one[2] = {1, 0};
  const int64_t width = tsl_round_up(w->k, NAME(LANES));
  w->b = memory;
  w->b_step = factor->structure == TESELA_GENERAL ? STEP : PARTS * width;
  w->b_panel = factor->structure == TESELA_GENERAL ? w->k * STEP : STEP;
  if (factor->structure != TESELA_GENERAL) {
    complete_matrix(factor, w->k, width, (element *)(void *)memory);
    return;
  }
  for (int64_t j = 0; j < w->n; j += COLUMNS, memory += w->b_panel) {
    const column_group from = {&factor->view, j, tsl_min(COLUMNS, w->n - j)};
    load_panel(&from, w->k, one, memory);
  }
}

/* Returns elements `first` to `end` of `item`, the others of `other`. */
static vector merge_range(int64_t first, int64_t end, vector item, vector other) {
  element part[NAME(LANES)];
  NAME(store)(part, other);
  store_only_range(part, item, first, end);
  return NAME(load)(part);
}

/* Computes a row in which zeros outside of the triangle meet non-finite values. */
static __attribute__((noinline)) void compute_row_carefully(const small_product *w, side stored, int64_t i) {
  const REAL *number = w->a + i * w->a_row;
  const REAL *b = w->b;
  vector sum = {0};
  for (int64_t l = 0; l < w->k; l++, number += w->a_col, b += w->b_step) {
    const vector row = *(const vector *)(const void *)b;
    sum = merge_range(stored == LOWER ? 0 : l, stored == LOWER ? l + 1 : w->n,
                      NUMBER(fma)(sum, number[0], row), sum);
  }
  store_vector_of_tile(w, i, 0, sum);
}

TSL_INLINE void tile_in_place(const small_product *w, side stored, int64_t i, int rows) {
  const vector zero = {0};
  const uint32_t all = (uint32_t)((UINT64_C(1) << VECTOR_BYTES / sizeof(REAL)) - 1);
  vector sums[TILE_ROWS][VECTORS] = {{{0}}}, turned[TILE_ROWS][VECTORS] = {{{0}}}, zeros = zero;
  add_products(w, i, rows, w->b, 1, sums, turned);
  TSL_UNROLL for (int r = 0; r < rows; r++) zeros += 0 * sums[r][0];
  const bool is_finite = NUMBER(equal_lane_bits)(zeros, zero) == all;
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    if (is_finite)
      store_vector_of_tile(w, i + r, 0, sums[r][0]);
    else
      compute_row_carefully(w, stored, i + r);
  }
}

/* Copies rows of the triangle as vectors, filled up with zeros, and ones on an unstored diagonal. */
static void copy_triangle_rows(const small_factor *factor, int64_t n, element *out) {
  REAL ones[2 * SIDE_MAX * PARTS] = {[SIDE_MAX * PARTS] = 1};
  const bool before = factor->stored == LOWER, unit = factor->structure == TESELA_UNIT_TRIANGULAR;
  const element *line = (const element *)(const void *)factor->view.at;
  for (int64_t t = 0; t < n; t++, line += factor->view.row_stride, out += NAME(LANES)) {
    copy_line(line, before ? 0 : t + unit, before ? t + !unit : n, NAME(LANES), false, out);
    if (unit)
      NAME(store)
    (out,
     bitwise_or(NAME(load)(out), NAME(load)((const element *)(const void *)(ones + (SIDE_MAX - t) * PARTS))));
  }
}

static bool try_multiply_in_place(const small_factor *a, const small_factor *b, small_product *w,
                                  REAL *memory) {
  int64_t i = 0;
  if (PARTS == 2 || b->view.col_stride != 1 || w->n > NAME(LANES))
    return false;
  prepare_a(a, w, NULL);
  copy_triangle_rows(b, w->n, (element *)(void *)memory);
  w->b = memory;
  w->b_step = VECTOR_BYTES / (int)sizeof(REAL);
  for (; i + TILE_ROWS <= w->m; i += TILE_ROWS)
    tile_in_place(w, b->stored, i, TILE_ROWS);
  TSL_UNROLL for (int rows = 1; rows < TILE_ROWS; rows++) {
    if (w->m - i == rows)
      tile_in_place(w, b->stored, i, rows);
  }
  return true;
}

static side stored_side(tesela_triangle triangle, bool turned) {
  return triangle == TESELA_WHOLE ? ALL : (triangle == TESELA_LOWER) != turned ? LOWER : UPPER;
}

/* Sets a general operand, transposed if `turned`. GCC 12 would load both strides as a vector. */
static void set_operand(small_factor *out, const void *src, int64_t row, int64_t col, bool turned,
                        bool conjugates) {
  __asm__("" : "+r"(row), "+r"(col));
  out->view.at = tsl_writable(src);
  out->view.row_stride = turned ? col : row;
  out->view.col_stride = turned ? row : col;
  out->conjugates = conjugates;
  out->structure = TESELA_GENERAL;
  out->stored = ALL;
}

static void make_diagonal_real(const small_product *w) {
  REAL *diagonal = (REAL *)(void *)w->c;
  for (int64_t i = 0; i < w->m; i++)
    diagonal[PARTS * i * (w->c_row + 1) + PARTS - 1] = 0;
}

bool TSL_ISA_NAME(tsl_solve_small_product)(const tsl_call *call) {
  _Alignas(VECTOR_BYTES) REAL a_memory[SIDE_MAX * SIDE_MAX * PARTS], b_memory[SIDE_MAX * SIDE_MAX * PARTS];
  const bool turned = call->c.col != 1;
  small_factor a, b, *const structured = turned ? &b : &a, *const other = turned ? &a : &b;
  small_product w;
  if (turned && call->c.row != 1)
    return false;
  set_operand(structured, call->a.data, call->a.row, call->a.col, turned, call->a.conjugate);
  set_operand(other, call->b.data, call->b.row, call->b.col, turned, call->b.conjugate);
  structured->structure = call->a_is;
  structured->stored = stored_side(call->a_triangle, turned);
  w.m = turned ? call->n : call->m;
  w.n = turned ? call->m : call->n;
  w.k = call->k;
  w.c = tsl_writable(call->c.data);
  w.c_row = turned ? call->c.col : call->c.row;
  w.c_triangle = stored_side(call->c_triangle, turned);
  w.conjugates_a = a.conjugates;
  w.conjugates_b = b.conjugates;
  w.alpha = call->alpha;
  w.beta = call->beta;
  w.adds = call->beta[0] != 0 || call->beta[1] != 0;
  if (call->a_is == TESELA_TRIANGULAR || call->a_is == TESELA_UNIT_TRIANGULAR)
    return turned && try_multiply_in_place(&a, &b, &w, b_memory);
  prepare_a(&a, &w, a_memory);
  prepare_b(&b, &w, b_memory);
  multiply_all_tiles(&w);
  if (call->c_is == TESELA_HERMITIAN)
    make_diagonal_real(&w);
  return true;
}
