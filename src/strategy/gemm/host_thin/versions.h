/* The kernels for NUMBER rows of the thin operand, or NUMBER steps of an outer product, as text in kernels_text.h. */
static void OF(add, NUMBER)(const void *x, int64_t along, int64_t rows, const void *y, int64_t width,
                            void *sums, int64_t pitch) {
  NAME(add)(x, along, rows, y, width, sums, pitch, NUMBER);
}
static void OF(reduce, NUMBER)(const void *x, int64_t across, int64_t depth, const void *y, int64_t pitch,
                               void *out) {
  NAME(reduce)(x, across, depth, y, pitch, out, NUMBER, COLUMNS_OF(NUMBER));
}
static void OF(reduce_one, NUMBER)(const void *x, int64_t across, int64_t depth, const void *y, int64_t pitch,
                                   void *out) {
  NAME(reduce)(x, across, depth, y, pitch, out, NUMBER, 1);
}
#if NUMBER <= 4 /* TSL_THIN_STEPS */
static void OF(outer, NUMBER)(const tsl_thin_row *row, const void *y, void *c) {
  NAME(outer)(row, y, c, NUMBER);
}
#endif
