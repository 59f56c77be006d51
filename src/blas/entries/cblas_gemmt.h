/* GEMMT: one of the function's two names. */
TESELA_API void CBLAS(L(GEMMT))(int order, int uplo, int transa, int transb, WORD n, WORD k, SCALAR alpha,
                                const void *a, WORD lda, const void *b, WORD ldb, SCALAR beta, void *c,
                                WORD ldc) {
  typedef void forward(int, int, int, int, WORD, WORD, SCALAR, const void *, WORD, const void *, WORD, SCALAR,
                       void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(GEMMT));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next =
      tsl_blas_forward_if_below(&symbol, (double)(INTEGER)n * (double)(INTEGER)n * (double)(INTEGER)k);
  if (!next)
    next = tsl_blas_gemmt(
        &call, &(tsl_blas_multiply){
                   .order = order, .uplo = tsl_blas_uplo(uplo), .m = (INTEGER)n, .n = (INTEGER)n, ARGUMENTS});
  if (next) {
    ((forward *)next)(order, uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}
