/* One step of k of a micro-kernel. STEP_AT is the step's offset in elements of a. */
{
  NAME(vector) row_of_b[TILE_VECTORS];
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) row_of_b[j] =
      NAME(load)((const REAL *)(const void *)b + j * LANES);
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    const REAL number =
        ((const REAL *)(const void *)(a[i / 5] + (i % 5 == 3 ? three : i % 5 * stride)))[STEP_AT];
    TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = NAME(fma)(sum[i][j], number, row_of_b[j]);
  }
  b += b_step;
  __asm__("" : "+r"(b)); /* or compilers find where it will be four steps on, and have no register for that */
}
