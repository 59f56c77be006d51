/* A += alpha x y', or with conjugated y. OUTER: name. */
TESELA_API void FORTRAN(L(OUTER))(const INTEGER *m, const INTEGER *n, const void *alpha, const void *x,
                                  const INTEGER *incx, const void *y, const INTEGER *incy, void *a,
                                  const INTEGER *lda) {
  typedef void forward(const INTEGER *, const INTEGER *, const void *, const void *, const INTEGER *,
                       const void *, const INTEGER *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(OUTER), TSL_BLAS_UPPER OUTER_TITLE);
  const tsl_vector_kernels *at_once =
      tsl_blas_small_matrix(&symbol, TSL_BLAS_TYPE, *m, *n, *lda, *incx == 1 && *incy == 1);
  if (at_once) {
    tsl_vector_ger_small(at_once, *m, *n, VALUE(alpha), x, y, OUTER_CONJUGATE, a, *lda);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GER,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .hermitian = OUTER_CONJUGATE,
                                                                             .m = *m,
                                                                             .n = *n,
                                                                             ALPHA_F,
                                                                             X_F,
                                                                             Y_F,
                                                                             .a = a,
                                                                             .lda = *lda});
  if (next) {
    ((forward *)next)(m, n, alpha, x, incx, y, incy, a, lda);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(OUTER))(int order, WORD m, WORD n, SCALAR alpha, const void *x, WORD incx,
                                const void *y, WORD incy, void *a, WORD lda) {
  typedef void forward(int, WORD, WORD, SCALAR, const void *, WORD, const void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(OUTER));
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR,
             is_plain = (order == TSL_BLAS_COLUMN_MAJOR || (by_rows && !OUTER_CONJUGATE)) &&
                        (INTEGER)incx == 1 && (INTEGER)incy == 1;
  const INTEGER rows = (INTEGER)(by_rows ? n : m), columns = (INTEGER)(by_rows ? m : n);
  const tsl_vector_kernels *at_once =
      tsl_blas_small_matrix(&symbol, TSL_BLAS_TYPE, rows, columns, (INTEGER)lda, is_plain);
  if (at_once) {
    tsl_vector_ger_small(at_once, rows, columns, VALUE(SCALAR_AT(alpha)), by_rows ? y : x, by_rows ? x : y,
                         OUTER_CONJUGATE, a, (INTEGER)lda);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_GER,
                                                                             .order = order,
                                                                             .hermitian = OUTER_CONJUGATE,
                                                                             .m = (INTEGER)m,
                                                                             .n = (INTEGER)n,
                                                                             ALPHA_C,
                                                                             X_C,
                                                                             Y_C,
                                                                             .a = a,
                                                                             .lda = (INTEGER)lda});
  if (next) {
    ((forward *)next)(order, m, n, alpha, x, incx, y, incy, a, lda);
    tsl_blas_forwarded(&call);
  }
}
