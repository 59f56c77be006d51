/* As TILE_TEXT: entry of a tile in a table of functions, [vectors - 1][rows - 1]. */
[TILE_VECTORS - 1][TILE_ROWS - 1] = TILE_NAME(TILE_ROWS, TILE_VECTORS),
