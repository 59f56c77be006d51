/* One right-hand side, of real numbers: vectors lie along A. A part of kernels/solve.c, which includes it where its tiles are known.
 *
 *   A by columns: what ROWS rows of X are found to be       A by rows: ROWS rows take off all that is on their left, in
 *   is taken off all rows below, so that columns are         tiles that are transposed in registers, so that rows are
 *   streams                                                  streams
 *     \                                                        |..\
 *     |\  |                                                    |...\
 *     ||| v                                                    +----\  ->
 *
 * Terms and their order are those of other right-hand sides, and so are the bits. */

enum {
  LINE_VECTORS = (ROWS + NAME(LANES) - 1) / NAME(LANES),
  LINE_LANES = LINE_VECTORS * NAME(LANES) /* at least ROWS */
};

/* X as it is found: row i at values[i], or where A's columns lie upwards at values[m - 1 - i]. */
typedef struct line {
  const tsl_solve_blocks *blocks;
  REAL *values;
  bool is_flipped;
} line;

static inline REAL *line_at(const line *of, int64_t row) {
  return of->values + (of->is_flipped ? of->blocks->m - 1 - row : row);
}

/* ROWS rows over their own triangle; rows behind the last are not there. */
static void line_substitute(const line *of, int64_t row, int64_t rows, REAL *triangle) {
  vector tile[ROWS][VECTORS];
  copy_triangle(of->blocks, row, rows, triangle);
  for (int i = 0; i < ROWS; i++)
    tile[i][0] = (i < rows ? *line_at(of, row + i) : 0) - (vector){0};
  substitute(triangle, tile, 1);
  for (int i = 0; i < rows; i++)
    *line_at(of, row + i) = tile[i][0][0];
}

/* Takes ROWS columns from `col` on off `count` rows, whose first place in memory is `out`. */
static void line_take_off_columns(const line *of, int64_t col, int64_t count) {
  const int64_t below = col + ROWS, across = of->blocks->a.col_stride;
  const REAL *a = number_at(&of->blocks->a, of->is_flipped ? of->blocks->m - 1 : below, col);
  REAL *out = of->is_flipped ? of->values : of->values + below;
  REAL x[ROWS];
  for (int l = 0; l < ROWS; l++)
    x[l] = -*line_at(of, col + l);
  int64_t i = 0;
  for (; i + NAME(LANES) <= count; i += NAME(LANES)) {
    vector sum = NAME(load)((const element *)(const void *)(out + i));
    TSL_UNROLL for (int l = 0; l < ROWS; l++) sum =
        NUMBER(fma)(sum, x[l], NAME(load)((const element *)(const void *)(a + l * across + i)));
    NAME(store)((element *)(void *)(out + i), sum);
  }
  if (i == count)
    return;
  const NAME(mask) some = NAME(mask_of)(count - i);
  vector sum = NAME(load_masked)((const element *)(const void *)(out + i), some);
  for (int l = 0; l < ROWS; l++)
    sum =
        NUMBER(fma)(sum, x[l], NAME(load_masked)((const element *)(const void *)(a + l * across + i), some));
  NAME(store_masked)((element *)(void *)(out + i), sum, some);
}

/* Takes what is on their left off ROWS rows, of which `rows` are there. */
static void line_take_off_rows(const line *of, int64_t row, int64_t rows) {
  const bool is_backwards = of->blocks->a.col_stride < 0;
  const element *lines[LINE_LANES];
  union {
    vector whole[LINE_VECTORS];
    REAL lane[LINE_LANES];
  } sums, column;
  for (int i = 0; i < LINE_LANES; i++) {
    lines[i] = (const element *)(const void *)number_at(&of->blocks->a, row + (i < rows ? i : 0), 0);
    sums.lane[i] = i < rows ? of->values[row + i] : 0;
  }
  int64_t l = 0;
  for (; l + NAME(STEPS) <= row; l += NAME(STEPS))
    for (int v = 0; v < LINE_VECTORS; v++) {
      vector moved[NAME(STEPS)];
      NAME(transpose)(lines + v * NAME(LANES), is_backwards ? -l - NAME(STEPS) + 1 : l, moved);
      TSL_UNROLL for (int s = 0; s < NAME(STEPS); s++) sums.whole[v] =
          NUMBER(fma)(sums.whole[v], -of->values[l + s], moved[is_backwards ? NAME(STEPS) - 1 - s : s]);
    }
  for (; l < row; l++) {
    for (int i = 0; i < LINE_LANES; i++)
      column.lane[i] = lines[i][is_backwards ? -l : l];
    for (int v = 0; v < LINE_VECTORS; v++)
      sums.whole[v] = NUMBER(fma)(sums.whole[v], -of->values[l], column.whole[v]);
  }
  for (int i = 0; i < rows; i++)
    of->values[row + i] = sums.lane[i];
}

/* Whether A lies so that there are vectors along it. */
static bool solve_line(const tsl_solve_blocks *blocks, int64_t at, REAL *values, REAL *triangle) {
  const int64_t m = blocks->m, down = blocks->a.row_stride, across = blocks->a.col_stride;
  const bool by_column = down == 1 || down == -1;
  const line of = {blocks, values, down == -1};
  const REAL alpha = (REAL)blocks->alpha[0];
  if (!by_column && across != 1 && across != -1)
    return false;
  for (int64_t i = 0; i < m; i++) {
    const REAL b = *number_at(&blocks->b, i, at);
    *line_at(&of, i) = alpha == 1 ? b : alpha * b;
  }
  for (int64_t i = 0; i < m; i += ROWS) {
    const int64_t rows = tsl_least(ROWS, m - i);
    if (!by_column)
      line_take_off_rows(&of, i, rows);
    line_substitute(&of, i, rows, triangle);
    if (by_column && m - i > ROWS)
      line_take_off_columns(&of, i, m - i - ROWS);
  }
  for (int64_t i = 0; i < m; i++)
    *(REAL *)(void *)element_at(&blocks->x, i, at) = *line_at(&of, i);
  return true;
}
