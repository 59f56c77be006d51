/* y = alpha A x + beta y of a symmetric or hermitian A: NAMED, for KIND. */
TESELA_API void FORTRAN(L(NAMED))(const char *uplo, const INTEGER *n, K_FORTRAN const void *alpha,
                                  const void *a, LD_FORTRAN const void *x, const INTEGER *incx,
                                  const void *beta, void *y, const INTEGER *incy) {
  typedef void forward(const char *, const INTEGER *, K_FORTRAN const void *, const void *,
                       LD_FORTRAN const void *, const INTEGER *, const void *, void *, const INTEGER *,
                       size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(NAMED), TSL_BLAS_UPPER TITLED);
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
