/* Epilogue of a tile with contiguous columns. LOAD_LAST(), STORE_LAST() access the last vector of a row.
 * ADDED() adds beta times a vector of C. */
#define ROW_AT (REAL *)(void *)(c[i / 5] + (i % 5 == 3 ? three : i % 5 * stride))
TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(c[i]), "+r"(stride), "+r"(three));
if (!tile->adds)
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    REAL *row = ROW_AT;
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) NAME(store)(row + j * LANES, sum[i][j]);
    STORE_LAST(row + EDGE, sum[i][TILE_VECTORS - 1]);
  }
else
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    REAL *row = ROW_AT;
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
        NAME(store)(row + j * LANES, ADDED(sum[i][j], NAME(load)(row + j * LANES)));
    STORE_LAST(row + EDGE, ADDED(sum[i][TILE_VECTORS - 1], LOAD_LAST(row + EDGE)));
  }
#undef ROW_AT
