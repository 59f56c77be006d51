/* One step of a tile along its panel, as text inside tile.h. */
NAME(vector) strip[TILE_VECTORS];
TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) strip[j] = NAME(load)(b + j * LANES);
TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
TSL_UNROLL for (int i = 0; i < TILE_ROWS * PARTS; i++) {
  const char *const row = a[i / PARTS / 5] + (i / PARTS % 5 == 3 ? three : i / PARTS % 5 * stride);
  const REAL number = ((const REAL *)row)[i % PARTS];
  TSL_UNROLL for (int j = 0; j < TILE_VECTORS; j++) sum[i][j] =
      NAME(add_product)(sum[i][j], number, strip[j]);
}
TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
b += b_step;
