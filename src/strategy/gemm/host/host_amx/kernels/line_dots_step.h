/* Computes the sums of lines from `first` by LINES_THIN thin lines from `thin`. Returns the number of lines.
 * Included by line_dots.h. */
#define LINES_AT_ONCE (LINES_THIN == 4 ? 4 : 8)
static int64_t LINES_OF(LINES_THIN)(const tsl_amx_lines *lines, int64_t first, int64_t thin) {
  enum { LINE = TSL_AMX_REGISTER_UNITS, AT_ONCE = LINES_AT_ONCE, ELEMENTS = LINE * LINES_PER };
  const int64_t most = lines->count - first;
  const unsigned char *in[AT_ONCE];
  const uint32_t *other = lines->thin + thin * LINE;
  const int64_t step = lines->thin_width * LINE;
  LINES_VECTOR sum[LINES_THIN][AT_ONCE];
#pragma GCC unroll 8
  for (int i = 0; i < AT_ONCE; i++) {
    in[i] = lines->large + (first + (i < most ? i : most - 1)) * lines->large_line;
#pragma GCC unroll 4
    for (int j = 0; j < LINES_THIN; j++)
      sum[j][i] = (LINES_VECTOR){0};
  }
  for (int64_t l = 0; l < lines->elements; l += ELEMENTS, other += step) {
    const int64_t count = lines->elements - l < ELEMENTS ? lines->elements - l : ELEMENTS;
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; i++) {
      const vector_i32 units = (vector_i32)LINES_LOAD(in[i] + l * LINES_SIZE, count) ^ LINES_FLIP;
#pragma GCC unroll 4
      for (int j = 0; j < LINES_THIN; j++)
        sum[j][i] = LINES_DOT(sum[j][i], (LINES_VECTOR)units, (LINES_VECTOR)load_word_f32(other + j * LINE));
    }
  }
  vector_bytes turned[16];
#pragma GCC unroll 16
  for (int v = 0; v < 16; v++)
    turned[v] = v < AT_ONCE * LINES_THIN ? (vector_bytes)sum[v / AT_ONCE][v % AT_ONCE] : (vector_bytes){0};
  transpose_units(turned);
#pragma GCC unroll 4
  for (int stride = 8; stride > 0; stride /= 2)
#pragma GCC unroll 8
    for (int v = 0; v < stride; v++)
      turned[v] = (vector_bytes)((LINES_VECTOR)turned[v] + (LINES_VECTOR)turned[v + stride]);
#pragma GCC unroll 4
  for (int j = 0; j < LINES_THIN; j++) {
    uint32_t all[16], *const out = lines->sums + (thin + j) * TSL_AMX_WIDTH_MAX + first;
    memcpy(all, &turned[0], sizeof all);
    for (int i = 0; i < AT_ONCE && i < most; i++) {
      LINES_NUMBER before, added;
      memcpy(&before, &out[i], sizeof before);
      memcpy(&added, &all[j * AT_ONCE + i], sizeof added);
      before += added;
      memcpy(&out[i], &before, sizeof before);
    }
  }
  return AT_ONCE;
}
#undef LINES_AT_ONCE
#undef LINES_THIN
