/* Solves or multiplies with few rows and few right-hand sides. A part of host_blocked_solve.c. Triangles of
 * at most SMALL rows are read in place, LOW_ROWS rows at a time, because copies would cost more. Terms have
 * the order of copies. LOW_ROWS: imaginary parts are summed apart for as many rows as in copied tiles. */

enum { SMALL = IN_PLACE_ROWS, LOW_ROWS = PARTS == 2 ? ROWS : 4, DIVISORS_MAX = 192 };

/* Divisors of the rows. One method is chosen for ROWS rows together, as in copies. */
typedef struct divisors {
  REAL inverse[DIVISORS_MAX][PARTS], diagonal[DIVISORS_MAX][PARTS];
  int method[DIVISORS_MAX];
} divisors;

static void find_divisor(const REAL *diagonal, bool conjugates, REAL inverse[PARTS], REAL state[PARTS]) {
  state[0] = diagonal[0];
  inverse[0] = 1;
#if PARTS_ARE_TWO
  state[1] = conjugates ? -diagonal[1] : diagonal[1];
  inverse[1] = 0;
#else
  (void)conjugates;
#endif
  if (has_reciprocal(state[0], PARTS == 2 ? state[PARTS - 1] : 0))
    divide_by(inverse, state[0], PARTS == 2 ? state[PARTS - 1] : 0);
}

static void find_divisors(const tsl_solve_blocks *blocks, divisors *out) {
  const int64_t m = blocks->m, step = PARTS * (blocks->a.row_stride + blocks->a.col_stride);
  const REAL *diagonal = number_at(&blocks->a, 0, 0);
  for (int64_t first = 0; first < m; first += ROWS) {
    const int64_t end = tsl_min(first + ROWS, m);
    bool all = true;
    for (int64_t i = first; !blocks->is_unit && i < end; i++) {
      find_divisor(diagonal + i * step, blocks->conjugates, out->inverse[i], out->diagonal[i]);
      all &= has_reciprocal(out->diagonal[i][0], PARTS == 2 ? out->diagonal[i][PARTS - 1] : 0);
    }
    for (int64_t i = first; i < end; i++)
      out->method[i] = blocks->is_unit ? BY_NOTHING : all ? BY_RECIPROCALS : BY_DIAGONAL;
  }
}

/* Returns sum + number * by for a number of A. by_i is i times `by`, negated for a conjugated A. */
TSL_INLINE vector add_product(vector sum, const REAL *number, vector by, vector by_i) {
  if (PARTS == 2)
    sum = NUMBER(fma)(sum, number[PARTS - 1], by_i);
  return NUMBER(fma)(sum, number[0], by);
}

TSL_INLINE vector quotient(const divisors *by, int64_t row, vector value) {
#if PARTS_ARE_TWO
  if (by->method[row] == BY_RECIPROCALS)
    return add_product((vector){0}, by->inverse[row], value, NUMBER(times_i)(value));
  const REAL diagonal[ROWS + 1] = {[0] = by->diagonal[row][0], [ROWS] = by->diagonal[row][1]};
  return by->method[row] == BY_DIAGONAL ? divide_vector(value, diagonal) : value;
#else
  if (by->method[row] == BY_RECIPROCALS)
    return add_product((vector){0}, by->inverse[row], value, value);
  return by->method[row] == BY_DIAGONAL ? divide_vector(value, by->diagonal[row]) : value;
#endif
}

TSL_INLINE vector times_signed_i(vector value, bool conjugates) {
#if PARTS_ARE_TWO
  return NUMBER(times_i)(conjugates ? -value : value);
#else
  (void)conjugates;
  return value;
#endif
}

TSL_INLINE void solve_low_rows(const tsl_solve_blocks *blocks, const divisors *by, int64_t i, int rows,
                               REAL *x, int vectors) {
  const int64_t down = PARTS * blocks->a.row_stride, across = PARTS * blocks->a.col_stride;
  const bool conjugates = blocks->conjugates;
  const REAL *number = number_at(&blocks->a, i, 0);
  vector tile[LOW_ROWS][VECTORS], turned[LOW_ROWS][VECTORS] = {{{0}}};
  vector *const diagonal = (vector *)(void *)(x + i * STEP);
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) tile[r][j] = diagonal[r * VECTORS + j];
  }
  for (int64_t l = 0; l < i; l++, number += across, x += STEP) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      const vector above = -((const vector *)(const void *)x)[j];
      TSL_UNROLL for (int r = 0; r < rows; r++) {
        tile[r][j] = NUMBER(fma)(tile[r][j], number[r * down], above);
        if (PARTS == 2)
          turned[r][j] = NUMBER(fma)(turned[r][j], number[r * down + PARTS - 1], above);
      }
    }
  }
  if (PARTS == 2 && i > 0)
    TSL_UNROLL for (int r = 0; r < rows; r++) {
      TSL_UNROLL for (int j = 0; j < vectors; j++) tile[r][j] += times_signed_i(turned[r][j], conjugates);
    }
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      tile[r][j] = quotient(by, i + r, tile[r][j]);
      diagonal[r * VECTORS + j] = tile[r][j];
      const vector minus = -tile[r][j], minus_i = times_signed_i(minus, conjugates);
      TSL_UNROLL for (int k = r + 1; k < rows; k++) tile[k][j] =
          add_product(tile[k][j], number + k * down + r * across, minus, minus_i);
    }
  }
}

TSL_INLINE void solve_small_panel(const tsl_solve_blocks *blocks, const divisors *by, REAL *x, int vectors) {
  int64_t i = 0;
  for (; i + LOW_ROWS <= blocks->m; i += LOW_ROWS)
    solve_low_rows(blocks, by, i, LOW_ROWS, x, vectors);
  TSL_UNROLL for (int rows = 1; rows < LOW_ROWS; rows++) {
    if (blocks->m - i == rows)
      solve_low_rows(blocks, by, i, rows, x, vectors);
  }
}

static bool try_solve_small(const solve_state *w, int64_t count) {
  divisors by;
  if (w->blocks->m > SMALL)
    return false;
  find_divisors(w->blocks, &by);
  for (int64_t p = 0; p < w->x_panel_count; p++)
    if (count - p * COLUMNS <= NAME(LANES))
      solve_small_panel(w->blocks, &by, w->x + p * w->x_panel_numbers, 1);
    else
      solve_small_panel(w->blocks, &by, w->x + p * w->x_panel_numbers, VECTORS);
  return true;
}

/* Replaces rows i to i + rows of X by the product; the rows above still belong to X. */
TSL_INLINE void multiply_low_rows(const tsl_solve_blocks *blocks, int64_t i, int rows, REAL *x, int vectors) {
  const int64_t down = PARTS * blocks->a.row_stride, across = PARTS * blocks->a.col_stride;
  const REAL *number = number_at(&blocks->a, i, 0);
  vector sums[LOW_ROWS][VECTORS] = {{{0}}}, turned[LOW_ROWS][VECTORS] = {{{0}}};
  vector *const diagonal = (vector *)(void *)(x + i * STEP);
  for (int64_t l = 0; l < i; l++, number += across, x += STEP) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      const vector row = ((const vector *)(const void *)x)[j];
      TSL_UNROLL for (int r = 0; r < rows; r++) {
        sums[r][j] = NUMBER(fma)(sums[r][j], number[r * down], row);
        if (PARTS == 2)
          turned[r][j] = NUMBER(fma)(turned[r][j], number[r * down + PARTS - 1], row);
      }
    }
  }
  TSL_UNROLL for (int l = 0; l < rows; l++, number += across) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      const vector row = diagonal[l * VECTORS + j];
      if (blocks->is_unit)
        sums[l][j] += row;
      TSL_UNROLL for (int r = l; r < rows; r++) {
        if (r == l && blocks->is_unit)
          continue;
        sums[r][j] = NUMBER(fma)(sums[r][j], number[r * down], row);
        if (PARTS == 2)
          turned[r][j] = NUMBER(fma)(turned[r][j], number[r * down + PARTS - 1], row);
      }
    }
  }
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      if (PARTS == 2)
        sums[r][j] += times_signed_i(turned[r][j], blocks->conjugates);
      diagonal[r * VECTORS + j] = sums[r][j];
    }
  }
}

/* Multiplies from the last rows upwards, because no other row needs these. */
TSL_INLINE void multiply_panel(const tsl_solve_blocks *blocks, REAL *x, int vectors) {
  const int64_t whole = blocks->m / LOW_ROWS * LOW_ROWS, rest = blocks->m - whole;
  TSL_UNROLL for (int rows = 1; rows < LOW_ROWS; rows++) {
    if (rest == rows)
      multiply_low_rows(blocks, whole, rows, x, vectors);
  }
  for (int64_t i = whole - LOW_ROWS; i >= 0; i -= LOW_ROWS)
    multiply_low_rows(blocks, i, LOW_ROWS, x, vectors);
}
