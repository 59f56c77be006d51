/* y = alpha A x + beta y for a symmetric or hermitian A. Name NAMED, routine KIND. */
TESELA_API void FORTRAN(L(NAMED))(const char *uplo, const INTEGER *n, K_FORTRAN const void *alpha,
                                  const void *a, LD_FORTRAN const void *x, const INTEGER *incx,
                                  const void *beta, void *y, const INTEGER *incy) {
  typedef void forward(const char *, const INTEGER *, K_FORTRAN const void *, const void *,
                       LD_FORTRAN const void *, const INTEGER *, const void *, void *, const INTEGER *,
                       size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(NAMED), TSL_BLAS_UPPER TITLED);
#if IS_FULL
  const int letter = tsl_blas_letter(*uplo);
  const bool is_plain = (letter == 'U' || letter == 'L') && *incx == 1 && *incy == 1;
  const tsl_vector_kernels *at_once = tsl_blas_small_triangle(&symbol, TSL_BLAS_TYPE, *n, *lda, is_plain);
  if (at_once) {
    tsl_vector_symmetric_small(at_once, letter == 'U', TSL_BLAS_IS_COMPLEX, *n, VALUE(alpha), a, *lda, x,
                               VALUE(beta), y);
    return;
  }
#endif
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .uplo = tsl_blas_letter(*uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = *n,
                                                                             K_F ALPHA_F,
                                                                             .a = a,
                                                                             LD_F X_F,
                                                                             BETA_F,
                                                                             Y_F});
  if (next) {
    ((forward *)next)(uplo, n, K_PASS alpha, a, LD_PASS x, incx, beta, y, incy, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(NAMED))(int order, int uplo, WORD n, K_CBLAS SCALAR alpha, const void *a,
                                LD_CBLAS const void *x, WORD incx, SCALAR beta, void *y, WORD incy) {
  typedef void forward(int, int, WORD, K_CBLAS SCALAR, const void *, LD_CBLAS const void *, WORD, SCALAR,
                       void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(NAMED));
#if IS_FULL
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR && !TSL_BLAS_IS_COMPLEX;
  const int letter = tsl_blas_uplo(uplo);
  const bool is_plain =
      (by_rows || order == TSL_BLAS_COLUMN_MAJOR) && letter != 0 && (INTEGER)incx == 1 && (INTEGER)incy == 1;
  const tsl_vector_kernels *at_once =
      tsl_blas_small_triangle(&symbol, TSL_BLAS_TYPE, (INTEGER)n, (INTEGER)lda, is_plain);
  if (at_once) {
    tsl_vector_symmetric_small(at_once, (letter == 'U') != by_rows, TSL_BLAS_IS_COMPLEX, (INTEGER)n,
                               VALUE(SCALAR_AT(alpha)), a, (INTEGER)lda, x, VALUE(SCALAR_AT(beta)), y);
    return;
  }
#endif
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = order,
                                                                             .uplo = tsl_blas_uplo(uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = (INTEGER)n,
                                                                             K_C ALPHA_C,
                                                                             .a = a,
                                                                             LD_C X_C,
                                                                             BETA_C,
                                                                             Y_C});
  if (next) {
    ((forward *)next)(order, uplo, n, K_PASS alpha, a, LD_PASS x, incx, beta, y, incy);
    tsl_blas_forwarded(&call);
  }
}
