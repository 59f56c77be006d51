/* Idea: right-hand sides in vectors. A few columns of B are copied to a row-major micro-panel. There,
 * tiles of X are a few rows high and two vectors wide. They are reduced by the rows above in registers,
 * and solved with their own small triangle before they are stored. So X has one format for any strides of
 * B, and each row is that of substitution.
 *
 *      A, in micro-panels     X, in micro-panels of COLUMNS right-hand sides
 *      of ROWS rows, negated    |<-2 vectors->|
 *    +----+                   +-------------+
 *    |\   |   depth rows      | solved      |   for each block of `depth` rows: its triangle, tile by tile:
 *    | \  |                   | solved      |     tile = B - A X of the rows above in the block; tile over
 *    +--+\+  <- this tile's   +-------------+     its triangle
 *    |..|\|     triangle      | tile        |   then all rows below, `chunk` at a time: tile = B - A X of the
 *    +--+--+                  +-------------+     block
 *
 * If a copy of A would serve few micro-panels only, A is read in place. Tiles read rows left of the triangle,
 * or columns below it with a prefetch for the next tile. A half empty micro-panel is computed with one
 * vector.
 *
 * Quotients are products by the diagonal's reciprocals where these are normal numbers, else divisions. The
 * sum of imaginary parts of A is multiplied by i once at the end. Only the triangle is read. */
#include "strategy/solve/host/host_blocked/host_blocked_panel.h"
#include "strategy/solve/host/host_blocked/kernel.h"

#include "host/int_math.h"
#include "host/simd.h"

#include <float.h>

enum {
  ROWS = (REGISTERS >= 32 ? 12 : 6) / PARTS,
  A_STEP = ROWS * PARTS /* numbers of a column of a micro-panel of A */
};
enum { BY_RECIPROCALS, BY_DIAGONAL, BY_NOTHING };

/* Columns of a complex A whose imaginary parts are summed separately, then added to the tile. Blocks begin at
 * multiples of GROUP, so that sums do not depend on the blocks. */
enum { GROUP = 96 };

TSL_INLINE void subtract_group(int64_t depth, const REAL *restrict a, const REAL *restrict x,
                               vector tile[ROWS][VECTORS], int vectors) {
#if PARTS_ARE_TWO
  vector turned[ROWS][VECTORS] = {{{0}}};
#endif
  for (int64_t l = 0; l < depth; l++, a += A_STEP, x += STEP) {
    vector row[VECTORS];
    TSL_UNROLL for (int j = 0; j < vectors; j++) row[j] = ((const vector *)(const void *)x)[j];
    TSL_UNROLL for (int i = 0; i < ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < vectors; j++) {
        tile[i][j] = NUMBER(fma)(tile[i][j], a[i], row[j]);
#if PARTS_ARE_TWO
        turned[i][j] = NUMBER(fma)(turned[i][j], a[ROWS + i], row[j]);
#endif
      }
    }
  }
#if PARTS_ARE_TWO
  TSL_UNROLL for (int i = 0; i < ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) tile[i][j] += NUMBER(times_i)(turned[i][j]);
  }
#endif
}

TSL_INLINE void subtract_copied(int64_t depth, const REAL *restrict a, const REAL *restrict x,
                                vector tile[ROWS][VECTORS], int vectors) {
  const int64_t group = PARTS == 2 ? GROUP : depth;
  for (int64_t l = 0; l < depth; l += group)
    subtract_group(tsl_min(group, depth - l), a + l * A_STEP, x + l * STEP, tile, vectors);
}

/* A in place: a tile's first row, and the strides in numbers. */
typedef struct in_place_a {
  const REAL *a;
  int64_t down, across;
  bool conjugates;
} in_place_a;

TSL_INLINE void subtract_number(const REAL *number, const vector *row, int i, vector tile[ROWS][VECTORS],
                                vector turned[ROWS][VECTORS], int vectors) {
  TSL_UNROLL for (int j = 0; j < vectors; j++) {
    tile[i][j] = NUMBER(fma)(tile[i][j], number[0], row[j]);
    if (PARTS == 2)
      turned[i][j] = NUMBER(fma)(turned[i][j], number[PARTS - 1], row[j]);
  }
}

/* Subtracts contiguous columns of A, upward where `down` is negative. Prefetches for the next tile. */
TSL_INLINE void subtract_columns(int64_t depth, const in_place_a *state, int down, const REAL *restrict x,
                                 vector tile[ROWS][VECTORS], vector turned[ROWS][VECTORS], int vectors) {
  enum { TALL = ROWS * PARTS * (int)sizeof(REAL) > 64 };
  const REAL *a = state->a;
  for (int64_t l = 0; l < depth; l++, a += state->across, x += STEP) {
    vector row[VECTORS];
    __builtin_prefetch(a + (2 * ROWS - 1) * down);
    if (TALL)
      __builtin_prefetch(a + (ROWS + ROWS / 2) * down);
    TSL_UNROLL for (int j = 0; j < vectors; j++) row[j] = -((const vector *)(const void *)x)[j];
    TSL_UNROLL for (int i = 0; i < ROWS; i++) subtract_number(a + i * down, row, i, tile, turned, vectors);
  }
}

/* Subtracts rows of A, each from left to right. Only every third address is held in a register. */
TSL_INLINE void subtract_rows(int64_t depth, const in_place_a *state, const REAL *restrict x,
                              vector tile[ROWS][VECTORS], vector turned[ROWS][VECTORS], int vectors) {
  enum { EACH = 3, GROUPS = ROWS / EACH };
  _Static_assert(ROWS % EACH == 0, "groups of rows make up a tile");
  const REAL *a[GROUPS];
  TSL_UNROLL for (int g = 0; g < GROUPS; g++) a[g] = state->a + g * EACH * state->down;
  for (int64_t l = 0; l < depth; l++, x += STEP) {
    vector row[VECTORS];
    TSL_UNROLL for (int j = 0; j < vectors; j++) row[j] = -((const vector *)(const void *)x)[j];
    TSL_UNROLL for (int g = 0; g < GROUPS; g++) {
      TSL_UNROLL for (int i = 0; i < EACH; i++)
          subtract_number(a[g] + i * state->down, row, g * EACH + i, tile, turned, vectors);
      a[g] += state->across;
    }
  }
}

TSL_INLINE void subtract_in_place_group(int64_t depth, const in_place_a *state, const REAL *restrict x,
                                        vector tile[ROWS][VECTORS], int vectors) {
  vector turned[ROWS][VECTORS] = {{{0}}};
  if (state->down == PARTS)
    subtract_columns(depth, state, PARTS, x, tile, turned, vectors);
  else if (state->down == -PARTS)
    subtract_columns(depth, state, -PARTS, x, tile, turned, vectors);
  else
    subtract_rows(depth, state, x, tile, turned, vectors);
#if PARTS_ARE_TWO
  TSL_UNROLL for (int i = 0; i < ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      const vector by_i = NUMBER(times_i)(turned[i][j]);
      tile[i][j] = state->conjugates ? tile[i][j] - by_i : tile[i][j] + by_i;
    }
  }
#endif
}

TSL_INLINE void subtract_in_place(int64_t depth, const in_place_a *state, const REAL *restrict x,
                                  vector tile[ROWS][VECTORS], int vectors) {
  const int64_t group = PARTS == 2 ? GROUP : depth;
  for (int64_t l = 0; l < depth; l += group) {
    const in_place_a part = {state->a + l * state->across, state->down, state->across, state->conjugates};
    subtract_in_place_group(tsl_min(group, depth - l), &part, x + l * STEP, tile, vectors);
  }
}

/* Returns true if 1 / d is a normal number far from overflow and underflow. */
static bool has_reciprocal(REAL real, REAL imaginary) {
  const REAL least = 64 * (sizeof(REAL) == 4 ? (REAL)FLT_MIN : (REAL)DBL_MIN);
  const REAL a = real < 0 ? -real : real, b = imaginary < 0 ? -imaginary : imaginary, larger = a > b ? a : b;
  return larger >= least && larger <= 1 / least && a + b == a + b;
}

#if PARTS_ARE_TWO
static void divide_by(REAL *z, REAL real, REAL imaginary) {
  const bool is_flat = (real < 0 ? -real : real) >= (imaginary < 0 ? -imaginary : imaginary);
  const REAL ratio = is_flat ? imaginary / real : real / imaginary;
  const REAL below =
      is_flat ? NUMBER(fma_number)(real, imaginary, ratio) : NUMBER(fma_number)(imaginary, real, ratio);
  const REAL first = is_flat ? NUMBER(fma_number)(z[0], z[1], ratio) : NUMBER(fma_number)(z[1], z[0], ratio);
  const REAL second =
      is_flat ? NUMBER(fma_number)(z[1], -z[0], ratio) : NUMBER(fma_number)(-z[0], z[1], ratio);
  z[0] = first / below;
  z[1] = second / below;
}
static vector divide_vector(vector value, const REAL *diagonal) {
  union {
    vector whole;
    REAL part[VECTOR_BYTES / sizeof(REAL)];
  } all = {value};
  for (int i = 0; i < NAME(LANES); i++)
    divide_by(all.part + 2 * i, diagonal[0], diagonal[ROWS]);
  return all.whole;
}
#else
static void divide_by(REAL *z, REAL real, REAL imaginary) {
  (void)imaginary;
  z[0] /= real;
}
static inline vector divide_vector(vector value, const REAL *diagonal) {
  return value / diagonal[0];
}
#endif

TSL_INLINE vector add_times(vector sum, const REAL *number, vector by) {
#if PARTS_ARE_TWO
  sum = NUMBER(fma)(sum, number[ROWS], NUMBER(times_i)(by));
#endif
  return NUMBER(fma)(sum, number[0], by);
}

/* Solves the tile with its triangle: ROWS columns with reciprocals, the diagonal, the method to divide. */
TSL_INLINE void substitute(const REAL *triangle, vector tile[ROWS][VECTORS], int vectors) {
  const REAL *diagonal = triangle + ROWS * A_STEP;
  const int method = (int)diagonal[A_STEP];
  TSL_UNROLL for (int i = 0; i < ROWS; i++) {
    const REAL *column = triangle + i * A_STEP;
    TSL_UNROLL for (int j = 0; j < vectors; j++) {
      if (method == BY_RECIPROCALS)
        tile[i][j] = add_times((vector){0}, column + i, tile[i][j]);
      else if (method == BY_DIAGONAL)
        tile[i][j] = divide_vector(tile[i][j], diagonal + i);
      TSL_UNROLL for (int k = i + 1; k < ROWS; k++) tile[k][j] =
          add_times(tile[k][j], column + k, tile[i][j]);
    }
  }
}

TSL_INLINE void load_tile(const REAL *x, vector tile[ROWS][VECTORS], int vectors) {
  TSL_UNROLL for (int i = 0; i < ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++) tile[i][j] =
        ((const vector *)(const void *)x)[i * VECTORS + j];
  }
}
TSL_INLINE void store_tile(REAL *x, vector tile[ROWS][VECTORS], int vectors) {
  TSL_UNROLL for (int i = 0; i < ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < vectors; j++)((vector *)(void *)x)[i * VECTORS + j] = tile[i][j];
  }
}

static void update_tile(int64_t depth, const REAL *a, const REAL *above, REAL *x) {
  vector tile[ROWS][VECTORS];
  load_tile(x, tile, VECTORS);
  subtract_copied(depth, a, above, tile, VECTORS);
  store_tile(x, tile, VECTORS);
}

static void solve_tile(int64_t depth, const REAL *a, const REAL *above, REAL *x) {
  vector tile[ROWS][VECTORS];
  load_tile(x, tile, VECTORS);
  subtract_copied(depth, a, above, tile, VECTORS);
  substitute(a + depth * A_STEP, tile, VECTORS);
  store_tile(x, tile, VECTORS);
}

/* Updates a tile from A in place. `triangle` is the copy of the tile's own triangle; NULL: update only. */
TSL_INLINE void in_place_tile(int64_t depth, const in_place_a *state, const REAL *triangle, const REAL *above,
                              REAL *x, int vectors) {
  vector tile[ROWS][VECTORS];
  load_tile(x, tile, vectors);
  subtract_in_place(depth, state, above, tile, vectors);
  if (triangle)
    substitute(triangle, tile, vectors);
  store_tile(x, tile, vectors);
}
static void in_place_tile_two_vectors(int64_t depth, const in_place_a *state, const REAL *triangle,
                                      const REAL *above, REAL *x) {
  in_place_tile(depth, state, triangle, above, x, VECTORS);
}
static void in_place_tile_one_vector(int64_t depth, const in_place_a *state, const REAL *triangle,
                                     const REAL *above, REAL *x) {
  in_place_tile(depth, state, triangle, above, x, 1);
}

static inline const REAL *number_at(const tsl_view *view, int64_t row, int64_t col) {
  return (const REAL *)(const void *)view->at + PARTS * (row * view->row_stride + col * view->col_stride);
}

/* Copies ROWS rows from `row` on, of which `rows` exist, columns `col` to `col + depth`, negated. */
static void copy_panel(const tsl_solve_blocks *blocks, int64_t row, int64_t rows, int64_t col, int64_t depth,
                       REAL *restrict out) {
  const REAL *const in = number_at(&blocks->a, row, col);
  const int64_t down = PARTS * blocks->a.row_stride, across = PARTS * blocks->a.col_stride;
  const REAL sign = blocks->conjugates ? 1 : -1;
  if (rows == ROWS && down == 1) {
    for (int64_t l = 0; l < depth; l++)
      for (int i = 0; i < ROWS; i++)
        out[l * A_STEP + i] = -in[l * across + i];
    return;
  }
  if (rows == ROWS && PARTS == 1) {
    for (int64_t l = 0; l < depth; l++)
      for (int i = 0; i < ROWS; i++)
        out[l * A_STEP + i] = -in[l * across + i * down];
    return;
  }
  for (int64_t l = 0; l < depth; l++)
    for (int i = 0; i < ROWS; i++) {
      out[l * A_STEP + i] = i < rows ? -in[l * across + i * down] : 0;
      if (PARTS == 2)
        out[l * A_STEP + ROWS + i] = i < rows ? sign * in[l * across + i * down + 1] : 0;
    }
}

/* Copies a tile's own triangle and its divisors. Missing rows get a unit diagonal. */
static void copy_triangle(const tsl_solve_blocks *blocks, int64_t row, int64_t rows, REAL *out) {
  REAL *const diagonal = out + ROWS * A_STEP;
  int method = blocks->is_unit ? BY_NOTHING : BY_RECIPROCALS;
  for (int i = 0; i < ROWS * A_STEP + A_STEP; i++)
    out[i] = 0;
  for (int i = 0; i < ROWS; i++) {
    for (int l = 0; l < i && i < rows; l++) {
      const REAL *number = number_at(&blocks->a, row + i, row + l);
      out[l * A_STEP + i] = -number[0];
      if (PARTS == 2)
        out[l * A_STEP + ROWS + i] = blocks->conjugates ? number[1] : -number[1];
    }
    const REAL *number = i < rows && !blocks->is_unit ? number_at(&blocks->a, row + i, row + i) : NULL;
    REAL inverse[2] = {1, 0},
         divisor[2] = {number ? number[0] : 1, number && PARTS == 2 ? number[PARTS - 1] : 0};
    divisor[1] = blocks->conjugates ? -divisor[1] : divisor[1];
    if (has_reciprocal(divisor[0], divisor[1])) /* a division raises flags */
      divide_by(inverse, divisor[0], divisor[1]);
    else if (!blocks->is_unit)
      method = BY_DIAGONAL;
#if PARTS_ARE_TWO
    out[i * A_STEP + ROWS + i] = inverse[1];
    diagonal[ROWS + i] = divisor[1];
#endif
    out[i * A_STEP + i] = inverse[0];
    diagonal[i] = divisor[0];
  }
  diagonal[A_STEP] = (REAL)method;
}

static void store_contiguous_rows(const column_group *group, int64_t row, int64_t rows, const REAL *x) {
  for (int64_t i = row; i < row + rows; i++, x += STEP) {
    element *out = element_at(group->view, i, group->first);
    for (int j = 0; j < VECTORS; j++)
      NAME(store)(out + j * NAME(LANES), ((const vector *)(const void *)x)[j]);
  }
}

static void store_short_rows(const column_group *group, int64_t row, int64_t rows, const REAL *x) {
  enum { LANES = NAME(LANES) };
  const bool is_half_faster = group->count <= LANES;
  const int64_t rest = group->count - (is_half_faster ? 0 : LANES);
  for (int64_t i = row; i < row + rows; i++, x += STEP) {
    element *out = element_at(group->view, i, group->first);
    const vector *from = (const vector *)(const void *)x;
    if (!is_half_faster)
      NAME(store)(out, from[0]);
    NAME(store_edge)(out + (is_half_faster ? 0 : LANES), from[is_half_faster ? 0 : 1], rest);
  }
}

static void store_columns(const column_group *group, int64_t row, int64_t rows, const REAL *x) {
  const bool is_flipped = group->view->row_stride < 0;
  const int64_t lowest = is_flipped ? row + rows - 1 : row;
  const moved_element *lines[NAME(LANES)];
  for (int64_t i = 0; i < NAME(LANES); i++) {
    const int64_t from = tsl_min(i, rows - 1);
    lines[i] = (const moved_element *)(const void *)(x + (is_flipped ? rows - 1 - from : from) * STEP);
  }
  for (int j = 0; j < group->count; j += NAME(STEPS)) {
    MOVED(vector) moved[NAME(STEPS)];
    MOVED(transpose)(lines, j, moved);
    for (int s = 0; s < NAME(STEPS) && j + s < group->count; s++)
      store_first(element_at(group->view, lowest, group->first + j + s), (vector)moved[s], rows);
  }
}

/* Stores rows `row` to `row + rows` of the result; x is row `row`. */
static void store_panel(const column_group *group, int64_t row, int64_t rows, const REAL *x) {
  int64_t done = 0;
  if (group->view->col_stride == 1 && group->count == COLUMNS) {
    store_contiguous_rows(group, row, rows, x);
    return;
  }
  if (group->view->col_stride == 1 && !is_one_line(group)) {
    store_short_rows(group, row, rows, x);
    return;
  }
  if (group->view->row_stride == 1 || group->view->row_stride == -1)
    for (; done < rows; done += NAME(LANES))
      store_columns(group, row + done, tsl_min(NAME(LANES), rows - done), x + done * STEP);
  for (int64_t i = done; i < rows; i++)
    for (int j = 0; j < group->count; j++)
      *element_at(group->view, row + i, group->first + j) =
          ((const element *)(const void *)(x + i * STEP))[j];
}

typedef struct solve_state {
  const tsl_solve_blocks *blocks;
  int64_t x_panel_count; /* micro-panels */
  int64_t x_panel_numbers;
  int64_t a_panel_numbers;
  REAL *x, *a;
} solve_state;

/* Copies the diagonal block of rows `row` to `end` and solves it for all micro-panels of X. */
static void solve_block(const solve_state *w, int64_t row, int64_t end) {
  REAL *a = w->a;
  for (int64_t i = row; i < end; i += ROWS, a += w->a_panel_numbers) {
    copy_panel(w->blocks, i, tsl_min(ROWS, end - i), row, i - row, a);
    copy_triangle(w->blocks, i, tsl_min(ROWS, end - i), a + (i - row) * A_STEP);
  }
  for (int64_t p = 0; p < w->x_panel_count; p++) {
    REAL *x = w->x + p * w->x_panel_numbers;
    a = w->a;
    for (int64_t i = row; i < end; i += ROWS, a += w->a_panel_numbers)
      solve_tile(i - row, a, x + row * STEP, x + i * STEP);
  }
}

/* Subtracts columns `row` to `end` of A times X from rows `first` to `last`. */
static void update_block(const solve_state *w, int64_t row, int64_t end, int64_t first, int64_t last) {
  REAL *a = w->a;
  for (int64_t i = first; i < last; i += ROWS, a += w->a_panel_numbers)
    copy_panel(w->blocks, i, tsl_min(ROWS, last - i), row, end - row, a);
  for (int64_t p = 0; p < w->x_panel_count; p++) {
    REAL *x = w->x + p * w->x_panel_numbers;
    a = w->a;
    for (int64_t i = first; i < last; i += ROWS, a += w->a_panel_numbers)
      update_tile(end - row, a, x + row * STEP, x + i * STEP);
  }
}

/* Maximum micro-panels of X for which A is read in place; maximum rows of a triangle without copies. */
enum { IN_PLACE_PANELS = 4, IN_PLACE_ROWS = 32 };

typedef struct few_state {
  const solve_state *w;
  void (*tile)(int64_t depth, const in_place_a *state, const REAL *triangle, const REAL *above, REAL *x);
} few_state;

/* Subtracts columns `col` to `col + depth` from rows `i` to `i + rows`; solves with their own triangle. */
static void tile_in_place(const few_state *few, int64_t i, int64_t rows, int64_t col, int64_t depth,
                          bool solves) {
  const solve_state *w = few->w;
  const tsl_solve_blocks *blocks = w->blocks;
  const in_place_a a = {number_at(&blocks->a, i, col), PARTS * blocks->a.row_stride,
                        PARTS * blocks->a.col_stride, blocks->conjugates};
  REAL *triangle = w->a + depth * A_STEP;
  if (rows < ROWS) /* missing rows are not read */
    copy_panel(blocks, i, rows, col, depth, w->a);
  if (solves)
    copy_triangle(blocks, i, rows, triangle);
  for (int64_t p = 0; p < w->x_panel_count; p++) {
    REAL *x = w->x + p * w->x_panel_numbers;
    if (rows == ROWS)
      few->tile(depth, &a, solves ? triangle : NULL, x + col * STEP, x + i * STEP);
    else
      (solves ? solve_tile : update_tile)(depth, w->a, x + col * STEP, x + i * STEP);
  }
}

/* Solves with A in place. Blocks of a column-major A are narrow, so that the next tile finds them in caches.
 * Tiles of a row-major A read at most LONG columns, which fit the memory of A's copies. */
static void solve_few(const solve_state *w, int64_t count) {
  enum { NARROW = PARTS == 2 ? GROUP : 60, LONG = 1536 };
  const few_state state = {w, count <= NAME(LANES) ? in_place_tile_one_vector : in_place_tile_two_vectors};
  const tsl_solve_blocks *blocks = w->blocks;
  const bool by_column = blocks->a.row_stride == 1 || blocks->a.row_stride == -1;
  const int64_t m = blocks->m, depth = by_column ? NARROW : LONG;
  for (int64_t row = 0; row < m; row += depth) {
    const int64_t end = tsl_min(row + depth, m);
    for (int64_t i = row; i < end; i += ROWS)
      tile_in_place(&state, i, tsl_min(ROWS, end - i), row, i - row, true);
    for (int64_t i = end; i < m; i += ROWS)
      tile_in_place(&state, i, tsl_min(ROWS, m - i), row, end - row, false);
  }
}

#include "strategy/solve/host/host_blocked/host_blocked_small.h"

#include "strategy/solve/host/host_blocked/half.h"

/* Limits of right-hand sides as separate lines: at most the work of tiles, or less where A would be
 * transposed. PAD numbers avoid conflicts in the first cache with columns a power of two apart. */
#define LINES_OF_HALF_VECTOR (VECTOR_BYTES / BYTES / 2)
enum {
  LINES_MAX = LINES_OF_HALF_VECTOR < 2   ? 1
              : LINES_OF_HALF_VECTOR < 4 ? 2
                                         : 4,
  LINES_BY_ROW_MAX = LINES_OF_HALF_VECTOR < 4   ? 1
                     : LINES_OF_HALF_VECTOR < 8 ? 3
                                                : 4,
  PAD = 5 * 64 / (int)sizeof(REAL),
  /* minimum rows of a micro-panel of X with room for the pad, where vectors have several numbers */
  PADDED_ROWS = 96
};

static inline int64_t line_length(int64_t numbers) {
  return numbers + (LINES_OF_HALF_VECTOR > 0 && numbers >= PARTS * PADDED_ROWS ? PAD : 0);
}

/* Solves a tile of one vector a row with its triangle. Out of line, because it has many callers. */
static __attribute__((noinline)) void substitute_half(const REAL *triangle, vector x[ROWS]) {
  vector tile[ROWS][VECTORS];
  TSL_UNROLL for (int i = 0; i < ROWS; i++) tile[i][0] = x[i];
  substitute(triangle, tile, 1);
  TSL_UNROLL for (int i = 0; i < ROWS; i++) x[i] = tile[i][0];
}

#if PARTS_ARE_TWO
#include "strategy/solve/host/host_blocked/line_complex.h"
#else
#include "strategy/solve/host/host_blocked/line.h"
#endif

static void solve_one_line(const solve_lines_state *solved, REAL *triangle) {
  line_solve(solved, triangle, 1);
}
#if LINES_OF_HALF_VECTOR >= 2
static void solve_two_lines(const solve_lines_state *solved, REAL *triangle) {
  line_solve(solved, triangle, 2);
}
#endif
#if LINES_OF_HALF_VECTOR >= 4
static void solve_three_lines(const solve_lines_state *solved, REAL *triangle) {
  line_solve(solved, triangle, 3);
}
static void solve_four_lines(const solve_lines_state *solved, REAL *triangle) {
  line_solve(solved, triangle, 4);
}
#endif

static void (*const solve_lines_of[])(const solve_lines_state *solved, REAL *triangle) = {
    solve_one_line,
#if LINES_OF_HALF_VECTOR >= 2
    solve_two_lines,
#endif
#if LINES_OF_HALF_VECTOR >= 4
    solve_three_lines,
    solve_four_lines,
#endif
};

/* Solves if lines are few and A is contiguous along rows or columns; returns false otherwise. */
static bool solve_lines(const tsl_solve_blocks *blocks, int64_t first, int64_t count, REAL *values,
                        REAL *triangle) {
  const int64_t down = blocks->a.row_stride, across = blocks->a.col_stride;
  const bool by_column = down == 1 || down == -1, by_row = across == 1 || across == -1;
  const solve_lines_state state = make_lines_state(blocks, values);
  if (count > (by_column ? LINES_MAX : by_row ? LINES_BY_ROW_MAX : 0) || blocks->m <= IN_PLACE_ROWS)
    return false;
  for (int r = 0; r < count; r++)
    line_load(&state, r, first + r);
  solve_lines_of[count - 1](&state, triangle);
  for (int r = 0; r < count; r++)
    line_store(&state, r, first + r);
  return true;
}

static column_group make_column_group(const solve_state *w, const tsl_view *view, int64_t first,
                                      int64_t count, int64_t panel) {
  (void)w;
  return (column_group){view, first + panel * COLUMNS, tsl_min(COLUMNS, count - panel * COLUMNS)};
}

static void solve_columns(const tsl_solve_blocks *blocks, int64_t first, int64_t count, void *x_copy,
                          void *a_copy) {
  const int64_t m = blocks->m, rows = tsl_round_up(m, ROWS);
  const solve_state w = {.blocks = blocks,
                         .x_panel_count = tsl_ceil_div_or_one(count, COLUMNS),
                         .x_panel_numbers = rows * STEP,
                         .a_panel_numbers = (blocks->depth + ROWS + 2) * A_STEP,
                         .x = x_copy,
                         .a = a_copy};
  if (solve_lines(blocks, first, count, w.x, w.a))
    return;
  for (int64_t p = 0; p < w.x_panel_count; p++) {
    const column_group from = make_column_group(&w, &blocks->b, first, count, p);
    load_panel(&from, m, blocks->alpha, w.x + p * w.x_panel_numbers);
    memset(w.x + p * w.x_panel_numbers + m * STEP, 0, (size_t)((rows - m) * STEP) * sizeof(REAL));
  }
  if (w.x_panel_count <= IN_PLACE_PANELS) {
    if (!try_solve_small(&w, count))
      solve_few(&w, count);
    for (int64_t p = 0; p < w.x_panel_count; p++) {
      const column_group to = make_column_group(&w, &blocks->x, first, count, p);
      store_panel(&to, 0, m, w.x + p * w.x_panel_numbers);
    }
    return;
  }
  for (int64_t row = 0; row < m; row += blocks->depth) {
    const int64_t end = tsl_min(row + blocks->depth, m);
    solve_block(&w, row, end);
    for (int64_t p = 0; p < w.x_panel_count; p++) {
      const column_group to = make_column_group(&w, &blocks->x, first, count, p);
      store_panel(&to, row, end - row, w.x + p * w.x_panel_numbers + row * STEP);
    }
    for (int64_t below = end; below < m; below += blocks->chunk)
      update_block(&w, row, end, below, tsl_min(below + blocks->chunk, m));
  }
}

/* Multiplies as many micro-panels as the caller's memory holds, one by one. */
static void multiply_columns(const tsl_solve_blocks *blocks, void *x_copy) {
  const int64_t m = blocks->m;
  for (int64_t j = 0; j < blocks->n; j += COLUMNS) {
    const column_group part = {&blocks->x, j, tsl_min(COLUMNS, blocks->n - j)};
    load_panel(&part, m, blocks->alpha, x_copy);
    if (part.count <= NAME(LANES))
      multiply_panel(blocks, x_copy, 1);
    else
      multiply_panel(blocks, x_copy, VECTORS);
    store_panel(&part, 0, m, x_copy);
  }
}

const tsl_solve_kernel TSL_ISA_NAME(tsl_solve) = {solve_columns, try_solve_halves, multiply_columns,
                                                  ROWS,          COLUMNS,          ROWS + 2};
