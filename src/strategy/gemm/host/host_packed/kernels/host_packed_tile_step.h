NAME(vector) b_row[TILE_VECTORS];
TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) b_row[j] = NAME(load)(b + j * LANES);
TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
TSL_UNROLL for (int i = 0; i < TILE_ROWS * COMPONENTS; i++) {
  const char *const row =
      a[i / COMPONENTS / 5] + (i / COMPONENTS % 5 == 3 ? three : i / COMPONENTS % 5 * stride);
  const REAL number = ((const REAL *)row)[i % COMPONENTS];
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] = NAME(fma)(sum[i][j], number, b_row[j]);
}
TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
b += b_step;
