/* Solves for right-hand sides that fill at most half of a vector, with few rows. A part of
 * host_blocked_solve.c.
 *
 *   A, in place                X, as halves of vectors, one a row
 *   +\                         | x x . . |   HALF_LOW_ROWS rows at a time: solved rows are subtracted in
 *   +--+\                      | x x . . |   one chain for each row, then these rows' own triangle: a product
 *   |..|\ <- HALF_LOW_ROWS     +---------+   by the reciprocal, and a multiply-add from row to row
 *   +--+--+                    | b b . . |
 *
 * Calls and dependency chains dominate the time, so only X is copied, to the stack. Halves of vectors are
 * twice as fast where a processor has narrow units. Terms have the order of other right-hand sides. */

#if HAS_HALF_f32
#define HALF(word) JOIN(NUMBER(word), _half)
#else
#define HALF(word) NUMBER(word)
#endif
typedef HALF(vector) half;
#if PARTS_ARE_TWO /* a c64 is moved as an f64 of equal size */
#if HAS_HALF_f64
typedef vector_f64_half moved_half;
#else
typedef vector_f64 moved_half;
#endif
#else
typedef half moved_half;
#endif

enum {
  HALF_BYTES = (int)sizeof(half),
  HALF_FITS = HALF_BYTES / (PARTS * (int)sizeof(REAL)),
  HALF_SIDES_MAX = HALF_FITS < 4 ? HALF_FITS : 4, /* right-hand sides */
  HALF_LOW_ROWS =
      /* rows whose imaginary parts are summed separately, as in a copied tile */
  PARTS == 2 ? ROWS : 8,
  EACH_BASE = 4,       /* rows that share an address register */
  HALF_ROWS_MAX = 192, /* maximum rows of a triangle that is read in place */
  HALF_ROWS_MAX_OF_ONE = PARTS == 2 && sizeof(REAL) == 4 ? 96 : 160 /* maximum rows for one right-hand side */
};

/* Returns sum + number * by for a number of A. by_i is i times `by`, negated for a conjugated A. */
TSL_INLINE half half_add(half sum, const REAL *number, half by, half by_i) {
  if (PARTS == 2)
    sum = HALF(fma)(sum, number[PARTS - 1], by_i);
  return HALF(fma)(sum, number[0], by);
}

TSL_INLINE half half_times_i(half value, bool conjugates) {
#if PARTS_ARE_TWO
  return HALF(times_i)(conjugates ? -value : value);
#else
  (void)conjugates;
  return value;
#endif
}

TSL_INLINE half half_divide_by(half value, const REAL *diagonal) {
#if PARTS_ARE_TWO
  union {
    half whole;
    REAL part[HALF_BYTES / sizeof(REAL)];
  } all = {value};
  for (int i = 0; i < HALF_FITS; i++)
    divide_by(all.part + 2 * i, diagonal[0], diagonal[1]);
  return all.whole;
#else
  return value / diagonal[0];
#endif
}

TSL_INLINE half half_quotient(const divisors *by, int64_t row, half value) {
  if (by->method[row] == BY_RECIPROCALS)
    return half_add((half){0}, by->inverse[row], value, half_times_i(value, false));
  return by->method[row] == BY_DIAGONAL ? half_divide_by(value, by->diagonal[row]) : value;
}

TSL_INLINE void half_solve_rows(const tsl_solve_blocks *blocks, const divisors *by, int64_t i, int rows,
                                half *x) {
  enum { BASES = (HALF_LOW_ROWS + EACH_BASE - 1) / EACH_BASE };
  const int64_t down = PARTS * blocks->a.row_stride, across = PARTS * blocks->a.col_stride;
  const bool conjugates = blocks->conjugates;
  const REAL *at[BASES];
  half tile[HALF_LOW_ROWS], turned[HALF_LOW_ROWS];
  TSL_UNROLL for (int g = 0; g * EACH_BASE < rows; g++) at[g] =
      number_at(&blocks->a, i, 0) + g * EACH_BASE * down;
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    tile[r] = x[i + r];
    turned[r] = (half){0};
  }
  for (int64_t l = 0; l < i; l++) {
    if (PARTS == 2 && l == GROUP)
      TSL_UNROLL for (int r = 0; r < rows; r++) {
        tile[r] += half_times_i(turned[r], conjugates);
        turned[r] = (half){0};
      }
    const half above = -x[l];
    TSL_UNROLL for (int r = 0; r < rows; r++) {
      const REAL *number = at[r / EACH_BASE] + r % EACH_BASE * down;
      tile[r] = HALF(fma)(tile[r], number[0], above);
      if (PARTS == 2)
        turned[r] = HALF(fma)(turned[r], number[PARTS - 1], above);
    }
    TSL_UNROLL for (int g = 0; g * EACH_BASE < rows; g++) at[g] += across;
  }
  if (PARTS == 2 && i > 0)
    TSL_UNROLL for (int r = 0; r < rows; r++) tile[r] += half_times_i(turned[r], conjugates);
  TSL_UNROLL for (int r = 0; r < rows; r++) {
    tile[r] = half_quotient(by, i + r, tile[r]);
    x[i + r] = tile[r];
    const half minus = -tile[r], minus_i = half_times_i(minus, conjugates);
    TSL_UNROLL for (int k = r + 1; k < rows; k++) tile[k] =
        half_add(tile[k], at[k / EACH_BASE] + k % EACH_BASE * down, minus, minus_i);
    TSL_UNROLL for (int g = 0; g * EACH_BASE < rows; g++) at[g] += across;
  }
}

static void half_solve(const tsl_solve_blocks *blocks, const divisors *by, half *x) {
  int64_t i = 0;
  for (; i + HALF_LOW_ROWS <= blocks->m; i += HALF_LOW_ROWS)
    half_solve_rows(blocks, by, i, HALF_LOW_ROWS, x);
  if (PARTS == 1 && blocks->m - i >= HALF_LOW_ROWS / 2) {
    half_solve_rows(blocks, by, i, HALF_LOW_ROWS / 2, x);
    i += HALF_LOW_ROWS / 2;
  }
  TSL_UNROLL for (int rows = 1; rows < (PARTS == 2 ? HALF_LOW_ROWS : HALF_LOW_ROWS / 2); rows++) {
    if (blocks->m - i == rows)
      half_solve_rows(blocks, by, i, rows, x);
  }
}

TSL_INLINE half half_load_row(const element *in, int64_t step, int count) {
  const moved_element *at = (const moved_element *)(const void *)in;
#if BYTES == 16
  const moved_element *next = count > 1 ? at + step : at;
  const REAL zero = 0, *one = at->component, *two = next->component;
#if VECTOR_BYTES > 16
  return (half){one[0], one[1], count > 1 ? two[0] : zero, count > 1 ? two[1] : zero};
#else
  (void)two, (void)zero;
  return (half){one[0], one[1]};
#endif
#else
#define COLUMN(j) ((j) < count ? at[(j)*step] : 0)
#if BYTES == 8 && VECTOR_BYTES == 16
  return (half)(moved_half){COLUMN(0), COLUMN(1)};
#else
  return (half)(moved_half){COLUMN(0), COLUMN(1), COLUMN(2), COLUMN(3)};
#endif
#undef COLUMN
#endif
}

TSL_INLINE half half_times_alpha(const double alpha[2], half value) {
#if PARTS_ARE_TWO
  if (alpha[1] != 0) {
    return HALF(fma)((REAL)alpha[1] * HALF(times_i)(value), (REAL)alpha[0], value); /* as in times_alpha() */
  }
#endif
  return (REAL)alpha[0] * value;
}

TSL_INLINE void half_load_panel(const tsl_solve_blocks *blocks, half *x, int count) {
  const element *in = element_at(&blocks->b, 0, 0);
  const int64_t down = blocks->b.row_stride, step = blocks->b.col_stride;
  for (int64_t i = 0; i < blocks->m; i++)
    x[i] = half_load_row(in + i * down, step, count);
  if (blocks->alpha[0] != 1 || blocks->alpha[1] != 0)
    for (int64_t i = 0; i < blocks->m; i++)
      x[i] = half_times_alpha(blocks->alpha, x[i]);
}

TSL_INLINE void half_store_panel(const tsl_solve_blocks *blocks, const half *x, int count) {
  element *out = element_at(&blocks->x, 0, 0);
  const int64_t down = blocks->x.row_stride, step = blocks->x.col_stride;
  for (int64_t i = 0; i < blocks->m; i++)
    TSL_UNROLL for (int j = 0; j < count; j++) out[i * down + j * step] =
        ((const element *)(const void *)(x + i))[j];
}

/* Returns true if this method is fast. For a column-major A and few right-hand sides, line.h is faster. */
static bool is_half_faster(const tsl_solve_blocks *blocks) {
  const bool by_column = blocks->a.row_stride == 1 || blocks->a.row_stride == -1;
  const int64_t n = blocks->n, by_row_most = n == 1 ? HALF_ROWS_MAX_OF_ONE : HALF_ROWS_MAX;
  return n <= HALF_SIDES_MAX && blocks->m <= (by_column ? 32 + 32 * n : by_row_most);
}

static bool try_solve_halves(const tsl_solve_blocks *blocks) {
  half x[HALF_ROWS_MAX];
  divisors by;
  if (!is_half_faster(blocks))
    return false;
  TSL_UNROLL for (int count = 1; count <= HALF_SIDES_MAX; count++) {
    if (blocks->n == count)
      half_load_panel(blocks, x, count);
  }
  find_divisors(blocks, &by);
  half_solve(blocks, &by, x);
  TSL_UNROLL for (int count = 1; count <= HALF_SIDES_MAX; count++) {
    if (blocks->n == count)
      half_store_panel(blocks, x, count);
  }
  return true;
}
