/* GEMMT: one of the routine's two names. GEMMT_TITLE: name for xerbla. */
TESELA_API void FORTRAN(L(GEMMT))(const char *uplo, const char *transa, const char *transb, const INTEGER *n,
                                  const INTEGER *k, const void *alpha, const void *a, const INTEGER *lda,
                                  const void *b, const INTEGER *ldb, const void *beta, void *c,
                                  const INTEGER *ldc) {
  typedef void forward(const char *, const char *, const char *, const INTEGER *, const INTEGER *,
                       const void *, const void *, const INTEGER *, const void *, const INTEGER *,
                       const void *, void *, const INTEGER *, size_t, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(GEMMT), TSL_BLAS_UPPER GEMMT_TITLE);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*n * (double)*n * (double)*k);
  if (!next)
    next = tsl_blas_gemmt(
        &call,
        &(tsl_blas_multiply){
            .order = TSL_BLAS_COLUMN_MAJOR, .uplo = tsl_blas_letter(*uplo), .m = *n, .n = *n, ARGUMENTS});
  if (next) {
    ((forward *)next)(uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1, 1);
    tsl_blas_forwarded(&call);
  }
}
