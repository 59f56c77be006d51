/* Solves a small real triangle, ABREAST columns at a time, row by row.
 *
 *     factor        rows          row i = (alpha c[i] - factor[i][0] row 0 - ... ) / diagonal
 *     d             ------ 0
 *     * d           ------ 1      An upper triangle is processed from its far end.
 *     * * d         ------ 2 */
static void NAME(solve_columns)(ELEMENT factor[TSL_BLAS_SOLVED_MOST][TSL_BLAS_SOLVED_MOST], int64_t m,
                                bool unit, ELEMENT rows[TSL_BLAS_SOLVED_MOST][ABREAST]) {
  for (int64_t i = 0; i < m; i++) {
    ELEMENT sum[ABREAST];
    for (int c = 0; c < ABREAST; c++)
      sum[c] = rows[i][c];
    for (int64_t l = 0; l < i; l++)
      for (int c = 0; c < ABREAST; c++)
        sum[c] -= factor[i][l] * rows[l][c];
    for (int c = 0; c < ABREAST; c++)
      rows[i][c] = unit ? sum[c] : sum[c] / factor[i][i];
  }
}

static void NAME(solve)(const tsl_call_matrix *a, int uplo, bool unit, int64_t m, int64_t n,
                        const double alpha[2], const tsl_call_matrix *c) {
  ELEMENT factor[TSL_BLAS_SOLVED_MOST][TSL_BLAS_SOLVED_MOST], rows[TSL_BLAS_SOLVED_MOST][ABREAST];
  const int64_t first = uplo == 'L' ? 0 : m - 1, step = uplo == 'L' ? 1 : -1;
  const ELEMENT scale = (ELEMENT)alpha[0];
  ELEMENT *out = tsl_writable(c->data);
  for (int64_t i = 0; i < m; i++)
    for (int64_t l = 0; l < (unit ? i : i + 1); l++)
      factor[i][l] = NAME(at)(a, first + i * step, first + l * step);
  for (int64_t j = 0; j < n; j += ABREAST) {
    const int64_t width = n - j < ABREAST ? n - j : ABREAST;
    for (int64_t i = 0; i < m; i++)
      for (int64_t k = 0; k < ABREAST; k++)
        rows[i][k] = k < width ? scale * out[(first + i * step) * c->row + (j + k) * c->col] : 0;
    NAME(solve_columns)(factor, m, unit, rows);
    for (int64_t i = 0; i < m; i++)
      for (int64_t k = 0; k < width; k++)
        out[(first + i * step) * c->row + (j + k) * c->col] = rows[i][k];
  }
}

#undef NAME
#undef ELEMENT
#undef REAL_OF
