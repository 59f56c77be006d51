/* An exact tile (job.h), as text: included with EXACT_NAME, EXACT_ROWS, EXACT_VECTORS, EXACT_DEPTH and
 * EXACT_HEIGHT, which it undefines. A tiny product is over before a loop has begun to pay, and what bounds it
 * is how many instructions a clock the processor takes in. So there is no loop, and hardly a question; and
 * each row of a has an address of its own, because a multiply-add that finds its number by two registers is
 * taken in as two.
 *
 * EXACT_HEIGHT rows are done at a time; where that is not all, b stays in registers meanwhile. Addresses of
 * more than four rows would have registers saved first; fewer sums than eight wait for each other where
 * nothing else hides it. */
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
      /* Compilers would load it when it is needed, when there are addresses of a as well. */
      TSL_UNROLL for (int j = 0; j < EXACT_VECTORS; j++) TSL_KEEP(row_of_b[l][j]);
    }
  }
  a[0] = a_at;
  TSL_UNROLL for (int row = 0; row < ROWS; row += HEIGHT) {
    TSL_UNROLL for (int i = 1; i < HEIGHT; i++) {
      a[i] = a[i - 1] + a_row;
      __asm__("" : "+r"(a[i])); /* or compilers find it from the first one, by two registers */
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
      const REAL beta = (REAL)tile->beta;
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
