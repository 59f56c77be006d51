TESELA_API void FORTRAN(L(gemv))(const char *trans, const INTEGER *m, const INTEGER *n, const void *alpha,
                                 const void *a, const INTEGER *lda, const void *x, const INTEGER *incx,
                                 const void *beta, void *y, const INTEGER *incy) {
  typedef void forward(const char *, const INTEGER *, const INTEGER *, const void *, const void *,
                       const INTEGER *, const void *, const INTEGER *, const void *, void *, const INTEGER *,
                       size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(gemv), TSL_BLAS_UPPER "GEMV ");
  const int letter = tsl_blas_letter(*trans);
  const bool is_plain =
      (letter == 'N' || letter == 'T' || (letter == 'C' && !TSL_BLAS_IS_COMPLEX)) && *incx == 1 && *incy == 1;
  const tsl_vector_kernels *at_once = tsl_blas_small_matrix(&symbol, TSL_BLAS_TYPE, *m, *n, *lda, is_plain);
  if (at_once) {
    tsl_vector_multiply_small(at_once, letter != 'N', *m, *n, VALUE(alpha), a, *lda, x, VALUE(beta), y);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GEMV,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .trans = tsl_blas_letter(*trans),
                                                                             .m = *m,
                                                                             .n = *n,
                                                                             ALPHA_F,
                                                                             .a = a,
                                                                             .lda = *lda,
                                                                             X_F,
                                                                             BETA_F,
                                                                             Y_F});
  if (next) {
    ((forward *)next)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gemv))(int order, int trans, WORD m, WORD n, SCALAR alpha, const void *a, WORD lda,
                               const void *x, WORD incx, SCALAR beta, void *y, WORD incy) {
  typedef void forward(int, int, WORD, WORD, SCALAR, const void *, WORD, const void *, WORD, SCALAR, void *,
                       WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemv));
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR, is_plain = (by_rows || order == TSL_BLAS_COLUMN_MAJOR) &&
                                                               trans >= 111 &&
                                                               trans <= (TSL_BLAS_IS_COMPLEX ? 112 : 113) &&
                                                               (INTEGER)incx == 1 && (INTEGER)incy == 1;
  const INTEGER rows = (INTEGER)(by_rows ? n : m), columns = (INTEGER)(by_rows ? m : n);
  const tsl_vector_kernels *at_once =
      tsl_blas_small_matrix(&symbol, TSL_BLAS_TYPE, rows, columns, (INTEGER)lda, is_plain);
  if (at_once) {
    tsl_vector_multiply_small(at_once, (trans != 111) != by_rows, rows, columns, VALUE(SCALAR_AT(alpha)), a,
                              (INTEGER)lda, x, VALUE(SCALAR_AT(beta)), y);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GEMV,
                                                                             .order = order,
                                                                             .trans = tsl_blas_trans(trans),
                                                                             .m = (INTEGER)m,
                                                                             .n = (INTEGER)n,
                                                                             ALPHA_C,
                                                                             .a = a,
                                                                             .lda = (INTEGER)lda,
                                                                             X_C,
                                                                             BETA_C,
                                                                             Y_C});
  if (next) {
    ((forward *)next)(order, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(gbmv))(const char *trans, const INTEGER *m, const INTEGER *n, const INTEGER *kl,
                                 const INTEGER *ku, const void *alpha, const void *a, const INTEGER *lda,
                                 const void *x, const INTEGER *incx, const void *beta, void *y,
                                 const INTEGER *incy) {
  typedef void forward(const char *, const INTEGER *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *, const INTEGER *, const void *, const INTEGER *,
                       const void *, void *, const INTEGER *, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(gbmv), TSL_BLAS_UPPER "GBMV ");
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GBMV,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .trans = tsl_blas_letter(*trans),
                                                                             .m = *m,
                                                                             .n = *n,
                                                                             .kl = *kl,
                                                                             .ku = *ku,
                                                                             ALPHA_F,
                                                                             .a = a,
                                                                             .lda = *lda,
                                                                             X_F,
                                                                             BETA_F,
                                                                             Y_F});
  if (next) {
    ((forward *)next)(trans, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gbmv))(int order, int trans, WORD m, WORD n, WORD kl, WORD ku, SCALAR alpha,
                               const void *a, WORD lda, const void *x, WORD incx, SCALAR beta, void *y,
                               WORD incy) {
  typedef void forward(int, int, WORD, WORD, WORD, WORD, SCALAR, const void *, WORD, const void *, WORD,
                       SCALAR, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gbmv));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GBMV,
                                                                             .order = order,
                                                                             .trans = tsl_blas_trans(trans),
                                                                             .m = (INTEGER)m,
                                                                             .n = (INTEGER)n,
                                                                             .kl = (INTEGER)kl,
                                                                             .ku = (INTEGER)ku,
                                                                             ALPHA_C,
                                                                             .a = a,
                                                                             .lda = (INTEGER)lda,
                                                                             X_C,
                                                                             BETA_C,
                                                                             Y_C});
  if (next) {
    ((forward *)next)(order, trans, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy);
    tsl_blas_forwarded(&call);
  }
}

#if TSL_BLAS_IS_COMPLEX
#define OUTER geru
#define OUTER_TITLE "GERU "
#define OUTER_CONJUGATE false
#include "blas/entries/level2_outer.h"
#undef OUTER
#undef OUTER_TITLE
#undef OUTER_CONJUGATE
#define OUTER gerc
#define OUTER_TITLE "GERC "
#define OUTER_CONJUGATE true
#include "blas/entries/level2_outer.h"
#else
#define OUTER ger
#define OUTER_TITLE "GER  "
#define OUTER_CONJUGATE false
#include "blas/entries/level2_outer.h"
#endif
#undef OUTER
#undef OUTER_TITLE
#undef OUTER_CONJUGATE
