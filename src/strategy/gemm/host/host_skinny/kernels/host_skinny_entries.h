/* Kernels for TILE_ROWS rows of the thin operand, or as many steps of an outer product. */
#define ENTRY(name)                                                                                          \
  static void OF(name, TILE_ROWS)(const tsl_skinny_lines *lines, const void *x, const void *y, void *out,    \
                                  int64_t rows, int64_t width) {                                             \
    name(lines, x, y, out, rows, width, TILE_ROWS);                                                          \
  }
ENTRY(add)
ENTRY(reduce)
ENTRY(reduce_in_order)
#if TILE_ROWS <= 4
ENTRY(outer)
#endif
#undef ENTRY
