/* Converts the struct of arguments back to the signatures of Fortran and CBLAS. */
#include "blas/level3_foreign_call.h"

/* --- Fortran --- */

typedef struct letters {
  char side, uplo, trans, diag;
} letters;

static void by_fortran(tsl_blas_function *function, const tsl_blas_structured *of) {
  typedef void update(const char *, const char *, const int64_t *, const int64_t *, const void *,
                      const void *, const int64_t *, const void *, void *, const int64_t *, size_t, size_t);
  typedef void update2(const char *, const char *, const int64_t *, const int64_t *, const void *,
                       const void *, const int64_t *, const void *, const int64_t *, const void *, void *,
                       const int64_t *, size_t, size_t);
  typedef void symmetric(const char *, const char *, const int64_t *, const int64_t *, const void *,
                         const void *, const int64_t *, const void *, const int64_t *, const void *, void *,
                         const int64_t *, size_t, size_t);
  typedef void apart(const char *, const char *, const char *, const int64_t *, const int64_t *, const void *,
                     const void *, const int64_t *, const void *, const int64_t *, const void *, void *,
                     const int64_t *, size_t, size_t, size_t);
  typedef void triangle(const char *, const char *, const char *, const char *, const int64_t *,
                        const int64_t *, const void *, const void *, const int64_t *, const void *,
                        const int64_t *, size_t, size_t, size_t, size_t);
  const letters is = {(char)of->side, (char)of->uplo, (char)of->trans, (char)of->diag};
  switch (of->routine) {
  case TSL_BLAS_SYRK:
  case TSL_BLAS_HERK:
    ((update *)function)(&is.uplo, &is.trans, &of->n, &of->k, of->alpha, of->a, &of->lda, of->beta, of->c,
                         &of->ldc, 1, 1);
    break;
  case TSL_BLAS_GEMMT:
    ((apart *)function)(&is.uplo, &is.trans, "T", &of->n, &of->k, of->alpha, of->a, &of->lda, of->b, &of->ldb,
                        of->beta, of->c, &of->ldc, 1, 1, 1);
    break;
  case TSL_BLAS_SYR2K:
  case TSL_BLAS_HER2K:
    ((update2 *)function)(&is.uplo, &is.trans, &of->n, &of->k, of->alpha, of->a, &of->lda, of->b, &of->ldb,
                          of->beta, of->c, &of->ldc, 1, 1);
    break;
  case TSL_BLAS_SYMM:
  case TSL_BLAS_HEMM:
    ((symmetric *)function)(&is.side, &is.uplo, &of->m, &of->n, of->alpha, of->a, &of->lda, of->b, &of->ldb,
                            of->beta, of->c, &of->ldc, 1, 1);
    break;
  default:
    ((triangle *)function)(&is.side, &is.uplo, &is.trans, &is.diag, &of->m, &of->n, of->alpha, of->a,
                           &of->lda, of->b, &of->ldb, 1, 1, 1, 1);
  }
}

/* --- CBLAS --- */

/* Constants of CBLAS for the letters. */
typedef struct numbers {
  int64_t side, uplo, trans, diag;
} numbers;

static numbers numbers_of(const tsl_blas_structured *of) {
  return (numbers){.side = of->side == 'L' ? 141 : 142,
                   .uplo = of->uplo == 'U' ? 121 : 122,
                   .trans = tsl_blas_cblas_trans(of->trans),
                   .diag = of->diag == 'U' ? 132 : 131};
}

/* One function for each way to pass scalars. */
#define BY_CBLAS(name, alpha_type, beta_type, ALPHA, BETA)                                                   \
  static void name(tsl_blas_function *function, const tsl_blas_structured *of) {                             \
    typedef void update(int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *, int64_t,      \
                        beta_type, void *, int64_t);                                                         \
    typedef void update2(int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *, int64_t,     \
                         const void *, int64_t, beta_type, void *, int64_t);                                 \
    typedef void apart(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *,       \
                       int64_t, const void *, int64_t, beta_type, void *, int64_t);                          \
    typedef void triangle(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type,         \
                          const void *, int64_t, const void *, int64_t);                                     \
    const numbers is = numbers_of(of);                                                                       \
    switch (of->routine) {                                                                                   \
    case TSL_BLAS_SYRK:                                                                                      \
    case TSL_BLAS_HERK:                                                                                      \
      ((update *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, of->n, of->k, ALPHA, of->a, of->lda,    \
                           BETA, of->c, of->ldc);                                                            \
      break;                                                                                                 \
    case TSL_BLAS_GEMMT:                                                                                     \
      ((apart *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, tsl_blas_cblas_trans('T'), of->n, of->k, \
                          ALPHA, of->a, of->lda, of->b, of->ldb, BETA, of->c, of->ldc);                      \
      break;                                                                                                 \
    case TSL_BLAS_SYR2K:                                                                                     \
    case TSL_BLAS_HER2K:                                                                                     \
      ((update2 *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, of->n, of->k, ALPHA, of->a, of->lda,   \
                            of->b, of->ldb, BETA, of->c, of->ldc);                                           \
      break;                                                                                                 \
    case TSL_BLAS_SYMM:                                                                                      \
    case TSL_BLAS_HEMM: /* types of update2 */                                                               \
      ((update2 *)function)(TSL_BLAS_COLUMN_MAJOR, is.side, is.uplo, of->m, of->n, ALPHA, of->a, of->lda,    \
                            of->b, of->ldb, BETA, of->c, of->ldc);                                           \
      break;                                                                                                 \
    default:                                                                                                 \
      ((triangle *)function)(TSL_BLAS_COLUMN_MAJOR, is.side, is.uplo, is.trans, is.diag, of->m, of->n,       \
                             ALPHA, of->a, of->lda, of->b, of->ldb);                                         \
    }                                                                                                        \
  }
BY_CBLAS(by_float, float, float, *(const float *)of->alpha, *(const float *)of->beta)
BY_CBLAS(by_double, double, double, *(const double *)of->alpha, *(const double *)of->beta)
BY_CBLAS(by_address, const void *, const void *, of->alpha, of->beta)
BY_CBLAS(by_address_and_float, const void *, float, of->alpha, *(const float *)of->beta)
BY_CBLAS(by_address_and_double, const void *, double, of->alpha, *(const double *)of->beta)

/* Selects the function by type: herk has real scalars, her2k a real beta. */
static void by_cblas(tesela_type type, tsl_blas_function *function, const tsl_blas_structured *of) {
  const bool is_single = type == TESELA_F32 || type == TESELA_C64;
  if (!tsl_blas_is_complex(type) || of->routine == TSL_BLAS_HERK)
    (is_single ? by_float : by_double)(function, of);
  else if (of->routine == TSL_BLAS_HER2K)
    (is_single ? by_address_and_float : by_address_and_double)(function, of);
  else
    by_address(function, of);
}

void tsl_blas_level3_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                          const tsl_blas_structured *given) {
  if (symbol->cblas)
    by_cblas(symbol->type, function, given);
  else
    by_fortran(function, given);
}
