/* Idea: a work-group moves a square tile through local memory. It reads the tile along A's rows and writes
 * it along C's rows, so that neighbouring items access neighbouring elements on both sides. The
 * transposition is in local memory, which has no cache lines. Beyond `element`: reads of whole
 * cache lines. `vector` makes the accesses wider.
 *
 *            A (n x m)          local            C (m x n)
 *          +-----------+       +------+         +-----------+
 *          |   +--+    |       | rows |         |           |
 *          |   |=>|    |  -->  | each |   -->   |---+--+    |     => items side by side
 *          |   +--+    |       |transposed|         |   |=>|    |
 *          +-----------+       +------+         +---+--+----+
 *
 *   local memory, a tile of four:  row 0: 00 01 02 03  element (row, col) is at (row + col) mod tile: four
 *                                  row 1: 13 10 11 12  neighbours in a row or column are in different banks
 *                                  row 2: 22 23 20 21
 *                                  row 3: 31 32 33 30
 *
 * In place, a group owns a tile and its mirror image: it loads both before the first store. Parameters:
 * TSL_PARAM_TILE, the edge; TSL_PARAM_ROWS, rows of the tile for each item: TILE x TILE / ROWS items a group.
 * Local memory: TILE x TILE elements, twice that in place. Any sizes, strides and elements. */
#define TSL_TILE TSL_PARAM_TILE
#define TSL_TILE_ITEMS (TSL_PARAM_TILE * TSL_PARAM_TILE / TSL_PARAM_ROWS)
#define TSL_TILE_BAND 1
#include "transpose_tile.h"

#ifdef TSL_IN_PLACE
#define TILES 2
#else
#define TILES 1
#endif

TSL_KERNEL(TSL_TILE_ITEMS, 1, 1)
tsl_transpose_tile_local(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL tsl_element *c,
                         const tsl_transpose_arguments g) {
  TSL_LOCAL tsl_element tiles[TILES * TSL_TILE * TSL_TILE];
  TSL_INDEX wide, tall, row, col;
  tsl_tile_grid(g, &wide, &tall);
  for (TSL_INDEX y = TSL_GROUP(1); y < tall; y += TSL_GROUPS(1))
    for (TSL_INDEX x = TSL_GROUP(0); x < wide; x += TSL_GROUPS(0)) {
      if (!tsl_tile_of_group(g, x, y, &row, &col))
        continue;
      const tsl_tile tile = tsl_tile_inside(row, col, g);
#ifdef TSL_IN_PLACE
      const tsl_tile mirror = tsl_tile_inside(col, row, g);
      tsl_tile_load(tiles, c, tile, g);
      tsl_tile_load(tiles + TSL_TILE * TSL_TILE, c, mirror, g);
      TSL_BARRIER();
      tsl_tile_store(tiles, c, tile, g);
      if (row != col)
        tsl_tile_store(tiles + TSL_TILE * TSL_TILE, c, mirror, g);
#else
      tsl_tile_load(tiles, a, tile, g);
      TSL_BARRIER();
      tsl_tile_store(tiles, c, tile, g);
#endif
      TSL_BARRIER();
    }
}
