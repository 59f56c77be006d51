/* Tiles of a transpose in local memory, and their order. The includer defines TSL_TILE (elements of an edge),
 * TSL_TILE_ITEMS (items of a group) and TSL_TILE_BAND (tiles); TSL_TILE and TSL_TILE_BAND are powers of two.
 *
 *   the tiles of C, three of a band:     in place, the triangle of tiles folded to a rectangle:
 *
 *     0  3  6 | ...                        row 0 of 4:  0 | 3 3 3 3     a tile of the triangle and its mirror
 *     1  4  7 |                            row 1 of 4:  1 1 | 2 2 2     image belong to one group
 *     2  5  8 |
 *     ---------
 *     next band
 *
 * Concurrent groups then own a region of C about as high as wide, and whole pages of A and C. */
#ifndef TSL_KERNEL_TRANSPOSE_TILE_H
#define TSL_KERNEL_TRANSPOSE_TILE_H

#include "kernel_transpose.h"

/* Elements of an item, and elements that it reads before it stores the first. */
#define TSL_TILE_EACH (TSL_TILE * TSL_TILE / TSL_TILE_ITEMS)
#define TSL_TILE_AHEAD (TSL_TILE_EACH < 4 ? TSL_TILE_EACH : 4)

/* Tile of C: its first element, and the rows and columns that are inside of C. */
typedef struct tsl_tile {
  TSL_INDEX row, col;
  int rows, cols;
} tsl_tile;

/* Returns an element's index in local memory. Rows are rotated by their number: no bank conflicts. */
TSL_FUNCTION int tsl_tile_local_index(int row, int col) {
  return row * TSL_TILE + ((row + col) & (TSL_TILE - 1));
}

TSL_FUNCTION int tsl_tile_size_from(TSL_INDEX first, TSL_INDEX count) {
  return count - first < TSL_TILE ? (int)(count - first) : TSL_TILE;
}

/* Returns the tile with the numbers (tile_row, tile_col), cut at the edges of C. */
TSL_FUNCTION tsl_tile tsl_tile_inside(TSL_INDEX tile_row, TSL_INDEX tile_col,
                                      const tsl_transpose_arguments g) {
  tsl_tile tile;
  tile.row = tile_row * TSL_TILE;
  tile.col = tile_col * TSL_TILE;
  tile.rows = tsl_tile_size_from(tile.row, g.m);
  tile.cols = tsl_tile_size_from(tile.col, g.n);
  return tile;
}

TSL_FUNCTION TSL_INDEX tsl_tile_count(TSL_INDEX elements) {
  return (elements + TSL_TILE - 1) / TSL_TILE;
}

/* Returns the binary logarithm of the band, at most the rows of tiles. */
TSL_FUNCTION int tsl_tile_band_shift(TSL_INDEX rows) {
  int shift = 0;
  while ((1 << shift) < TSL_TILE_BAND && ((TSL_INDEX)1 << shift) < rows)
    shift++;
  return shift;
}

/* Gets the grid of groups, `wide` x `tall`. In place, only tiles with row >= col have a group. */
#ifdef TSL_IN_PLACE
TSL_FUNCTION void tsl_tile_grid(const tsl_transpose_arguments g, TSL_INDEX *wide, TSL_INDEX *tall) {
  const TSL_INDEX tiles = tsl_tile_count(g.m);
  const int shift = tsl_tile_band_shift(tiles);
  const TSL_INDEX blocks =
      (tiles + (1 << shift) - 1) >> shift; /* blocks of a band's edge, which are folded in turn */
  *wide = (blocks + 1) << 2 * shift;
  *tall = (blocks + 1) / 2;
}

/* Gets the numbers of the tile of group (x, y) of the grid; false: it has none. */
TSL_FUNCTION bool tsl_tile_of_group(const tsl_transpose_arguments g, TSL_INDEX x, TSL_INDEX y, TSL_INDEX *row,
                                    TSL_INDEX *col) {
  const TSL_INDEX tiles = tsl_tile_count(g.m);
  const int shift = tsl_tile_band_shift(tiles), within = (int)(x & ((1 << 2 * shift) - 1));
  const TSL_INDEX blocks = (tiles + (1 << shift) - 1) >> shift, position = x >> 2 * shift;
  const bool is_first = position <= y;
  const TSL_INDEX block_row = is_first ? y : blocks - 1 - y,
                  block_col = is_first ? position : position - y - 1;
  *row = (block_row << shift) + (within >> shift);
  *col = (block_col << shift) + (within & ((1 << shift) - 1));
  return *row < tiles && *col <= *row && (is_first || block_row != y);
}
#else
TSL_FUNCTION void tsl_tile_grid(const tsl_transpose_arguments g, TSL_INDEX *wide, TSL_INDEX *tall) {
  const TSL_INDEX rows = tsl_tile_count(g.m);
  const int shift = tsl_tile_band_shift(rows);
  *wide = tsl_tile_count(g.n) << shift;
  *tall = (rows + (1 << shift) - 1) >> shift;
}

TSL_FUNCTION bool tsl_tile_of_group(const tsl_transpose_arguments g, TSL_INDEX x, TSL_INDEX y, TSL_INDEX *row,
                                    TSL_INDEX *col) {
  const TSL_INDEX rows = tsl_tile_count(g.m);
  const int shift = tsl_tile_band_shift(rows);
  *row = (y << shift) + (x & ((1 << shift) - 1));
  *col = x >> shift;
  return *row < rows;
}
#endif

/* Loads the transposed, scaled tile into local memory, along the smaller stride of A. */
TSL_FUNCTION void tsl_tile_load(TSL_LOCAL_POINTER tsl_element *transposed, TSL_GLOBAL const tsl_element *a,
                                const tsl_tile tile, const tsl_transpose_arguments g) {
  const TSL_INDEX down = g.a_col_stride,
                  across = g.a_row_stride; /* strides of A along the tile's rows and columns */
  const bool by_rows = (across < 0 ? -across : across) < (down < 0 ? -down : down);
  TSL_GLOBAL const tsl_element *from = a + g.a_offset + tile.row * down + tile.col * across;
  for (int first = TSL_ITEM(0); first < TSL_TILE * TSL_TILE; first += TSL_TILE_AHEAD * TSL_TILE_ITEMS) {
    tsl_element held[TSL_TILE_AHEAD];
    TSL_UNROLL
    for (int i = 0; i < TSL_TILE_AHEAD; i++) {
      const int e = first + i * TSL_TILE_ITEMS, line = e / TSL_TILE, position = e % TSL_TILE;
      const int row = by_rows ? line : position, col = by_rows ? position : line;
      /* indices are clamped to the matrix; the extra elements are never stored */
      held[i] = TSL_MOVED(from[(row < tile.rows ? row : tile.rows - 1) * down +
                               (col < tile.cols ? col : tile.cols - 1) * across]);
    }
    TSL_UNROLL
    for (int i = 0; i < TSL_TILE_AHEAD; i++) {
      const int e = first + i * TSL_TILE_ITEMS, line = e / TSL_TILE, position = e % TSL_TILE;
      transposed[by_rows ? tsl_tile_local_index(line, position) : tsl_tile_local_index(position, line)] =
          held[i];
    }
  }
}

TSL_FUNCTION void tsl_tile_store(const TSL_LOCAL_POINTER tsl_element *transposed, TSL_GLOBAL tsl_element *c,
                                 const tsl_tile tile, const tsl_transpose_arguments g) {
  TSL_GLOBAL tsl_element *to = c + g.c_offset + tile.row * g.c_row_stride + tile.col * g.c_col_stride;
  TSL_UNROLL_BY(4)
  for (int i = 0; i < TSL_TILE_EACH; i++) {
    const int e = TSL_ITEM(0) + i * TSL_TILE_ITEMS, row = e / TSL_TILE, col = e % TSL_TILE;
    if (row < tile.rows && col < tile.cols)
      to[row * g.c_row_stride + col * g.c_col_stride] = transposed[tsl_tile_local_index(row, col)];
  }
}

#endif
