/* The kernels for NUMBER rows of the thin operand, or NUMBER steps of an outer product, as text in thin.c. */
static void OF(add, NUMBER)(const void *x, int64_t along, int64_t rows, const tsl_thin_numbers *numbers,
                            int64_t width, void *sums, int64_t pitch, bool fresh, bool prefetches) {
  add(x, along, rows, numbers, width, sums, pitch, fresh, prefetches, NUMBER);
}
static void OF(reduce, NUMBER)(const tsl_thin_columns *x, const void *y, int64_t pitch, void *out) {
  reduce(x, y, pitch, out, NUMBER);
}
#if NUMBER <= 4 /* TSL_THIN_STEPS */
static void OF(outer, NUMBER)(const tsl_thin_rows *row) {
  outer(row, NUMBER);
}
#endif
