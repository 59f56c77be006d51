/* Solves for a few real right-hand sides with vectors along A. A part of kernels/host_blocked_solve.c.
 *
 *   Column-major A: ROWS solved rows of X are subtracted  Row-major A: ROWS rows are reduced by everything on
 *   from all rows below, so that columns are streamed     their left, in tiles transposed in registers; rows
 *                                                         are streamed
 *     \                                                     |..\
 *     |\  |                                                 |...\
 *     ||| v                                                 +----\  ->
 *
 * Each right-hand side is a line; each load of A serves all lines. More lines give equal bits.
 */

enum {
  LINE_VECTORS = (ROWS + NAME(LANES) - 1) / NAME(LANES),
  LINE_LANES = LINE_VECTORS * NAME(LANES) /* at least ROWS */
};

/* X during the solve. Row i of line r is at values[r * line_stride + i]; if flipped, row m - 1 - i. */
typedef struct solve_lines_state {
  const tsl_solve_blocks *blocks;
  REAL *values;
  int64_t line_stride;
  bool is_flipped;
} solve_lines_state;

static inline REAL *line_at(const solve_lines_state *solved, int r, int64_t row) {
  return solved->values + r * solved->line_stride + (solved->is_flipped ? solved->blocks->m - 1 - row : row);
}

/* Solves ROWS rows with their own triangle; rows after the last are absent. */
TSL_INLINE void line_substitute(const solve_lines_state *solved, int64_t row, int64_t rows, REAL *triangle,
                                int lines) {
  vector tile[ROWS];
  const REAL *found = (const REAL *)(const void *)tile;
  copy_triangle(solved->blocks, row, rows, triangle);
  for (int i = 0; i < rows; i++) {
    vector x = {0};
    TSL_UNROLL for (int r = 0; r < lines; r++) x[r] = *line_at(solved, r, row + i);
    tile[i] = x;
  }
  for (int64_t i = rows; i < ROWS; i++)
    tile[i] = (vector){0};
  substitute_half(triangle, tile);
  for (int i = 0; i < rows; i++, found += NUMBER(LANES)) {
    TSL_UNROLL for (int r = 0; r < lines; r++) * line_at(solved, r, row + i) = found[r];
  }
}

TSL_INLINE void line_subtract(const REAL *a, int64_t across, REAL x[][ROWS], vector *sums, int lines,
                              bool whole, NAME(mask) some) {
  TSL_UNROLL for (int l = 0; l < ROWS; l++) {
    const element *from = (const element *)(const void *)(a + l * across);
    vector column = whole ? NAME(load)(from) : NAME(load_masked)(from, some);
    if (lines > 1)
      TSL_KEEP(column); /* compilers would load it for each line */
    TSL_UNROLL for (int r = 0; r < lines; r++) sums[r] = NUMBER(fma)(sums[r], x[r][l], column);
  }
}

/* Subtracts ROWS columns from `col` on from `count` rows; `out` is their lowest address. */
TSL_INLINE void line_subtract_columns(const solve_lines_state *solved, int64_t col, int64_t count,
                                      int lines) {
  const int64_t below = col + ROWS, across = solved->blocks->a.col_stride, line_stride = solved->line_stride;
  const REAL *a = number_at(&solved->blocks->a, solved->is_flipped ? solved->blocks->m - 1 : below, col);
  element *const out = (element *)(void *)(solved->is_flipped ? solved->values : solved->values + below);
  REAL x[LINES_MAX][ROWS];
  vector sums[LINES_MAX];
  for (int r = 0; r < lines; r++)
    for (int l = 0; l < ROWS; l++)
      x[r][l] = -*line_at(solved, r, col + l);
  int64_t i = 0;
  for (; i + NAME(LANES) <= count; i += NAME(LANES)) {
    TSL_UNROLL for (int r = 0; r < lines; r++) sums[r] = NAME(load)(out + r * line_stride + i);
    line_subtract(a + i, across, x, sums, lines, true, NAME(mask_of)(1));
    TSL_UNROLL for (int r = 0; r < lines; r++) NAME(store)(out + r * line_stride + i, sums[r]);
  }
  if (i == count)
    return;
  const NAME(mask) some = NAME(mask_of)(count - i);
  vector last[LINES_MAX];
  for (int r = 0; r < lines; r++)
    last[r] = NAME(load_masked)(out + r * line_stride + i, some);
  line_subtract(a + i, across, x, last, lines, false, some);
  for (int r = 0; r < lines; r++)
    NAME(store_masked)(out + r * line_stride + i, last[r], some);
}

/* Subtracts everything on the left from ROWS rows, of which `rows` exist. */
TSL_INLINE void line_subtract_rows(const solve_lines_state *solved, int64_t row, int64_t rows,
                                   bool is_backwards, int lines) {
  const element *at[LINE_LANES];
  const REAL *const values = solved->values;
  const int64_t line_stride = solved->line_stride;
  union {
    vector whole[LINE_VECTORS];
    REAL lane[LINE_LANES];
  } kept[LINES_MAX], column;
  vector sums[LINES_MAX][LINE_VECTORS];
  for (int i = 0; i < LINE_LANES; i++)
    at[i] = (const element *)(const void *)number_at(&solved->blocks->a, row + (i < rows ? i : 0), 0);
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    for (int i = 0; i < LINE_LANES; i++)
      kept[r].lane[i] = i < rows ? values[r * line_stride + row + i] : 0;
    TSL_UNROLL for (int v = 0; v < LINE_VECTORS; v++) sums[r][v] = kept[r].whole[v];
  }
  int64_t l = 0;
  for (; l + NAME(STEPS) <= row; l += NAME(STEPS))
    TSL_UNROLL for (int v = 0; v < LINE_VECTORS; v++) {
      vector moved[NAME(STEPS)];
      NAME(transpose)(at + v * NAME(LANES), is_backwards ? -l - NAME(STEPS) + 1 : l, moved);
      TSL_UNROLL for (int s = 0; s < NAME(STEPS); s++) {
        const vector next = moved[is_backwards ? NAME(STEPS) - 1 - s : s];
        TSL_UNROLL for (int r = 0; r < lines; r++) sums[r][v] =
            NUMBER(fma)(sums[r][v], -values[r * line_stride + l + s], next);
      }
    }
  for (; l < row; l++) {
    for (int i = 0; i < LINE_LANES; i++)
      column.lane[i] = at[i][is_backwards ? -l : l];
    TSL_UNROLL for (int v = 0; v < LINE_VECTORS; v++) {
      TSL_UNROLL for (int r = 0; r < lines; r++) sums[r][v] =
          NUMBER(fma)(sums[r][v], -values[r * line_stride + l], column.whole[v]);
    }
  }
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    TSL_UNROLL for (int v = 0; v < LINE_VECTORS; v++) kept[r].whole[v] = sums[r][v];
    for (int i = 0; i < rows; i++)
      solved->values[r * line_stride + row + i] = kept[r].lane[i];
  }
}

TSL_INLINE void line_solve_direction(const solve_lines_state *solved, REAL *triangle, bool by_column,
                                     bool is_backwards, int lines) {
  const int64_t m = solved->blocks->m;
  for (int64_t i = 0; i < m; i += ROWS) {
    const int64_t rows = tsl_min(ROWS, m - i);
    if (!by_column)
      line_subtract_rows(solved, i, rows, is_backwards, lines);
    line_substitute(solved, i, rows, triangle, lines);
    if (by_column && m - i > ROWS)
      line_subtract_columns(solved, i, m - i - ROWS, lines);
  }
}

TSL_INLINE void line_solve(const solve_lines_state *solved, REAL *triangle, int lines) {
  const int64_t down = solved->blocks->a.row_stride;
  if (down == 1 || down == -1)
    line_solve_direction(solved, triangle, true, false, lines);
  else if (solved->blocks->a.col_stride < 0)
    line_solve_direction(solved, triangle, false, true, lines);
  else
    line_solve_direction(solved, triangle, false, false, lines);
}

static void line_load(const solve_lines_state *solved, int r, int64_t index) {
  const tsl_view *b = &solved->blocks->b;
  const REAL alpha = (REAL)solved->blocks->alpha[0];
  for (int64_t i = 0; i < solved->blocks->m; i++) {
    const REAL value = *number_at(b, i, index);
    *line_at(solved, r, i) = alpha == 1 ? value : alpha * value;
  }
}

static void line_store(const solve_lines_state *solved, int r, int64_t index) {
  for (int64_t i = 0; i < solved->blocks->m; i++)
    *(REAL *)(void *)element_at(&solved->blocks->x, i, index) = *line_at(solved, r, i);
}

static solve_lines_state make_lines_state(const tsl_solve_blocks *blocks, REAL *values) {
  return (solve_lines_state){blocks, values, line_length(blocks->m), blocks->a.row_stride == -1};
}
