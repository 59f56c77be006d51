/* One step of k. LOAD_LAST(from) loads the last vector of a row; STEP_AT: the offset in elements of a. */
{
  NAME(vector) row_of_b[TILE_VECTORS];
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) row_of_b[j] = NAME(load)((const REAL *)b + j * LANES);
  row_of_b[TILE_VECTORS - 1] = LOAD_LAST((const REAL *)b + EDGE);
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    const REAL number = ((const REAL *)(a[i / 5] + (i % 5 == 3 ? three : i % 5 * stride)))[STEP_AT];
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = NAME(fma)(sum[i][j], number, row_of_b[j]);
  }
  b += b_step;
  __asm__("" : "+r"(b)); /* prevents a pointer for each of four steps, which needs a register */
}
