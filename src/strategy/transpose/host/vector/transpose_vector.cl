/* Idea: sixteen bytes at a time on both sides. An item reads a small block: one vector from each of as
 * many rows as a vector has elements. It transposes the block in registers and stores it in local memory
 * as vectors. From there whole rows of C are written as vectors. Beyond `tile_local`: a fourth
 * (f32) to a sixteenth (i8) of the accesses to either memory, and sixteen bytes in flight for each; tiles
 * in an order that keeps reads and writes within few pages.
 *
 *      A's rows            registers            local memory, a tile of EDGE vectors each way
 *                x                                row r of C's block x
 *          +--+------+--+                           block 0   | 0  1  2  3 |  vector y of a row of block x
 *        y |  |a b c |  |  a d g     transposed,        block 1   | 1  0  3  2 |  is at y ^ x: no bank clash
 *          |  |d e f |  |  b e h     then stored        block 2   | 2  3  0  1 |  between neighbouring items,
 *          |  |g h i |  |  c f i     as rows        block 3   | 3  2  1  0 |  neither in the stores nor in
 *          +--+------+--+                                                        the loads
 *
 * Elements of one and two bytes are transposed within words of four by masks and shifts, blocks of words like
 * f32. In place, a group owns a tile and its mirror image. Parameters: TSL_PARAM_EDGE, vectors along a tile's
 * edge (EDGE x 16 bytes); TSL_PARAM_BLOCKS, blocks of an item: EDGE x EDGE / BLOCKS items a group;
 * TSL_PARAM_BAND, tiles of a band (transpose_tile.h). Local memory: a tile, in place two. Any sizes and
 * strides: partial tiles, unaligned rows and strided elements are moved one by one. Little-endian. */
#if defined(TSL_REAL_IS_DOUBLE)
#define BYTES 8
#elif defined(TSL_REAL)
#define BYTES 4
#else
#define BYTES TSL_MOVED_BYTES
#endif
#define WIDTH (16 / BYTES) /* elements of a vector, rows of a block */
#define EDGE TSL_PARAM_EDGE
#define TSL_TILE (EDGE * WIDTH)
#define TSL_TILE_ITEMS (EDGE * EDGE / TSL_PARAM_BLOCKS)
#define TSL_TILE_BAND TSL_PARAM_BAND
#include "transpose_tile.h"

#if defined(TSL_REAL)
#define WORD TSL_REAL
#elif BYTES >= 8
#define WORD TSL_INDEX
#else
#define WORD int
#endif
#if BYTES >= 8
#define LANES 2
#else
#define LANES 4
#endif
#define VECTOR TSL_VECTOR(WORD, LANES)
#define VECTORS_OF_TILE (TSL_TILE * EDGE)

#ifdef TSL_IN_PLACE
#define TILES 2
#else
#define TILES 1
#endif

#if BYTES == 8
TSL_FUNCTION void transpose_block(VECTOR *block) {
  const WORD kept = TSL_LANE(block[0], 1);
  TSL_LANE(block[0], 1) = TSL_LANE(block[1], 0);
  TSL_LANE(block[1], 0) = kept;
}
#elif BYTES < 8
#define ELEMENTS_OF_WORD (4 / BYTES)
#if ELEMENTS_OF_WORD == 1
#define TRANSPOSE_WORDS(w)
#elif ELEMENTS_OF_WORD == 2
#define TRANSPOSE_WORDS(w) exchange_masked(w, w + LANES, 0xffffu, 16)
#else
#define TRANSPOSE_WORDS(w) transpose_four_words(w)
#endif

#if ELEMENTS_OF_WORD > 1
/* Exchanges a's elements at `mask` << shift with b's elements at `mask`. */
TSL_FUNCTION void exchange_masked(WORD *a, WORD *b, unsigned mask, int shift) {
  const unsigned upper = (unsigned)*a, lower = (unsigned)*b;
  *a = (WORD)((upper & mask) | (lower & mask) << shift);
  *b = (WORD)((upper >> shift & mask) | (lower & ~mask));
}

TSL_FUNCTION void transpose_four_words(WORD *w) {
  exchange_masked(w, w + 2 * LANES, 0xffffu, 16);
  exchange_masked(w + LANES, w + 3 * LANES, 0xffffu, 16);
  exchange_masked(w, w + LANES, 0xff00ffu, 8);
  exchange_masked(w + 2 * LANES, w + 3 * LANES, 0xff00ffu, 8);
}
#endif

/* Transposes a block: squares of ELEMENTS_OF_WORD words in themselves, then the squares. */
TSL_FUNCTION void transpose_block(VECTOR *block) {
  WORD w[WIDTH * LANES];
  TSL_UNROLL
  for (int r = 0; r < WIDTH; r++) {
    w[r * LANES] = TSL_LANE(block[r], 0);
    w[r * LANES + 1] = TSL_LANE(block[r], 1);
    w[r * LANES + 2] = TSL_LANE(block[r], 2);
    w[r * LANES + 3] = TSL_LANE(block[r], 3);
  }
  TSL_UNROLL
  for (int square = 0; square < 4 * LANES; square++)
    TRANSPOSE_WORDS(w + square / LANES * (ELEMENTS_OF_WORD * LANES) + square % LANES);
  TSL_UNROLL
  for (int r = 0; r < WIDTH; r++) {
    const int from = r % ELEMENTS_OF_WORD * LANES + r / ELEMENTS_OF_WORD;
    TSL_LANE(block[r], 0) = w[from];
    TSL_LANE(block[r], 1) = w[from + ELEMENTS_OF_WORD * LANES];
    TSL_LANE(block[r], 2) = w[from + 2 * ELEMENTS_OF_WORD * LANES];
    TSL_LANE(block[r], 3) = w[from + 3 * ELEMENTS_OF_WORD * LANES];
  }
}
#else
TSL_FUNCTION void transpose_block(VECTOR *block) {}
#endif

TSL_FUNCTION bool is_aligned(TSL_GLOBAL const tsl_element *start, TSL_INDEX stride) {
  return ((TSL_INDEX)start & 15) == 0 && stride % WIDTH == 0;
}

TSL_FUNCTION bool has_vectors(TSL_GLOBAL const tsl_element *a, TSL_GLOBAL const tsl_element *c,
                              const tsl_transpose_arguments g) {
  return g.a_col_stride == 1 && g.c_col_stride == 1 && is_aligned(a + g.a_offset, g.a_row_stride) &&
         is_aligned(c + g.c_offset, g.c_row_stride);
}

TSL_FUNCTION VECTOR load_scaled_vector(TSL_GLOBAL const tsl_element *from, const tsl_transpose_arguments g) {
#ifdef TSL_REAL
  if (g.alpha == 0)
    return TSL_SPLAT(WORD, LANES, (WORD)0);
  return TSL_SPLAT(WORD, LANES, g.alpha) * TSL_LOAD_ALIGNED(WORD, LANES, (TSL_GLOBAL const WORD *)from);
#else
  return TSL_LOAD_ALIGNED(WORD, LANES, (TSL_GLOBAL const WORD *)from);
#endif
}

/* Loads a whole transposed tile into local memory. All vectors of an item are in flight at once. */
TSL_FUNCTION void load_tile(TSL_LOCAL_POINTER WORD *transposed, TSL_GLOBAL const tsl_element *a,
                            const tsl_tile tile, const tsl_transpose_arguments g) {
  VECTOR block[TSL_PARAM_BLOCKS][WIDTH];
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_BLOCKS; i++) {
    const int index = TSL_ITEM(0) + i * TSL_TILE_ITEMS, x = index % EDGE, y = index / EDGE;
    TSL_GLOBAL const tsl_element *from =
        a + g.a_offset + (tile.col + y * WIDTH) * g.a_row_stride + tile.row + x * WIDTH;
    TSL_UNROLL
    for (int r = 0; r < WIDTH; r++)
      block[i][r] = load_scaled_vector(from + r * g.a_row_stride, g);
  }
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_BLOCKS; i++) {
    const int index = TSL_ITEM(0) + i * TSL_TILE_ITEMS, x = index % EDGE, y = index / EDGE;
    transpose_block(block[i]);
    TSL_UNROLL
    for (int r = 0; r < WIDTH; r++)
      TSL_LOCAL_STORE(WORD, LANES, transposed + ((x * WIDTH + r) * EDGE + (y ^ x)) * LANES, block[i][r]);
  }
}

/* Stores the tile. All vectors of an item are loaded before the first store. */
TSL_FUNCTION void store_tile(const TSL_LOCAL_POINTER WORD *transposed, TSL_GLOBAL tsl_element *c,
                             const tsl_tile tile, const tsl_transpose_arguments g) {
  TSL_GLOBAL tsl_element *to = c + g.c_offset + tile.row * g.c_row_stride + tile.col;
  VECTOR held[TSL_PARAM_BLOCKS * WIDTH];
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_BLOCKS * WIDTH; i++) {
    const int index = TSL_ITEM(0) + i * TSL_TILE_ITEMS, row = index / EDGE, y = index % EDGE;
    held[i] = TSL_LOCAL_LOAD(WORD, LANES, transposed + (row * EDGE + (y ^ (row / WIDTH))) * LANES);
  }
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_BLOCKS * WIDTH; i++) {
    const int index = TSL_ITEM(0) + i * TSL_TILE_ITEMS, row = index / EDGE, y = index % EDGE;
    TSL_STORE_WHOLE(WORD, LANES, (TSL_GLOBAL WORD *)(to + row * g.c_row_stride + y * WIDTH), held[i]);
  }
}

TSL_FUNCTION void load_any_tile(TSL_LOCAL_POINTER WORD *transposed, TSL_GLOBAL const tsl_element *a,
                                const tsl_tile tile, const tsl_transpose_arguments g, bool is_whole_tile) {
  if (is_whole_tile)
    load_tile(transposed, a, tile, g);
  else
    tsl_tile_load((TSL_LOCAL_POINTER tsl_element *)transposed, a, tile, g);
}

TSL_FUNCTION void store_any_tile(TSL_LOCAL_POINTER WORD *transposed, TSL_GLOBAL tsl_element *c,
                                 const tsl_tile tile, const tsl_transpose_arguments g, bool is_whole_tile) {
  if (is_whole_tile)
    store_tile(transposed, c, tile, g);
  else
    tsl_tile_store((TSL_LOCAL_POINTER tsl_element *)transposed, c, tile, g);
}

TSL_KERNEL(TSL_TILE_ITEMS, 1, 1)
tsl_transpose_vector(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL tsl_element *c,
                     const tsl_transpose_arguments g) {
  TSL_LOCAL WORD tiles[TILES * VECTORS_OF_TILE * LANES];
#ifdef TSL_IN_PLACE
  TSL_GLOBAL const tsl_element *from = c;
#else
  TSL_GLOBAL const tsl_element *TSL_RESTRICT from = a;
#endif
  const bool vectors = has_vectors(from, c, g);
  TSL_INDEX wide, tall, row, col;
  tsl_tile_grid(g, &wide, &tall);
  for (TSL_INDEX y = TSL_GROUP(1); y < tall; y += TSL_GROUPS(1))
    for (TSL_INDEX x = TSL_GROUP(0); x < wide; x += TSL_GROUPS(0)) {
      if (!tsl_tile_of_group(g, x, y, &row, &col))
        continue;
      const tsl_tile tile = tsl_tile_inside(row, col, g);
      const bool whole = vectors && tile.rows == TSL_TILE && tile.cols == TSL_TILE;
      load_any_tile(tiles, from, tile, g, whole);
#ifdef TSL_IN_PLACE
      const tsl_tile mirror = tsl_tile_inside(col, row, g);
      load_any_tile(tiles + VECTORS_OF_TILE * LANES, from, mirror, g, whole);
#endif
      TSL_BARRIER();
      store_any_tile(tiles, c, tile, g, whole);
#ifdef TSL_IN_PLACE
      if (row != col)
        store_any_tile(tiles + VECTORS_OF_TILE * LANES, c, mirror, g, whole);
#endif
      TSL_BARRIER();
    }
}
