/* Solves for a few complex right-hand sides with vectors along A, as in line.h. A part of
 * host_blocked_solve.c.
 *
 * A vector of A has alternating real and imaginary parts. A row has two sums, each of two numbers:
 *
 *     real       (sum of re re, sum of im re)  -= (re, im) re(x)  so no part moves before the end of GROUP
 *     imaginary  (sum of re im, sum of im im)  -= (re, im) im(x)  columns, where they join to a number of X:
 *                                                                 (re re - im im, re im + im re)
 *
 * Other right-hand sides sum imaginary parts separately, too, so the bits are equal. */

enum {
  /* rows that are updated together for a row-major A: enough sums for the latency of an addition */
  TALL = 4 * ROWS,
  TALL_VECTORS = (TALL + NAME(LANES) - 1) / NAME(LANES),
  TALL_LANES = TALL_VECTORS * NAME(LANES),
  TALL_PARTS = 2 * (TALL_LANES + NAME(LANES))
};
_Static_assert(GROUP % TALL == 0, "sums are joined where rows that are taken off together begin");

/* Sums of row i of line r at r * line_stride + 2 i, or at r * line_stride + 2 (m - 1 - i) where A's columns
 * go upward. Solved values are in `real`. */
typedef struct solve_lines_state {
  const tsl_solve_blocks *blocks;
  REAL *real, *imaginary;
  int64_t line_stride;
  bool is_flipped;
} solve_lines_state;

static inline int64_t line_index(const solve_lines_state *solved, int r, int64_t row) {
  return r * solved->line_stride + 2 * (solved->is_flipped ? solved->blocks->m - 1 - row : row);
}

static inline void line_store_number(const solve_lines_state *solved, int r, int64_t row, REAL re, REAL im) {
  const int64_t at = line_index(solved, r, row);
  solved->real[at] = re;
  solved->imaginary[at] = im;
  solved->real[at + 1] = solved->imaginary[at + 1] = 0;
}

static void line_join_parts(const solve_lines_state *solved, int r, int64_t row, int64_t end) {
  for (; row < end; row++) {
    const int64_t at = line_index(solved, r, row);
    const REAL *p = solved->real + at, *q = solved->imaginary + at;
    if (solved->blocks->conjugates)
      line_store_number(solved, r, row, p[0] + q[1], q[0] - p[1]);
    else
      line_store_number(solved, r, row, p[0] - q[1], q[0] + p[1]);
  }
}

TSL_INLINE void line_substitute(const solve_lines_state *solved, int64_t row, int64_t rows, REAL *triangle,
                                int lines) {
  vector tile[ROWS];
  const REAL *found = (const REAL *)(const void *)tile;
  copy_triangle(solved->blocks, row, rows, triangle);
  for (int i = 0; i < rows; i++) {
    vector x = {0};
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      const int64_t at = line_index(solved, r, row + i);
      x[2 * r] = solved->real[at];
      x[2 * r + 1] = solved->imaginary[at];
    }
    tile[i] = x;
  }
  for (int64_t i = rows; i < ROWS; i++)
    tile[i] = (vector){0};
  substitute_half(triangle, tile);
  for (int i = 0; i < rows; i++, found += NUMBER(LANES))
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      const int64_t at = line_index(solved, r, row + i);
      solved->real[at] = found[2 * r];
      solved->real[at + 1] = found[2 * r + 1];
    }
}

/* Negated parts of X to subtract from a line or its sums. */
typedef struct parts {
  REAL re[ROWS], im[ROWS];
} parts;

TSL_INLINE void line_subtract(const REAL *a, int64_t across, const parts *x, vector *real, vector *imaginary,
                              int lines, bool whole, NAME(mask) some) {
  TSL_UNROLL for (int l = 0; l < ROWS; l++) {
    const element *from = (const element *)(const void *)(a + l * across);
    vector column = whole ? NAME(load)(from) : NAME(load_masked)(from, some);
    TSL_KEEP(column); /* compilers would load it for each sum */
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      real[r] = NUMBER(fma)(real[r], x[r].re[l], column);
      imaginary[r] = NUMBER(fma)(imaginary[r], x[r].im[l], column);
    }
  }
}

TSL_INLINE void line_subtract_columns(const solve_lines_state *solved, int64_t col, int64_t count,
                                      int lines) {
  const int64_t below = col + ROWS, across = 2 * solved->blocks->a.col_stride,
                line_stride = solved->line_stride / 2,
                first = solved->is_flipped ? solved->blocks->m - 1 : below;
  const REAL *a = number_at(&solved->blocks->a, first, col);
  const int64_t at = line_index(solved, 0, first);
  element *const p = (element *)(void *)(solved->real + at), *const q =
                                                                 (element *)(void *)(solved->imaginary + at);
  parts x[LINES_MAX];
  vector real[LINES_MAX], imaginary[LINES_MAX];
  for (int r = 0; r < lines; r++)
    for (int l = 0; l < ROWS; l++) {
      x[r].re[l] = -solved->real[line_index(solved, r, col + l)];
      x[r].im[l] = -solved->real[line_index(solved, r, col + l) + 1];
    }
  int64_t i = 0;
  for (; i + NAME(LANES) <= count; i += NAME(LANES)) {
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      real[r] = NAME(load)(p + r * line_stride + i);
      imaginary[r] = NAME(load)(q + r * line_stride + i);
    }
    line_subtract(a + 2 * i, across, x, real, imaginary, lines, true, NAME(mask_of)(1));
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      NAME(store)(p + r * line_stride + i, real[r]);
      NAME(store)(q + r * line_stride + i, imaginary[r]);
    }
  }
  if (i == count)
    return;
  const NAME(mask) some = NAME(mask_of)(count - i);
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    real[r] = NAME(load_masked)(p + r * line_stride + i, some);
    imaginary[r] = NAME(load_masked)(q + r * line_stride + i, some);
  }
  line_subtract(a + 2 * i, across, x, real, imaginary, lines, false, some);
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    NAME(store_masked)(p + r * line_stride + i, real[r], some);
    NAME(store_masked)(q + r * line_stride + i, imaginary[r], some);
  }
}

/* Sums of some rows of each line, and the addresses of these rows in A; missing rows repeat others. */
typedef struct tall {
  const moved_element *rows[TALL_LANES + NAME(LANES)];
  REAL real[LINES_MAX][TALL_PARTS], imaginary[LINES_MAX][TALL_PARTS];
} tall;

/* Subtracts STEPS columns from a vector's rows of each line, whose sums are `step` vectors apart. */
TSL_INLINE void line_subtract_steps(const solve_lines_state *solved, const moved_element *const *rows,
                                    int64_t l, bool is_backwards, vector *real, vector *imaginary, int step,
                                    int lines) {
  MOVED(vector) moved[MOVED(STEPS)];
  MOVED(transpose)(rows, is_backwards ? -l - MOVED(STEPS) + 1 : l, moved);
  TSL_UNROLL for (int s = 0; s < MOVED(STEPS); s++) {
    const vector column = (vector)moved[is_backwards ? MOVED(STEPS) - 1 - s : s];
    TSL_UNROLL for (int r = 0; r < lines; r++) {
      const REAL *x = solved->real + r * solved->line_stride + 2 * (l + s);
      real[r * step] = NUMBER(fma)(real[r * step], -x[0], column);
      imaginary[r * step] = NUMBER(fma)(imaginary[r * step], -x[1], column);
    }
  }
}

/* Subtracts columns `col` to `end`, at most a group, from `kept` rows. Takes whole cache lines of each
 * vector's rows, because rows a power of two apart might evict them. */
TSL_INLINE void line_subtract_rows(const solve_lines_state *solved, tall *sums, int64_t first, int64_t col,
                                   int64_t end, bool is_backwards, int kept, int lines) {
  const int vectors = (kept + NAME(LANES) - 1) / NAME(LANES);
  enum { LINE = 64 / (int)sizeof(element) };
  const moved_element *const *rows = sums->rows + first;
  vector p[LINES_MAX][TALL_VECTORS], q[LINES_MAX][TALL_VECTORS];
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    const element *real = (const element *)(const void *)(sums->real[r] + 2 * first),
                  *imaginary = (const element *)(const void *)(sums->imaginary[r] + 2 * first);
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      p[r][v] = NAME(load)(real + v * NAME(LANES));
      q[r][v] = NAME(load)(imaginary + v * NAME(LANES));
    }
  }
  int64_t l = col;
  for (; l + LINE <= end; l += LINE)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      TSL_UNROLL for (int s = 0; s < LINE; s += MOVED(STEPS)) line_subtract_steps(
          solved, rows + v * NAME(LANES), l + s, is_backwards, &p[0][v], &q[0][v], TALL_VECTORS, lines);
    }
  for (; l + MOVED(STEPS) <= end; l += MOVED(STEPS))
    TSL_UNROLL for (int v = 0; v < vectors; v++) line_subtract_steps(
        solved, rows + v * NAME(LANES), l, is_backwards, &p[0][v], &q[0][v], TALL_VECTORS, lines);
  for (; l < end; l++)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      union {
        vector whole;
        moved_element element[NAME(LANES)];
      } column;
      for (int i = 0; i < NAME(LANES); i++)
        column.element[i] = rows[v * NAME(LANES) + i][is_backwards ? -l : l];
      TSL_UNROLL for (int r = 0; r < lines; r++) {
        const REAL *x = solved->real + r * solved->line_stride + 2 * l;
        p[r][v] = NUMBER(fma)(p[r][v], -x[0], column.whole);
        q[r][v] = NUMBER(fma)(q[r][v], -x[1], column.whole);
      }
    }
  TSL_UNROLL for (int r = 0; r < lines; r++) {
    element *real = (element *)(void *)(sums->real[r] + 2 * first),
            *imaginary = (element *)(void *)(sums->imaginary[r] + 2 * first);
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      const int64_t here = tsl_min(NAME(LANES), kept - v * NAME(LANES));
      NAME(store_edge)(real + v * NAME(LANES), p[r][v], here);
      NAME(store_edge)(imaginary + v * NAME(LANES), q[r][v], here);
    }
  }
}

/* Solves rows `row` to `row + rows`, at most TALL, of a row-major A. */
TSL_INLINE void line_solve_tall(const solve_lines_state *solved, int64_t row, int64_t rows, REAL *triangle,
                                bool is_backwards, int lines) {
  tall sums;
  for (int i = 0; i < TALL_LANES + NAME(LANES); i++) {
    const int64_t from = i < rows ? row + i : row;
    sums.rows[i] = (const moved_element *)(const void *)number_at(&solved->blocks->a, from, 0);
    for (int r = 0; r < lines; r++)
      for (int part = 0; part < 2; part++) {
        const int64_t at = r * solved->line_stride + 2 * from + part;
        sums.real[r][2 * i + part] = solved->real[at];
        sums.imaginary[r][2 * i + part] = solved->imaginary[at];
      }
  }
  const solve_lines_state diagonal = {solved->blocks, sums.real[0], sums.imaginary[0], TALL_PARTS, false};
  for (int64_t l = 0; l < row; l += GROUP) {
    const int64_t end = tsl_min(l + GROUP, row);
    line_subtract_rows(solved, &sums, 0, l, end, is_backwards, TALL_LANES, lines);
    for (int r = 0; end == l + GROUP && r < lines; r++)
      line_join_parts(&diagonal, r, 0, TALL_LANES);
  }
  for (int64_t i = 0; i < rows; i += ROWS) {
    const int64_t count = tsl_min(ROWS, rows - i);
    if (i > 0)
      line_subtract_rows(solved, &sums, i, row, row + i, is_backwards, ROWS, lines);
    for (int r = 0; r < lines; r++) {
      if ((row + i) % GROUP > 0)
        line_join_parts(&diagonal, r, i, i + count);
      for (int64_t k = i; k < i + count; k++)
        line_store_number(solved, r, row + k, sums.real[r][2 * k], sums.imaginary[r][2 * k]);
    }
    line_substitute(solved, row + i, count, triangle, lines);
  }
}

TSL_INLINE void line_solve_rows(const solve_lines_state *solved, REAL *triangle, bool is_backwards,
                                int lines) {
  const int64_t m = solved->blocks->m;
  for (int64_t i = 0; i < m; i += TALL)
    line_solve_tall(solved, i, tsl_min(TALL, m - i), triangle, is_backwards, lines);
}

TSL_INLINE void line_solve_columns(const solve_lines_state *solved, REAL *triangle, int lines) {
  const int64_t m = solved->blocks->m;
  for (int64_t i = 0; i < m; i += ROWS) {
    const int64_t rows = tsl_min(ROWS, m - i);
    for (int r = 0; i > 0 && r < lines; r++)
      line_join_parts(solved, r, i, i % GROUP > 0 ? i + rows : m);
    line_substitute(solved, i, rows, triangle, lines);
    if (m - i > ROWS)
      line_subtract_columns(solved, i, m - i - ROWS, lines);
  }
}

TSL_INLINE void line_solve(const solve_lines_state *solved, REAL *triangle, int lines) {
  const int64_t down = solved->blocks->a.row_stride;
  if (down == 1 || down == -1)
    line_solve_columns(solved, triangle, lines);
  else if (solved->blocks->a.col_stride < 0)
    line_solve_rows(solved, triangle, true, lines);
  else
    line_solve_rows(solved, triangle, false, lines);
}

static void line_load(const solve_lines_state *solved, int r, int64_t index) {
  for (int64_t i = 0; i < solved->blocks->m; i++) {
    const REAL *b = number_at(&solved->blocks->b, i, index);
    const vector scaled = times_alpha(solved->blocks->alpha, (vector){b[0], b[1]});
    line_store_number(solved, r, i, scaled[0], scaled[1]);
  }
}

static void line_store(const solve_lines_state *solved, int r, int64_t index) {
  for (int64_t i = 0; i < solved->blocks->m; i++)
    *element_at(&solved->blocks->x, i, index) =
        *(const element *)(const void *)(solved->real + line_index(solved, r, i));
}

static solve_lines_state make_lines_state(const tsl_solve_blocks *blocks, REAL *values) {
  const int64_t length = line_length(2 * blocks->m);
  return (solve_lines_state){blocks, values, values + length, 2 * length, blocks->a.row_stride == -1};
}
