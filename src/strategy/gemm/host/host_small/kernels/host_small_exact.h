/* Exact tile (tsl_small_exact): included with EXACT_NAME, EXACT_ROWS, EXACT_VECTORS, EXACT_DEPTH and
 * EXACT_HEIGHT, which it undefines. A tiny product is bound by decoding of instructions, so there is no loop.
 * Each row of a has a pointer, since a multiply-add with an indexed address decodes as two operations.
 * EXACT_HEIGHT rows are computed at a time; pointers to more than four would need saved registers. */
#define LOAD_B(l)                                                                                            \
  TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) row_of_b[l][j] =                                        \
      NAME(load)((const REAL *)(const void *)b + j * LANES);                                                 \
  b += b_step;                                                                                               \
  __asm__("" : "+r"(b))

static tesela_status EXACT_NAME(const void *state, const void *a_at, const void *b_at, void *c_at) {
  enum { LANES = NAME(LANES), ROWS = EXACT_ROWS, HEIGHT = EXACT_HEIGHT };
  const tsl_small_tile *tile = state;
  const int64_t a_row = tile->a_row, b_step = tile->b_step, c_row = tile->c_row * (int64_t)sizeof(REAL);
  const char *a[HEIGHT], *b = b_at;
  char *c = c_at;
  NAME(vector) sum[HEIGHT][EXACT_VECTORS], row_of_b[EXACT_DEPTH][EXACT_VECTORS];
  if (HEIGHT < ROWS) {
    TSL_UNROLL for (int l = 0; l < EXACT_DEPTH; l++) {
      LOAD_B(l);
      /* A compiler would postpone the load until pointers of a occupy registers too. */
      TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) TSL_KEEP(row_of_b[l][j]);
    }
  }
  a[0] = a_at;
  TSL_UNROLL for (int row = 0; row < ROWS; row += HEIGHT) {
    TSL_UNROLL for (int i = 1; i < HEIGHT; i++) {
      a[i] = a[i - 1] + a_row;
      __asm__("" : "+r"(a[i])); /* otherwise compilers use an indexed address from the first row */
    }
    TSL_UNROLL for (int i = 0; i < HEIGHT; i++) {
      TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) sum[i][j] = (NAME(vector)){0};
    }
    TSL_UNROLL for (int l = 0; l < EXACT_DEPTH; l++) {
      if (HEIGHT == ROWS) {
        LOAD_B(l);
      }
      TSL_UNROLL for (int i = 0; i < HEIGHT; i++) {
        const REAL number = ((const REAL *)(const void *)a[i])[l];
        TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) sum[i][j] =
            NAME(fma)(sum[i][j], number, row_of_b[l][j]);
      }
    }
    a[0] = a[HEIGHT - 1] + a_row;
    if (tile->adds) {
      const REAL beta = (REAL)tile->beta[0];
      const char *from = c;
      TSL_UNROLL for (int i = 0; i < HEIGHT; i++) {
        TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) sum[i][j] =
            NAME(fma)(sum[i][j], beta, NAME(load)((const REAL *)(const void *)from + j * LANES));
        from += c_row;
        __asm__("" : "+r"(from));
      }
    }
    TSL_UNROLL for (int i = 0; i < HEIGHT; i++) {
      TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++)
          NAME(store)((REAL *)(void *)c + j * LANES, sum[i][j]);
      c += c_row;
      __asm__("" : "+r"(c));
    }
  }
  return TESELA_OK;
}
#undef LOAD_B
#undef EXACT_NAME
#undef EXACT_ROWS
#undef EXACT_VECTORS
#undef EXACT_DEPTH
#undef EXACT_HEIGHT
