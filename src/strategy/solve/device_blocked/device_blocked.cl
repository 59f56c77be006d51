/* Idea: substitution by blocks. A kernel solves for a block of rows, each group for a panel of columns; what a block found is taken off rows
 * below it by general products, the device's own (strategy/children.h). So nearly all of the work is as fast as those are.
 * What it adds to `sequential`: columns are solved side by side, rows of them in registers, and the rest is a product on tiles.
 *
 *      block                  n columns             after block i (from 1), whose number 2^v divides, the next 2^v blocks of rows lose
 *    +------+               +---+---+---+             what the 2^v blocks before them give: larger products than a block at a time, and
 *    |\ 1   |               | x |   |   |             few different ones, each of which has a plan
 *    +------+               +---+---+---+
 *    | a |\ 2               | x |   |   |               1      2      3      4   ...
 *    +------+------+        +---+---+---+                 a          a
 *    |      b      |\ 3     | x |   |   |                       b
 *    |             | a \4   | x |   |   |
 *
 *   a block, of which a group has a panel:    rows y, y + 8, ... of a column belong to item (column, y), which holds them in registers
 *     +---+                tile by tile:  the tile's rows go to local memory, and the columns of A below them;
 *     |\t |                               items of the first line solve a column each;
 *     | a |\                              all take A times the tile off their rows further down, and write the tile.
 *
 * No inverse of a block is made, whose product would be off by what the block's condition is: each element of X is its row's sum and one
 * quotient, or a product by the reciprocal where that is far from both ends of the range.
 *
 * Parameters: TSL_PARAM_BLOCK, rows of a block, TSL_PARAM_COLUMNS, of a panel. Local memory: BLOCK x 16 elements of A, 16 x COLUMNS of X, padded.
 * From the host: TSL_REAL, and TSL_COMPLEX for two of them an element. See NOTES.md. */
#include "dialect.h"

#include "device_blocked_shared.h"

#ifdef TSL_COMPLEX
#define PARTS 2
#else
#define PARTS 1
#endif
/* Numbers of 16 bytes, which a load from local memory takes. */
#ifdef TSL_REAL_IS_DOUBLE
#define LANES 2
#define SMALL 0x1p-1000
#define LARGE 0x1p+1000
#else
#define LANES 4
#define SMALL 0x1p-120f
#define LARGE 0x1p+120f
#endif

#define ITEMS (TSL_PARAM_COLUMNS * SOLVE_LINES)
#define ROWS (TSL_PARAM_BLOCK / SOLVE_LINES)            /* of an item */
#define A_LINE (SOLVE_TILE * PARTS + LANES)             /* numbers */
#define X_LINE ((TSL_PARAM_COLUMNS + 1) * PARTS)        /* numbers */
#define A_ROUNDS (TSL_PARAM_BLOCK * SOLVE_TILE / ITEMS) /* elements that an item brings */
#define X_ROUNDS (SOLVE_TILE / SOLVE_LINES)

TSL_FUNCTION TSL_INDEX solve_place(tsl_solve_side side, TSL_INDEX row, TSL_INDEX col) {
  return (side.offset + row * side.row_stride + col * side.col_stride) * PARTS;
}

TSL_FUNCTION TSL_REAL solve_magnitude(TSL_REAL x) {
  return x < 0 ? -x : x;
}

#ifdef TSL_COMPLEX
/* z over d, scaled by d's larger part (Smith 1962). */
TSL_FUNCTION void solve_divide(TSL_REAL *z, TSL_REAL real, TSL_REAL imaginary) {
  const int is_flat = solve_magnitude(real) >= solve_magnitude(imaginary);
  const TSL_REAL ratio = is_flat ? imaginary / real : real / imaginary;
  const TSL_REAL below = is_flat ? real + imaginary * ratio : real * ratio + imaginary;
  const TSL_REAL first = is_flat ? z[0] + z[1] * ratio : z[0] * ratio + z[1];
  const TSL_REAL second = is_flat ? z[1] - z[0] * ratio : z[1] * ratio - z[0];
  z[0] = first / below;
  z[1] = second / below;
}
#endif

/* The reciprocal of a diagonal's element; 0 where X is to be divided by it. */
TSL_FUNCTION void solve_invert(const TSL_REAL *diagonal, TSL_LOCAL_POINTER TSL_REAL *inverse) {
#ifdef TSL_COMPLEX
  const TSL_REAL real = solve_magnitude(diagonal[0]), imaginary = solve_magnitude(diagonal[1]),
                 most = real > imaginary ? real : imaginary;
  TSL_REAL one[2] = {1, 0};
  if (most > SMALL && most < LARGE && real < LARGE && imaginary < LARGE)
    solve_divide(one, diagonal[0], diagonal[1]);
  else
    one[0] = 0;
  inverse[0] = one[0];
  inverse[1] = one[1];
#else
  const TSL_REAL most = solve_magnitude(diagonal[0]);
  inverse[0] = most > SMALL && most < LARGE ? 1 / diagonal[0] : 0;
#endif
}

/* Columns first to first + 16 of A, from row `first` on, as they take part; beside the triangle nothing is read. */
TSL_FUNCTION void solve_bring_a(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, const tsl_solve_block given,
                                int first, int item, TSL_LOCAL_POINTER TSL_REAL *block,
                                TSL_LOCAL_POINTER TSL_REAL *inverse) {
  TSL_UNROLL
  for (int round = 0; round < A_ROUNDS; round++) {
    const int place = item + round * ITEMS;
    const int row = given.a_down ? place % TSL_PARAM_BLOCK : place / SOLVE_TILE,
              col = given.a_down ? place / TSL_PARAM_BLOCK : place % SOLVE_TILE;
    const int is_diagonal = row == first + col, is_there = row < given.rows && row >= first + col,
              is_one = is_diagonal && (given.is_unit || !is_there);
    TSL_REAL value[PARTS] = {0};
    if (is_one) {
      value[0] = 1;
    } else if (is_there) {
      TSL_GLOBAL const TSL_REAL *at = a + solve_place(given.a, row, first + col);
      value[0] = at[0];
#ifdef TSL_COMPLEX
      value[1] = given.conjugates ? -at[1] : at[1];
#endif
    }
    for (int part = 0; part < PARTS; part++)
      block[row * A_LINE + col * PARTS + part] = value[part];
    if (is_diagonal)
      solve_invert(value, inverse + col * PARTS);
  }
}

/* A tile of X from memory, or to it, neighbours in memory by neighbouring items. */
TSL_FUNCTION void solve_carry(TSL_GLOBAL TSL_REAL *x, const tsl_solve_block given, TSL_INDEX first_col,
                              int first, int item, TSL_LOCAL_POINTER TSL_REAL *tile, int writes) {
  TSL_UNROLL
  for (int round = 0; round < X_ROUNDS; round++) {
    const int place = item + round * ITEMS;
    const int row = given.x_down ? place % SOLVE_TILE : place / TSL_PARAM_COLUMNS,
              col = given.x_down ? place / SOLVE_TILE : place % TSL_PARAM_COLUMNS;
    const int is_there = first + row < given.rows && first_col + col < given.cols;
    TSL_LOCAL_POINTER TSL_REAL *own = tile + row * X_LINE + col * PARTS;
    TSL_GLOBAL TSL_REAL *at = x + solve_place(given.x, first + row, first_col + col);
    for (int part = 0; part < PARTS; part++)
      if (!writes)
        own[part] = is_there ? at[part] : 0;
      else if (is_there)
        at[part] = own[part];
  }
}

/* A column of a tile. */
TSL_FUNCTION void solve_column(TSL_LOCAL_POINTER const TSL_REAL *block,
                               TSL_LOCAL_POINTER const TSL_REAL *inverse, TSL_LOCAL_POINTER TSL_REAL *tile) {
  TSL_REAL x[SOLVE_TILE * PARTS];
  TSL_UNROLL
  for (int i = 0; i < SOLVE_TILE; i++)
    for (int part = 0; part < PARTS; part++)
      x[i * PARTS + part] = tile[i * X_LINE + part];
  TSL_UNROLL
  for (int j = 0; j < SOLVE_TILE; j++) {
    TSL_LOCAL_POINTER const TSL_REAL *own = block + j * A_LINE + j * PARTS, *by = inverse + j * PARTS;
#ifdef TSL_COMPLEX
    const TSL_REAL real = x[2 * j], imaginary = x[2 * j + 1];
    if (by[0] == 0 && by[1] == 0) {
      solve_divide(x + 2 * j, own[0], own[1]);
    } else {
      x[2 * j] = real * by[0] - imaginary * by[1];
      x[2 * j + 1] = real * by[1] + imaginary * by[0];
    }
#else
    x[j] = by[0] == 0 ? x[j] / own[0] : x[j] * by[0];
#endif
    TSL_UNROLL
    for (int i = j + 1; i < SOLVE_TILE; i++) {
      TSL_LOCAL_POINTER const TSL_REAL *y = block + i * A_LINE + j * PARTS;
#ifdef TSL_COMPLEX
      x[2 * i] = TSL_FMA(-y[0], x[2 * j], TSL_FMA(y[1], x[2 * j + 1], x[2 * i]));
      x[2 * i + 1] = TSL_FMA(-y[0], x[2 * j + 1], TSL_FMA(-y[1], x[2 * j], x[2 * i + 1]));
#else
      x[i] = TSL_FMA(-y[0], x[j], x[i]);
#endif
    }
  }
  TSL_UNROLL
  for (int i = 0; i < SOLVE_TILE; i++)
    for (int part = 0; part < PARTS; part++)
      tile[i * X_LINE + part] = x[i * PARTS + part];
}

/* One element less its row of A times a tile's column. */
TSL_FUNCTION void solve_take_off(TSL_LOCAL_POINTER const TSL_REAL *line, const TSL_REAL *x, TSL_REAL *left) {
  TSL_UNROLL
  for (int j = 0; j < SOLVE_TILE * PARTS; j += LANES) {
    const TSL_VECTOR(TSL_REAL, LANES) y = TSL_LOCAL_LOAD(TSL_REAL, LANES, line + j);
#ifdef TSL_COMPLEX
    left[0] = TSL_FMA(-TSL_LANE(y, 0), x[j], TSL_FMA(TSL_LANE(y, 1), x[j + 1], left[0]));
    left[1] = TSL_FMA(-TSL_LANE(y, 0), x[j + 1], TSL_FMA(-TSL_LANE(y, 1), x[j], left[1]));
#if LANES == 4
    left[0] = TSL_FMA(-TSL_LANE(y, 2), x[j + 2], TSL_FMA(TSL_LANE(y, 3), x[j + 3], left[0]));
    left[1] = TSL_FMA(-TSL_LANE(y, 2), x[j + 3], TSL_FMA(-TSL_LANE(y, 3), x[j + 2], left[1]));
#endif
#else
    left[0] = TSL_FMA(-TSL_LANE(y, 0), x[j], left[0]);
    left[0] = TSL_FMA(-TSL_LANE(y, 1), x[j + 1], left[0]);
#if LANES == 4
    left[0] = TSL_FMA(-TSL_LANE(y, 2), x[j + 2], left[0]);
    left[0] = TSL_FMA(-TSL_LANE(y, 3), x[j + 3], left[0]);
#endif
#endif
  }
}

TSL_KERNEL(TSL_PARAM_COLUMNS, SOLVE_LINES, 1)
tsl_solve_block_of_rows(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL TSL_REAL *x,
                        const tsl_solve_block given) {
  TSL_LOCAL TSL_REAL block[TSL_PARAM_BLOCK * A_LINE];
  TSL_LOCAL TSL_REAL tile[SOLVE_TILE * X_LINE];
  TSL_LOCAL TSL_REAL inverse[SOLVE_TILE * PARTS];
  const int column = TSL_ITEM(0), line = TSL_ITEM(1), item = line * TSL_PARAM_COLUMNS + column;
  for (TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TSL_PARAM_COLUMNS; first_col < given.cols;
       first_col += (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_COLUMNS) {
    TSL_REAL left[ROWS * PARTS];
    TSL_UNROLL
    for (int i = 0; i < ROWS; i += SOLVE_TILE / SOLVE_LINES) {
      solve_carry(x, given, first_col, i * SOLVE_LINES, item, tile, 0);
      TSL_BARRIER();
      TSL_UNROLL
      for (int k = 0; k < (SOLVE_TILE / SOLVE_LINES) * PARTS; k++)
        left[i * PARTS + k] = tile[(k / PARTS * SOLVE_LINES + line) * X_LINE + column * PARTS + k % PARTS];
      TSL_BARRIER();
    }
    for (int first = 0; first < given.rows; first += SOLVE_TILE) {
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++)
        if (i * SOLVE_LINES >= first && i * SOLVE_LINES < first + SOLVE_TILE)
          for (int part = 0; part < PARTS; part++)
            tile[(i * SOLVE_LINES + line - first) * X_LINE + column * PARTS + part] = left[i * PARTS + part];
      solve_bring_a(a, given, first, item, block, inverse);
      TSL_BARRIER();
      if (line == 0)
        solve_column(block + first * A_LINE, inverse, tile + column * PARTS);
      TSL_BARRIER();
      TSL_REAL found[SOLVE_TILE * PARTS];
      TSL_UNROLL
      for (int j = 0; j < SOLVE_TILE * PARTS; j++)
        found[j] = tile[j / PARTS * X_LINE + column * PARTS + j % PARTS];
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++)
        if (i * SOLVE_LINES >= first + SOLVE_TILE)
          solve_take_off(block + (i * SOLVE_LINES + line) * A_LINE, found, left + i * PARTS);
      solve_carry(x, given, first_col, first, item, tile, 1);
      TSL_BARRIER();
    }
  }
}

/* To = alpha From; where alpha is 0, zeros, and nothing is read. Neighbouring items have neighbouring columns. */
TSL_KERNEL(SOLVE_COPY_ACROSS, SOLVE_COPY_LINES, 1)
tsl_solve_scaled(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *to, const tsl_solve_copy given,
                 const TSL_REAL real, const TSL_REAL imaginary) {
  const int is_zero = real == 0 && imaginary == 0;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < given.rows;
       row += (TSL_INDEX)TSL_GROUPS(1) * SOLVE_COPY_LINES)
    for (TSL_INDEX col = TSL_GLOBAL_ITEM(0); col < given.cols;
         col += (TSL_INDEX)TSL_GROUPS(0) * SOLVE_COPY_ACROSS) {
      TSL_GLOBAL TSL_REAL *own = to + solve_place(given.to, row, col);
      TSL_REAL value[PARTS] = {0};
      if (!is_zero) {
        TSL_GLOBAL const TSL_REAL *at = from + solve_place(given.from, row, col);
#ifdef TSL_COMPLEX
        value[0] = imaginary == 0 ? real * at[0] : real * at[0] - imaginary * at[1];
        value[1] = imaginary == 0 ? real * at[1] : real * at[1] + imaginary * at[0];
#else
        value[0] = real * at[0];
#endif
      }
      for (int part = 0; part < PARTS; part++)
        own[part] = value[part];
    }
}
