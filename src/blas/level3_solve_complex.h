/* Solves as level3_solve_real.h, with real and imaginary parts in separate arrays. Quotients follow Smith
 * (1962), so that denominators do not overflow. With q = d / c for |d| <= |c|:
 * (a + b i) / (c + d i) = ((a + b q) + (b - a q) i) / (c + d q); otherwise c and d change places. */
typedef struct NAME(divisor) {
  REAL p, q, denominator; /* quotient = (a p + b q, b p - a q) / denominator */
} NAME(divisor);

static NAME(divisor) NAME(divisor_of)(REAL c, REAL d) {
  const bool is_flat = fabs((double)d) <= fabs((double)c);
  const REAL ratio = is_flat ? d / c : c / d;
  return is_flat ? (NAME(divisor)){1, ratio, c + d * ratio} : (NAME(divisor)){ratio, 1, d + c * ratio};
}

static void NAME(solve_columns)(REAL factor[2][TSL_BLAS_SOLVED_MOST][TSL_BLAS_SOLVED_MOST], int64_t m,
                                bool unit, REAL rows[2][TSL_BLAS_SOLVED_MOST][ABREAST]) {
  for (int64_t i = 0; i < m; i++) {
    REAL re[ABREAST], im[ABREAST];
    for (int c = 0; c < ABREAST; c++) {
      re[c] = rows[0][i][c];
      im[c] = rows[1][i][c];
    }
    for (int64_t l = 0; l < i; l++)
      for (int c = 0; c < ABREAST; c++) {
        re[c] -= factor[0][i][l] * rows[0][l][c] - factor[1][i][l] * rows[1][l][c];
        im[c] -= factor[0][i][l] * rows[1][l][c] + factor[1][i][l] * rows[0][l][c];
      }
    const NAME(divisor) by =
        unit ? (NAME(divisor)){1, 0, 1} : NAME(divisor_of)(factor[0][i][i], factor[1][i][i]);
    for (int c = 0; c < ABREAST; c++) {
      rows[0][i][c] = unit ? re[c] : (re[c] * by.p + im[c] * by.q) / by.denominator;
      rows[1][i][c] = unit ? im[c] : (im[c] * by.p - re[c] * by.q) / by.denominator;
    }
  }
}

static void NAME(solve)(const tsl_call_matrix *a, int uplo, bool unit, int64_t m, int64_t n,
                        const double alpha[2], const tsl_call_matrix *c) {
  REAL factor[2][TSL_BLAS_SOLVED_MOST][TSL_BLAS_SOLVED_MOST], rows[2][TSL_BLAS_SOLVED_MOST][ABREAST];
  const int64_t first = uplo == 'L' ? 0 : m - 1, step = uplo == 'L' ? 1 : -1;
  const REAL x = (REAL)alpha[0], y = (REAL)alpha[1];
  REAL *out = tsl_writable(c->data);
  for (int64_t i = 0; i < m; i++)
    for (int64_t l = 0; l < (unit ? i : i + 1); l++) {
      const ELEMENT value = NAME(at)(a, first + i * step, first + l * step);
      factor[0][i][l] = (REAL)creal(value);
      factor[1][i][l] = (REAL)cimag(value);
    }
  for (int64_t j = 0; j < n; j += ABREAST) {
    const int64_t width = n - j < ABREAST ? n - j : ABREAST;
    for (int64_t i = 0; i < m; i++)
      for (int64_t k = 0; k < ABREAST; k++) {
        const REAL *from = out + 2 * ((first + i * step) * c->row + (j + (k < width ? k : 0)) * c->col);
        const REAL re = k < width ? from[0] : 0, im = k < width ? from[1] : 0;
        rows[0][i][k] = y == 0 ? x * re : x * re - y * im;
        rows[1][i][k] = y == 0 ? x * im : x * im + y * re;
      }
    NAME(solve_columns)(factor, m, unit, rows);
    for (int64_t i = 0; i < m; i++)
      for (int64_t k = 0; k < width; k++) {
        REAL *to = out + 2 * ((first + i * step) * c->row + (j + k) * c->col);
        to[0] = rows[0][i][k];
        to[1] = rows[1][i][k];
      }
  }
}

#undef NAME
#undef ELEMENT
#undef REAL_OF
#undef REAL
#undef REAL_PART
#undef CONJUGATE
#undef FROM_PARTS
