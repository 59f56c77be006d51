/* Idea: substitution by blocks. A kernel solves for a block of rows, one group for each panel of columns.
 * The solved block is then subtracted from rows below by general products of the device
 * (strategy/subplans.h). So nearly all work is as fast as these products. Beyond `sequential`:
 * columns are solved in parallel, with rows in registers; the rest is a product.
 *
 *      block                  n columns     after block i (from 1), which 2^v divides, the next 2^v blocks of
 *    +------+               +---+---+---+   rows are reduced by the last 2^v solved blocks. Products are
 *    |\ 1   |               | x |   |   |   larger than one block, and of few shapes, each with a plan
 *    +------+               +---+---+---+
 *    | a |\ 2               | x |   |   |       1      2      3      4   ...
 *    +------+------+        +---+---+---+         a          a
 *    |      b      |\ 3     | x |   |   |               b
 *    |             | a \4   | x |   |   |
 *
 *   a block, a panel for each group: rows y, y + 8, ... of a column are in registers of item (column, y)
 *     +---+                tile by tile:  the tile's rows and the columns of A below go to local memory;
 *     |\t |                               each item of the first line solves a column;
 *     | a |\                              all items subtract A times the tile from lower rows.
 *
 * No inverse of a block is used: its error grows with the block's condition. Each element of X is the sum of
 * its row and one quotient, or a product by a reciprocal far from overflow and underflow.
 *
 * Parameters: TSL_PARAM_BLOCK, rows of a block, TSL_PARAM_COLUMNS, columns of a panel. Local memory: BLOCK x
 * 16 elements of A, 16 x COLUMNS of X, padded. From the host: TSL_REAL; TSL_COMPLEX: an element is two. */
#include "dialect.h"

#include "device_blocked_shared.h"

#ifdef TSL_COMPLEX
#define PARTS 2
#else
#define PARTS 1
#endif
/* Numbers of a 16-byte load from local memory. */
#ifdef TSL_REAL_IS_DOUBLE
#define LANES 2
#define SMALL 0x1p-1000
#define LARGE 0x1p+1000
#else
#define LANES 4
#define SMALL 0x1p-120f
#define LARGE 0x1p+120f
#endif

#define ACROSS SOLVE_ACROSS(TSL_PARAM_COLUMNS)
#define LINES (SOLVE_ITEMS / ACROSS)
#define ITEM_COLUMNS (TSL_PARAM_COLUMNS / ACROSS)
#define ITEM_ROWS (TSL_PARAM_BLOCK / LINES)
#define ITEM_ROWS_TOGETHER (ITEM_ROWS % 2 == 0 ? 2 : 1)
#define A_LINE_NUMBERS (SOLVE_TILE * PARTS + LANES)
#define X_LINE_NUMBERS ((TSL_PARAM_COLUMNS + 1) * PARTS)
#define A_LOADS_OF_ITEM (TSL_PARAM_BLOCK * SOLVE_TILE / SOLVE_ITEMS)
/* Rows of X that fit the local memory of A's tiles at a time, and the elements that an item loads. */
#define PASS (TSL_PARAM_COLUMNS > 16 ? TSL_PARAM_BLOCK * 16 / TSL_PARAM_COLUMNS : TSL_PARAM_BLOCK)
#define PASSES (TSL_PARAM_BLOCK / PASS)
#define X_ROUNDS (PASS * TSL_PARAM_COLUMNS / SOLVE_ITEMS)
#define OUT_ROUNDS ((SOLVE_TILE * TSL_PARAM_COLUMNS + SOLVE_ITEMS - 1) / SOLVE_ITEMS)
#define ELEMENTS_OF_LOAD (LANES / PARTS)

TSL_FUNCTION TSL_INDEX solve_number_at(tsl_solve_side side, TSL_INDEX row, TSL_INDEX col) {
  return (side.offset + row * side.row_stride + col * side.col_stride) * PARTS;
}

TSL_FUNCTION TSL_REAL solve_magnitude(TSL_REAL x) {
  return x < 0 ? -x : x;
}

#ifdef TSL_COMPLEX
/* Divides z by a complex number, scaled by its larger part (Smith 1962). */
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

/* Stores the reciprocal, or 0 if it may overflow or underflow: such tiles divide. */
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

/* Loads of an item at regular addresses, all issued together. */
typedef struct solve_walk {
  TSL_GLOBAL TSL_REAL *at;  /* first number */
  TSL_INDEX step;           /* numbers from load to load */
  int row, col, rows, cols; /* first element's position in the panel; distance from load to load */
} solve_walk;

/* Returns an item's walk over `high` rows and `wide` columns; neighbours have contiguous addresses. */
TSL_FUNCTION solve_walk solve_walk_over(TSL_GLOBAL TSL_REAL *from, tsl_solve_side side, int down, int item,
                                        int high, int wide) {
  solve_walk walk;
  walk.row = down ? item % high : item / wide;
  walk.col = down ? item / high : item % wide;
  walk.rows = down ? 0 : SOLVE_ITEMS / wide;
  walk.cols = down ? SOLVE_ITEMS / high : 0;
  walk.at = from + solve_number_at(side, walk.row, walk.col);
  walk.step = (walk.rows * side.row_stride + walk.cols * side.col_stride) * PARTS;
  return walk;
}

/* Loads columns first to first + 16 of A, from row `first` on, without elements outside of the triangle. */
TSL_FUNCTION void solve_load_a(const solve_walk walk, const tsl_solve_block block, int first,
                               TSL_REAL *staged) {
  TSL_GLOBAL const TSL_REAL *from = walk.at + first * block.a.col_stride * PARTS;
  TSL_UNROLL
  for (int round = 0; round < A_LOADS_OF_ITEM; round++) {
    const int row = walk.row + round * walk.rows, col = first + walk.col + round * walk.cols;
    const int is_there = row < block.rows && (row > col || (row == col && !block.is_unit));
    TSL_GLOBAL const TSL_REAL *at = from + round * walk.step;
    for (int part = 0; part < PARTS; part++)
      staged[round * PARTS + part] = is_there ? at[part] : 0;
  }
}

/* Stores staged columns in local memory, with ones for an unstored diagonal. */
TSL_FUNCTION void solve_stage_a(const solve_walk walk, const tsl_solve_block solve_block, int first,
                                const TSL_REAL *staged, TSL_LOCAL_POINTER TSL_REAL *block) {
  TSL_UNROLL
  for (int round = 0; round < A_LOADS_OF_ITEM; round++) {
    const int row = walk.row + round * walk.rows, col = walk.col + round * walk.cols;
    const int is_one = row == first + col && (solve_block.is_unit || row >= solve_block.rows);
    TSL_LOCAL_POINTER TSL_REAL *own = block + row * A_LINE_NUMBERS + col * PARTS;
    own[0] = is_one ? 1 : staged[round * PARTS];
#ifdef TSL_COMPLEX
    own[1] = solve_block.conjugates ? -staged[2 * round + 1] : staged[2 * round + 1];
#endif
  }
}

/* Computes the diagonal's reciprocals, one an item, and for each tile a flag that some are unusable. */
TSL_FUNCTION void solve_invert_all(TSL_GLOBAL const TSL_REAL *a, const tsl_solve_block block, int item,
                                   TSL_LOCAL_POINTER TSL_REAL *inverse, TSL_LOCAL_POINTER int *divides) {
  if (item >= TSL_PARAM_BLOCK)
    return;
  TSL_REAL diagonal[PARTS] = {1};
  if (!block.is_unit && item < block.rows) {
    TSL_GLOBAL const TSL_REAL *at = a + solve_number_at(block.a, item, item);
    diagonal[0] = at[0];
#ifdef TSL_COMPLEX
    diagonal[1] = block.conjugates ? -at[1] : at[1];
#endif
  }
  TSL_LOCAL_POINTER TSL_REAL *own = inverse + item * PARTS;
  solve_invert(diagonal, own);
#ifdef TSL_COMPLEX
  if (own[0] == 0 && own[1] == 0)
#else
  if (own[0] == 0)
#endif
    divides[item / SOLVE_TILE] = 1;
}

TSL_FUNCTION void solve_load_x(const solve_walk walk, const tsl_solve_block block, TSL_INDEX first_col,
                               TSL_REAL *staged) {
  TSL_UNROLL
  for (int round = 0; round < PASSES * X_ROUNDS; round++) {
    const int pass = round / X_ROUNDS, step = round % X_ROUNDS;
    const int row = pass * PASS + walk.row + step * walk.rows, col = walk.col + step * walk.cols;
    const int is_there = row < block.rows && first_col + col < block.cols;
    TSL_GLOBAL const TSL_REAL *at = walk.at + pass * PASS * block.x.row_stride * PARTS + step * walk.step;
    for (int part = 0; part < PARTS; part++)
      staged[round * PARTS + part] = is_there ? at[part] : 0;
  }
}

/* Moves loaded rows of X through local memory to the items that own them, into `left`. */
TSL_FUNCTION void solve_distribute_x(const solve_walk walk, int line, int across, const TSL_REAL *staged,
                                     TSL_LOCAL_POINTER TSL_REAL *staging, TSL_REAL *left) {
  TSL_UNROLL
  for (int pass = 0; pass < PASSES; pass++) {
    TSL_UNROLL
    for (int round = 0; round < X_ROUNDS; round++)
      for (int part = 0; part < PARTS; part++)
        staging[(walk.row + round * walk.rows) * X_LINE_NUMBERS + (walk.col + round * walk.cols) * PARTS +
                part] = staged[(pass * X_ROUNDS + round) * PARTS + part];
    TSL_BARRIER();
    TSL_UNROLL
    for (int i = 0; i < ITEM_ROWS; i++) {
      const int row = i * LINES + line - pass * PASS;
      if (row >= 0 && row < PASS)
        for (int k = 0; k < ITEM_COLUMNS * PARTS; k++)
          left[i * ITEM_COLUMNS * PARTS + k] =
              staging[row * X_LINE_NUMBERS + (across + k / PARTS * ACROSS) * PARTS + k % PARTS];
    }
    TSL_BARRIER();
  }
}

TSL_FUNCTION void solve_store_x(const solve_walk walk, const tsl_solve_block block, TSL_INDEX first_col,
                                int first, TSL_LOCAL_POINTER const TSL_REAL *tile) {
  TSL_GLOBAL TSL_REAL *to = walk.at + first * block.x.row_stride * PARTS;
  TSL_UNROLL
  for (int round = 0; round < OUT_ROUNDS; round++) {
    const int row = walk.row + round * walk.rows, col = walk.col + round * walk.cols;
    if (row < SOLVE_TILE && col < TSL_PARAM_COLUMNS && first + row < block.rows &&
        first_col + col < block.cols)
      for (int part = 0; part < PARTS; part++)
        to[round * walk.step + part] = tile[row * X_LINE_NUMBERS + col * PARTS + part];
  }
}

TSL_FUNCTION void solve_subtract_product(const TSL_REAL *y, const TSL_REAL *x, TSL_REAL *left) {
#ifdef TSL_COMPLEX
  left[0] = TSL_FMA(-y[0], x[0], TSL_FMA(y[1], x[1], left[0]));
  left[1] = TSL_FMA(-y[0], x[1], TSL_FMA(-y[1], x[0], left[1]));
#else
  left[0] = TSL_FMA(-y[0], x[0], left[0]);
#endif
}

TSL_FUNCTION void solve_load_lanes(TSL_LOCAL_POINTER const TSL_REAL *src, TSL_REAL *y) {
  const TSL_VECTOR(TSL_REAL, LANES) loaded = TSL_LOCAL_LOAD(TSL_REAL, LANES, src);
  y[0] = TSL_LANE(loaded, 0);
  y[1] = TSL_LANE(loaded, 1);
#if LANES == 4
  y[2] = TSL_LANE(loaded, 2);
  y[3] = TSL_LANE(loaded, 3);
#endif
}

TSL_FUNCTION void solve_multiply_by_inverse(TSL_LOCAL_POINTER const TSL_REAL *by, TSL_REAL *x) {
#ifdef TSL_COMPLEX
  const TSL_REAL real = x[0], imaginary = x[1];
  x[0] = real * by[0] - imaginary * by[1];
  x[1] = real * by[1] + imaginary * by[0];
#else
  x[0] = x[0] * by[0];
#endif
}

/* Solves one column of a tile in local memory with the tile's triangle, by reciprocals. */
TSL_FUNCTION void solve_column(TSL_LOCAL_POINTER const TSL_REAL *block,
                               TSL_LOCAL_POINTER const TSL_REAL *inverse, TSL_LOCAL_POINTER TSL_REAL *tile) {
  TSL_REAL x[SOLVE_TILE * PARTS];
  TSL_UNROLL
  for (int i = 0; i < SOLVE_TILE * PARTS; i++)
    x[i] = tile[i / PARTS * X_LINE_NUMBERS + i % PARTS];
  TSL_UNROLL
  for (int j = 0; j < SOLVE_TILE; j += ELEMENTS_OF_LOAD) {
    TSL_REAL y[SOLVE_TILE * LANES];
    TSL_UNROLL
    for (int i = j; i < SOLVE_TILE; i++)
      solve_load_lanes(block + i * A_LINE_NUMBERS + j * PARTS, y + i * LANES);
    TSL_UNROLL
    for (int k = 0; k < ELEMENTS_OF_LOAD; k++) {
      solve_multiply_by_inverse(inverse + (j + k) * PARTS, x + (j + k) * PARTS);
      TSL_UNROLL
      for (int i = j; i < SOLVE_TILE; i++)
        if (i > j + k)
          solve_subtract_product(y + i * LANES + k * PARTS, x + (j + k) * PARTS, x + i * PARTS);
    }
  }
  TSL_UNROLL
  for (int i = 0; i < SOLVE_TILE * PARTS; i++)
    tile[i / PARTS * X_LINE_NUMBERS + i % PARTS] = x[i];
}

/* Solves one column where some diagonal elements have no reciprocal: rare and slow. */
TSL_FUNCTION void solve_column_by_quotients(TSL_LOCAL_POINTER const TSL_REAL *block,
                                            TSL_LOCAL_POINTER const TSL_REAL *inverse,
                                            TSL_LOCAL_POINTER TSL_REAL *tile) {
  TSL_UNROLL_BY(1)
  for (int j = 0; j < SOLVE_TILE; j++) {
    TSL_LOCAL_POINTER const TSL_REAL *by = inverse + j * PARTS, *own = block + j * A_LINE_NUMBERS + j * PARTS;
    TSL_REAL x[PARTS];
    for (int part = 0; part < PARTS; part++)
      x[part] = tile[j * X_LINE_NUMBERS + part];
#ifdef TSL_COMPLEX
    if (by[0] == 0 && by[1] == 0)
      solve_divide(x, own[0], own[1]);
#else
    if (by[0] == 0)
      x[0] = x[0] / own[0];
#endif
    else
      solve_multiply_by_inverse(by, x);
    for (int part = 0; part < PARTS; part++)
      tile[j * X_LINE_NUMBERS + part] = x[part];
    TSL_UNROLL_BY(1)
    for (int i = j + 1; i < SOLVE_TILE; i++) {
      TSL_REAL y[PARTS], left[PARTS];
      for (int part = 0; part < PARTS; part++) {
        y[part] = block[i * A_LINE_NUMBERS + j * PARTS + part];
        left[part] = tile[i * X_LINE_NUMBERS + part];
      }
      solve_subtract_product(y, x, left);
      for (int part = 0; part < PARTS; part++)
        tile[i * X_LINE_NUMBERS + part] = left[part];
    }
  }
}

/* Subtracts rows of A times a tile's columns from an item's sums, of which solved rows are not used. */
TSL_FUNCTION void solve_subtract_tile(TSL_LOCAL_POINTER const TSL_REAL *line, const TSL_REAL *found,
                                      TSL_REAL *left) {
  TSL_UNROLL
  for (int j = 0; j < SOLVE_TILE; j += ELEMENTS_OF_LOAD) {
    TSL_REAL y[ITEM_ROWS_TOGETHER * LANES];
    TSL_UNROLL
    for (int i = 0; i < ITEM_ROWS_TOGETHER; i++)
      solve_load_lanes(line + i * LINES * A_LINE_NUMBERS + j * PARTS, y + i * LANES);
    TSL_UNROLL
    for (int k = 0; k < ELEMENTS_OF_LOAD; k++)
      TSL_UNROLL
    for (int i = 0; i < ITEM_ROWS_TOGETHER; i++)
      TSL_UNROLL
    for (int wide = 0; wide < ITEM_COLUMNS; wide++)
      solve_subtract_product(y + i * LANES + k * PARTS, found + ((j + k) * ITEM_COLUMNS + wide) * PARTS,
                             left + (i * ITEM_COLUMNS + wide) * PARTS);
  }
}

TSL_KERNEL(ACROSS, LINES, 1)
tsl_solve_block_of_rows(TSL_GLOBAL TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL TSL_REAL *x,
                        const tsl_solve_block solve_block) {
  TSL_LOCAL TSL_REAL block[TSL_PARAM_BLOCK * A_LINE_NUMBERS];
  TSL_LOCAL TSL_REAL tile[SOLVE_TILE * X_LINE_NUMBERS];
  TSL_LOCAL TSL_REAL inverse[TSL_PARAM_BLOCK * PARTS];
  TSL_LOCAL int divides[TSL_PARAM_BLOCK / SOLVE_TILE];
  const int across = TSL_ITEM(0), line = TSL_ITEM(1), item = line * ACROSS + across;
  const solve_walk walk_a =
      solve_walk_over(a, solve_block.a, solve_block.a_down, item, TSL_PARAM_BLOCK, SOLVE_TILE);
  for (TSL_INDEX first_col = (TSL_INDEX)TSL_GROUP(0) * TSL_PARAM_COLUMNS; first_col < solve_block.cols;
       first_col += (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_COLUMNS) {
    TSL_GLOBAL TSL_REAL *panel = x + first_col * solve_block.x.col_stride * PARTS;
    const solve_walk walk_out =
        solve_walk_over(panel, solve_block.x, solve_block.x_down, item, SOLVE_TILE, TSL_PARAM_COLUMNS);
    TSL_REAL left[ITEM_ROWS * ITEM_COLUMNS * PARTS], staged_a[A_LOADS_OF_ITEM * PARTS];
    if (item < TSL_PARAM_BLOCK / SOLVE_TILE)
      divides[item] = 0;
    {
      const solve_walk walk_x =
          solve_walk_over(panel, solve_block.x, solve_block.x_down, item, PASS, TSL_PARAM_COLUMNS);
      TSL_REAL staged[PASSES * X_ROUNDS * PARTS];
      solve_load_x(walk_x, solve_block, first_col, staged);
      solve_load_a(walk_a, solve_block, 0, staged_a);
      solve_distribute_x(walk_x, line, across, staged, block, left);
    }
    solve_invert_all(a, solve_block, item, inverse, divides);
    for (int first = 0; first < solve_block.rows; first += SOLVE_TILE) {
      TSL_UNROLL
      for (int i = 0; i < ITEM_ROWS; i++) {
        const int row = i * LINES + line - first;
        if (row >= 0 && row < SOLVE_TILE)
          for (int k = 0; k < ITEM_COLUMNS * PARTS; k++)
            tile[row * X_LINE_NUMBERS + (across + k / PARTS * ACROSS) * PARTS + k % PARTS] =
                left[i * ITEM_COLUMNS * PARTS + k];
      }
      solve_stage_a(walk_a, solve_block, first, staged_a, block);
      TSL_BARRIER();
      if (first + SOLVE_TILE < solve_block.rows)
        solve_load_a(walk_a, solve_block, first + SOLVE_TILE, staged_a);
      if (item < TSL_PARAM_COLUMNS) {
        if (divides[first / SOLVE_TILE])
          solve_column_by_quotients(block + first * A_LINE_NUMBERS, inverse + first * PARTS,
                                    tile + item * PARTS);
        else
          solve_column(block + first * A_LINE_NUMBERS, inverse + first * PARTS, tile + item * PARTS);
      }
      TSL_BARRIER();
      TSL_REAL found[SOLVE_TILE * ITEM_COLUMNS * PARTS];
      TSL_UNROLL
      for (int j = 0; j < SOLVE_TILE * ITEM_COLUMNS * PARTS; j++)
        found[j] = tile[j / (ITEM_COLUMNS * PARTS) * X_LINE_NUMBERS +
                        (across + j / PARTS % ITEM_COLUMNS * ACROSS) * PARTS + j % PARTS];
      TSL_UNROLL
      for (int i = 0; i < ITEM_ROWS; i += ITEM_ROWS_TOGETHER)
        if ((i + ITEM_ROWS_TOGETHER) * LINES > first + SOLVE_TILE)
          solve_subtract_tile(block + (i * LINES + line) * A_LINE_NUMBERS, found,
                              left + i * ITEM_COLUMNS * PARTS);
      solve_store_x(walk_out, solve_block, first_col, first, tile);
      TSL_BARRIER();
    }
  }
}

/* Stores To = alpha From; zeros where alpha is 0, and From is then not read. */
TSL_KERNEL(SOLVE_COPY_ACROSS, SOLVE_COPY_LINES, 1)
tsl_solve_scaled(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *dst, const tsl_solve_copy copy,
                 const TSL_REAL real, const TSL_REAL imaginary) {
  const int is_zero = real == 0 && imaginary == 0;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < copy.rows;
       row += (TSL_INDEX)TSL_GROUPS(1) * SOLVE_COPY_LINES)
    for (TSL_INDEX col = TSL_GLOBAL_ITEM(0); col < copy.cols;
         col += (TSL_INDEX)TSL_GROUPS(0) * SOLVE_COPY_ACROSS) {
      TSL_GLOBAL TSL_REAL *own = dst + solve_number_at(copy.to, row, col);
      TSL_REAL value[PARTS] = {0};
      if (!is_zero) {
        TSL_GLOBAL const TSL_REAL *at = from + solve_number_at(copy.from, row, col);
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
