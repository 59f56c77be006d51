/* One step of k of a micro-kernel. Element i of a's column is at a[i / 5] + i % 5 strides. STEP_AT: the
 * offset in elements of a, each of COMPONENTS numbers, which have a row of sums each. LOAD_LAST(from), if
 * defined, loads the last vector of a row of b. */
{
  NAME(vector) row_of_b[TILE_VECTORS];
#ifdef LOAD_LAST
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++) row_of_b[j] =
      NAME(load)((const REAL *)(const void *)b + j * LANES);
  row_of_b[TILE_VECTORS - 1] = LOAD_LAST((const REAL *)(const void *)b + EDGE);
#else
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) row_of_b[j] =
      NAME(load)((const REAL *)(const void *)b + j * LANES);
#endif
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
  /* two loops: a compiler unrolls up to 16 rounds of one (simd.h) */
  TSL_UNROLL for (int i = 0; i < TILE_ROWS; i++) {
    TSL_UNROLL for (int part = 0; part < COMPONENTS; part++) {
      const REAL number =
          ((const REAL *)(const void *)(a[i / 5] +
                                        (i % 5 == 3 ? three : i % 5 * stride)))[STEP_AT * COMPONENTS + part];
      TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i * COMPONENTS + part][j] =
          NAME(fma)(sum[i * COMPONENTS + part][j], number, row_of_b[j]);
    }
  }
  b += b_step;
  __asm__("" : "+r"(b)); /* prevents a pointer for each of four steps, which needs a register */
}
