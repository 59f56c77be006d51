/* Brief tile (tsl_small_kernels.brief) of at most BRIEF_ROWS rows, an even number. For new shapes code and
 * branches are few: one loop for whole and partial vectors, and half as many tiles as numbers of rows. For an
 * odd number of rows the last row is computed twice. */
static tesela_status BRIEF_NAME(BRIEF_ROWS)(const void *state, const void *a_at, const void *b_at,
                                            void *c_at) {
  enum { ROWS = BRIEF_ROWS - 1, POINTERS = (ROWS + 4) / 5 };
  const tsl_small_tile *tile = state;
  const int64_t a_step = tile->a_step, b_step = tile->b_step;
  int64_t stride = tile->a_row, three = 3 * stride;
  const NAME(mask) mask = NAME(mask_of)(tile->last);
  const char *a[POINTERS], *a_last = (const char *)a_at + (tile->rows - 1) * stride, *b = b_at;
  NAME(vector) sum[ROWS], sum_last = {0};
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] = (const char *)a_at + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < ROWS; i++) sum[i] = (NAME(vector)){0};
  for (int64_t l = tile->depth; l > 0; l--) {
    const NAME(vector) row_of_b = NAME(load_masked)((const REAL *)(const void *)b, mask);
    TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(a[i]), "+r"(stride), "+r"(three));
    TSL_UNROLL for (int i = 0; i < ROWS; i++) sum[i] = NAME(fma)(
        sum[i], *(const REAL *)(const void *)(a[i / 5] + (i % 5 == 3 ? three : i % 5 * stride)), row_of_b);
    sum_last = NAME(fma)(sum_last, *(const REAL *)(const void *)a_last, row_of_b);
    TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += a_step;
    a_last += a_step;
    b += b_step;
  }
  if (tile->scales) {
    const REAL alpha = (REAL)tile->alpha[0];
    TSL_UNROLL for (int i = 0; i < ROWS; i++) sum[i] *= alpha;
    sum_last *= alpha;
  }
  stride = tile->c_row * (int64_t)sizeof(REAL);
  three = 3 * stride;
  char *c[POINTERS], *c_last = (char *)c_at + (tile->rows - 1) * stride;
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) c[i] = (char *)c_at + 5 * i * stride;
  TSL_UNROLL for (int i = 0; i < POINTERS; i++) __asm__("" : "+r"(c[i]), "+r"(stride), "+r"(three));
#define ROW_AT ((REAL *)(void *)(c[i / 5] + (i % 5 == 3 ? three : i % 5 * stride)))
  if (tile->adds) { /* all rows are read first, since the last row may be stored twice */
    const REAL beta = (REAL)tile->beta[0];
    TSL_UNROLL for (int i = 0; i < ROWS; i++) sum[i] =
        NAME(fma)(sum[i], beta, NAME(load_masked)(ROW_AT, mask));
    sum_last = NAME(fma)(sum_last, beta, NAME(load_masked)((const REAL *)(const void *)c_last, mask));
  }
  TSL_UNROLL for (int i = 0; i < ROWS; i++) NAME(store_masked)(ROW_AT, sum[i], mask);
  NAME(store_masked)((REAL *)(void *)c_last, sum_last, mask);
#undef ROW_AT
  return TESELA_OK;
}
#undef BRIEF_ROWS
