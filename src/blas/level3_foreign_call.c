#include "blas/level3_foreign_call.h"

typedef struct letters {
  char side, uplo, trans, diag;
} letters;

static void call_fortran(tsl_blas_function *function, const tsl_blas_multiply *args) {
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
  const letters is = {(char)args->side, (char)args->uplo, (char)args->trans_a, (char)args->diag};
  switch (args->routine) {
  case TSL_BLAS_SYRK:
  case TSL_BLAS_HERK:
    ((update *)function)(&is.uplo, &is.trans, &args->n, &args->k, args->alpha, args->a, &args->lda,
                         args->beta, args->c, &args->ldc, 1, 1);
    break;
  case TSL_BLAS_GEMMT:
    ((apart *)function)(&is.uplo, &is.trans, "T", &args->n, &args->k, args->alpha, args->a, &args->lda,
                        args->b, &args->ldb, args->beta, args->c, &args->ldc, 1, 1, 1);
    break;
  case TSL_BLAS_SYR2K:
  case TSL_BLAS_HER2K:
    ((update2 *)function)(&is.uplo, &is.trans, &args->n, &args->k, args->alpha, args->a, &args->lda, args->b,
                          &args->ldb, args->beta, args->c, &args->ldc, 1, 1);
    break;
  case TSL_BLAS_SYMM:
  case TSL_BLAS_HEMM:
    ((symmetric *)function)(&is.side, &is.uplo, &args->m, &args->n, args->alpha, args->a, &args->lda, args->b,
                            &args->ldb, args->beta, args->c, &args->ldc, 1, 1);
    break;
  default:
    ((triangle *)function)(&is.side, &is.uplo, &is.trans, &is.diag, &args->m, &args->n, args->alpha, args->a,
                           &args->lda, args->b, &args->ldb, 1, 1, 1, 1);
  }
}

typedef struct numbers {
  int64_t side, uplo, trans, diag;
} numbers;

static numbers numbers_of(const tsl_blas_multiply *args) {
  return (numbers){.side = args->side == 'L' ? 141 : 142,
                   .uplo = args->uplo == 'U' ? 121 : 122,
                   .trans = tsl_blas_cblas_trans(args->trans_a),
                   .diag = args->diag == 'U' ? 132 : 131};
}

#define BY_CBLAS(name, alpha_type, beta_type, ALPHA, BETA)                                                   \
  static void name(tsl_blas_function *function, const tsl_blas_multiply *args) {                             \
    typedef void update(int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *, int64_t,      \
                        beta_type, void *, int64_t);                                                         \
    typedef void update2(int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *, int64_t,     \
                         const void *, int64_t, beta_type, void *, int64_t);                                 \
    typedef void apart(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type, const void *,       \
                       int64_t, const void *, int64_t, beta_type, void *, int64_t);                          \
    typedef void triangle(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, alpha_type,         \
                          const void *, int64_t, const void *, int64_t);                                     \
    const numbers is = numbers_of(args);                                                                     \
    switch (args->routine) {                                                                                 \
    case TSL_BLAS_SYRK:                                                                                      \
    case TSL_BLAS_HERK:                                                                                      \
      ((update *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, args->n, args->k, ALPHA, args->a,       \
                           args->lda, BETA, args->c, args->ldc);                                             \
      break;                                                                                                 \
    case TSL_BLAS_GEMMT:                                                                                     \
      ((apart *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, tsl_blas_cblas_trans('T'), args->n,      \
                          args->k, ALPHA, args->a, args->lda, args->b, args->ldb, BETA, args->c, args->ldc); \
      break;                                                                                                 \
    case TSL_BLAS_SYR2K:                                                                                     \
    case TSL_BLAS_HER2K:                                                                                     \
      ((update2 *)function)(TSL_BLAS_COLUMN_MAJOR, is.uplo, is.trans, args->n, args->k, ALPHA, args->a,      \
                            args->lda, args->b, args->ldb, BETA, args->c, args->ldc);                        \
      break;                                                                                                 \
    case TSL_BLAS_SYMM:                                                                                      \
    case TSL_BLAS_HEMM: /* types of update2 */                                                               \
      ((update2 *)function)(TSL_BLAS_COLUMN_MAJOR, is.side, is.uplo, args->m, args->n, ALPHA, args->a,       \
                            args->lda, args->b, args->ldb, BETA, args->c, args->ldc);                        \
      break;                                                                                                 \
    default:                                                                                                 \
      ((triangle *)function)(TSL_BLAS_COLUMN_MAJOR, is.side, is.uplo, is.trans, is.diag, args->m, args->n,   \
                             ALPHA, args->a, args->lda, args->b, args->ldb);                                 \
    }                                                                                                        \
  }
BY_CBLAS(by_float, float, float, *(const float *)args->alpha, *(const float *)args->beta)
BY_CBLAS(by_double, double, double, *(const double *)args->alpha, *(const double *)args->beta)
BY_CBLAS(by_address, const void *, const void *, args->alpha, args->beta)
BY_CBLAS(by_address_and_float, const void *, float, args->alpha, *(const float *)args->beta)
BY_CBLAS(by_address_and_double, const void *, double, args->alpha, *(const double *)args->beta)

/* herk has real scalars, her2k a real beta. */
static void call_cblas(tesela_type type, tsl_blas_function *function, const tsl_blas_multiply *args) {
  const bool is_single = type == TESELA_F32 || type == TESELA_C64;
  if (!tsl_blas_is_complex(type) || args->routine == TSL_BLAS_HERK)
    (is_single ? by_float : by_double)(function, args);
  else if (args->routine == TSL_BLAS_HER2K)
    (is_single ? by_address_and_float : by_address_and_double)(function, args);
  else
    by_address(function, args);
}

void tsl_blas_level3_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                          const tsl_blas_multiply *args) {
  if (symbol->cblas)
    call_cblas(symbol->type, function, args);
  else
    call_fortran(function, args);
}
