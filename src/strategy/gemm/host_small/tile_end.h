/* The end of a tile whose columns lie side by side, as text inside tile.h; LOAD_LAST(from) and STORE_LAST(to, value)
 * move the last vector of a row. The empty instruction keeps compilers from finding all addresses before. */
if (!tile->adds)
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
    __asm__ volatile("" : "+r"(c));
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) NAME(store)(c + j * LANES, sum[i][j]);
    STORE_LAST(c + EDGE, sum[i][TILE_VECTORS - 1]);
  }
else
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++, c += c_row) {
    __asm__ volatile("" : "+r"(c));
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
        NAME(store)(c + j * LANES, beta * NAME(load)(c + j * LANES) + sum[i][j]);
    STORE_LAST(c + EDGE, beta * LOAD_LAST(c + EDGE) + sum[i][TILE_VECTORS - 1]);
  }
