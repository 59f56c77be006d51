/* One right-hand side, of complex numbers: vectors lie along A, as in line.h. A part of kernels/solve.c, which includes it where its tiles
 * are known.
 *
 * A vector of A is real and imaginary parts by turns. What it is taken off are two sums of a row, each of two numbers:
 *
 *     real       (sum of re re, sum of im re)  -= (re, im) re(x)      so that no part changes places before the end of GROUP columns,
 *     imaginary  (sum of re im, sum of im im)  -= (re, im) im(x)      where one is X: (re re - im im, re im + im re)
 *
 * These are the sums of other right-hand sides, whose imaginary parts of A are summed apart, too, and so are the bits. */

enum {
  TALL =
      4 *
      ROWS, /* rows that are taken off together where rows are streams: as many sums as an addition's latency wants */
  TALL_VECTORS = (TALL + NAME(LANES) - 1) / NAME(LANES),
  TALL_LANES = TALL_VECTORS * NAME(LANES)
};
_Static_assert(GROUP % TALL == 0, "sums are joined where rows that are taken off together begin");

/* The sums of row i at 2 i, or where A's columns lie upwards at 2 (m - 1 - i). What is found lies in `real`. */
typedef struct line {
  const tsl_solve_blocks *blocks;
  REAL *real, *imaginary;
  bool is_flipped;
} line;

static inline int64_t line_at(const line *of, int64_t row) {
  return 2 * (of->is_flipped ? of->blocks->m - 1 - row : row);
}

static inline void line_put(const line *of, int64_t row, REAL re, REAL im) {
  const int64_t at = line_at(of, row);
  of->real[at] = re;
  of->imaginary[at] = im;
  of->real[at + 1] = of->imaginary[at + 1] = 0;
}

/* The imaginary parts' sums are added, after a group. */
static void line_join(const line *of, int64_t row, int64_t end) {
  for (; row < end; row++) {
    const int64_t at = line_at(of, row);
    const REAL *p = of->real + at, *q = of->imaginary + at;
    if (of->blocks->conjugates)
      line_put(of, row, p[0] + q[1], q[0] - p[1]);
    else
      line_put(of, row, p[0] - q[1], q[0] + p[1]);
  }
}

/* ROWS rows over their own triangle; rows behind the last are not there. */
static void line_substitute(const line *of, int64_t row, int64_t rows, REAL *triangle) {
  vector tile[ROWS][VECTORS];
  copy_triangle(of->blocks, row, rows, triangle);
  for (int i = 0; i < ROWS; i++) {
    const int64_t at = line_at(of, i < rows ? row + i : row);
    tile[i][0] = (vector){of->real[at], of->imaginary[at]};
  }
  substitute(triangle, tile, 1);
  for (int i = 0; i < rows; i++) {
    const int64_t at = line_at(of, row + i);
    of->real[at] = tile[i][0][0];
    of->real[at + 1] = tile[i][0][1];
  }
}

/* Takes ROWS columns off a vector's rows. */
TSL_INLINE void line_take_off(const REAL *a, int64_t across, const REAL *re, const REAL *im, vector *real,
                              vector *imaginary, bool whole, NAME(mask) some) {
  TSL_UNROLL for (int l = 0; l < ROWS; l++) {
    const element *from = (const element *)(const void *)(a + l * across);
    vector column = whole ? NAME(load)(from) : NAME(load_masked)(from, some);
    TSL_KEEP(column); /* compilers would load it once for each sum */
    *real = NUMBER(fma)(*real, re[l], column);
    *imaginary = NUMBER(fma)(*imaginary, im[l], column);
  }
}

/* Takes ROWS columns from `col` on off `count` rows below. */
static void line_take_off_columns(const line *of, int64_t col, int64_t count) {
  const int64_t below = col + ROWS, across = 2 * of->blocks->a.col_stride,
                first = of->is_flipped ? of->blocks->m - 1 : below;
  const REAL *a = number_at(&of->blocks->a, first, col);
  const int64_t at = line_at(of, first);
  element *const p = (element *)(void *)(of->real + at), *const q = (element *)(void *)(of->imaginary + at);
  REAL re[ROWS], im[ROWS];
  for (int l = 0; l < ROWS; l++) {
    re[l] = -of->real[line_at(of, col + l)];
    im[l] = -of->real[line_at(of, col + l) + 1];
  }
  int64_t i = 0;
  for (; i + NAME(LANES) <= count; i += NAME(LANES)) {
    vector real = NAME(load)(p + i), imaginary = NAME(load)(q + i);
    line_take_off(a + 2 * i, across, re, im, &real, &imaginary, true, NAME(mask_of)(1));
    NAME(store)(p + i, real);
    NAME(store)(q + i, imaginary);
  }
  if (i == count)
    return;
  const NAME(mask) some = NAME(mask_of)(count - i);
  vector real = NAME(load_masked)(p + i, some), imaginary = NAME(load_masked)(q + i, some);
  line_take_off(a + 2 * i, across, re, im, &real, &imaginary, false, some);
  NAME(store_masked)(p + i, real, some);
  NAME(store_masked)(q + i, imaginary, some);
}

/* Sums of some rows, and where these rows begin; rows that are not there are others once more. */
typedef struct tall {
  const moved_element *rows[TALL_LANES + NAME(LANES)];
  REAL real[2 * (TALL_LANES + NAME(LANES))], imaginary[2 * (TALL_LANES + NAME(LANES))];
} tall;

/* Takes STEPS columns off a vector's rows. */
TSL_INLINE void line_take_off_steps(const line *of, const moved_element *const *rows, int64_t l,
                                    bool is_backwards, vector *real, vector *imaginary) {
  MOVED(vector) moved[MOVED(STEPS)];
  MOVED(transpose)(rows, is_backwards ? -l - MOVED(STEPS) + 1 : l, moved);
  TSL_UNROLL for (int s = 0; s < MOVED(STEPS); s++) {
    const vector column = (vector)moved[is_backwards ? MOVED(STEPS) - 1 - s : s];
    *real = NUMBER(fma)(*real, -of->real[2 * (l + s)], column);
    *imaginary = NUMBER(fma)(*imaginary, -of->real[2 * (l + s) + 1], column);
  }
}

/* Takes columns `col` to `end`, at most a group, off `kept` rows from the first one on: of each vector's rows whole lines of
 * a cache, which the rows of all vectors might drive out where they are a power of two apart. */
TSL_INLINE void line_take_off_rows(const line *of, tall *sums, int64_t first, int64_t col, int64_t end,
                                   bool is_backwards, int kept) {
  const int vectors = (kept + NAME(LANES) - 1) / NAME(LANES);
  enum { LINE = 64 / (int)sizeof(element) };
  const moved_element *const *rows = sums->rows + first;
  element *const p_at = (element *)(void *)(sums->real + 2 * first), *const q_at =
                                                                         (element *)(void *)(sums->imaginary +
                                                                                             2 * first);
  vector p[TALL_VECTORS], q[TALL_VECTORS];
  TSL_UNROLL for (int v = 0; v < vectors; v++) {
    p[v] = NAME(load)(p_at + v * NAME(LANES));
    q[v] = NAME(load)(q_at + v * NAME(LANES));
  }
  int64_t l = col;
  for (; l + LINE <= end; l += LINE)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      TSL_UNROLL for (int s = 0; s < LINE; s += MOVED(STEPS))
          line_take_off_steps(of, rows + v * NAME(LANES), l + s, is_backwards, &p[v], &q[v]);
    }
  for (; l + MOVED(STEPS) <= end; l += MOVED(STEPS))
    TSL_UNROLL for (int v = 0; v < vectors; v++)
        line_take_off_steps(of, rows + v * NAME(LANES), l, is_backwards, &p[v], &q[v]);
  for (; l < end; l++)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      union {
        vector whole;
        moved_element element[NAME(LANES)];
      } column;
      for (int i = 0; i < NAME(LANES); i++)
        column.element[i] = rows[v * NAME(LANES) + i][is_backwards ? -l : l];
      p[v] = NUMBER(fma)(p[v], -of->real[2 * l], column.whole);
      q[v] = NUMBER(fma)(q[v], -of->real[2 * l + 1], column.whole);
    }
  TSL_UNROLL for (int v = 0; v < vectors; v++) {
    const int64_t here = tsl_least(NAME(LANES), kept - v * NAME(LANES));
    NAME(store_edge)(p_at + v * NAME(LANES), p[v], here);
    NAME(store_edge)(q_at + v * NAME(LANES), q[v], here);
  }
}

/* Rows `row` to `row + rows`, at most TALL, of an A whose rows are streams: what lies on their left is taken off, then each ROWS of them find
 * theirs. */
TSL_INLINE void line_solve_tall(const line *of, int64_t row, int64_t rows, REAL *triangle,
                                bool is_backwards) {
  tall sums;
  for (int i = 0; i < TALL_LANES + NAME(LANES); i++) {
    const int64_t from = i < rows ? row + i : row;
    sums.rows[i] = (const moved_element *)(const void *)number_at(&of->blocks->a, from, 0);
    for (int part = 0; part < 2; part++) {
      sums.real[2 * i + part] = of->real[2 * from + part];
      sums.imaginary[2 * i + part] = of->imaginary[2 * from + part];
    }
  }
  const line own = {of->blocks, sums.real, sums.imaginary, false};
  for (int64_t l = 0; l < row; l += GROUP) {
    const int64_t end = tsl_least(l + GROUP, row);
    line_take_off_rows(of, &sums, 0, l, end, is_backwards, TALL_LANES);
    if (end == l + GROUP)
      line_join(&own, 0, TALL_LANES);
  }
  for (int64_t i = 0; i < rows; i += ROWS) {
    const int64_t count = tsl_least(ROWS, rows - i);
    if (i > 0)
      line_take_off_rows(of, &sums, i, row, row + i, is_backwards, ROWS);
    if ((row + i) % GROUP > 0)
      line_join(&own, i, i + count);
    for (int64_t r = i; r < i + count; r++)
      line_put(of, row + r, sums.real[2 * r], sums.imaginary[2 * r]);
    line_substitute(of, row + i, count, triangle);
  }
}

static void line_solve_rows(const line *of, REAL *triangle) {
  const int64_t m = of->blocks->m;
  const bool is_backwards = of->blocks->a.col_stride < 0;
  for (int64_t i = 0; i < m; i += TALL)
    if (is_backwards)
      line_solve_tall(of, i, tsl_least(TALL, m - i), triangle, true);
    else
      line_solve_tall(of, i, tsl_least(TALL, m - i), triangle, false);
}

/* Columns as streams: what ROWS rows are found to be is taken off all rows below. */
static void line_solve_columns(const line *of, REAL *triangle) {
  const int64_t m = of->blocks->m;
  for (int64_t i = 0; i < m; i += ROWS) {
    const int64_t rows = tsl_least(ROWS, m - i);
    if (i % GROUP > 0)
      line_join(of, i, i + rows);
    else if (i > 0)
      line_join(of, i, m);
    line_substitute(of, i, rows, triangle);
    if (m - i > ROWS)
      line_take_off_columns(of, i, m - i - ROWS);
  }
}

/* Whether A lies so that there are vectors along it. */
static bool solve_line(const tsl_solve_blocks *blocks, int64_t at, REAL *values, REAL *triangle) {
  const int64_t m = blocks->m, down = blocks->a.row_stride, across = blocks->a.col_stride;
  const bool by_column = down == 1 || down == -1;
  const line of = {blocks, values, values + 2 * m, down == -1};
  if (!by_column && across != 1 && across != -1)
    return false;
  for (int64_t i = 0; i < m; i++) {
    const REAL *b = number_at(&blocks->b, i, at);
    const vector scaled = times_alpha(blocks->alpha, (vector){b[0], b[1]});
    line_put(&of, i, scaled[0], scaled[1]);
  }
  if (by_column)
    line_solve_columns(&of, triangle);
  else
    line_solve_rows(&of, triangle);
  for (int64_t i = 0; i < m; i++)
    *element_at(&blocks->x, i, at) = *(const element *)(const void *)(of.real + line_at(&of, i));
  return true;
}
