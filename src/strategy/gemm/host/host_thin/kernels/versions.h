/* Kernels for TILE_ROWS rows of the thin operand, or as many steps of an outer product. */
static void OF(add, TILE_ROWS)(const void *x, int64_t along, int64_t rows, const tsl_thin_numbers *numbers,
                               int64_t width, void *sums, int64_t pitch, bool fresh, bool prefetches) {
  add(x, along, rows, numbers, width, sums, pitch, fresh, prefetches, TILE_ROWS);
}
static void OF(reduce, TILE_ROWS)(const tsl_thin_columns *x, const void *y, int64_t pitch, void *out) {
  reduce(x, y, pitch, out, TILE_ROWS);
}
#if TILE_ROWS <= 4
static void OF(outer, TILE_ROWS)(const tsl_thin_rows *row) {
  outer(row, TILE_ROWS);
}
#endif
