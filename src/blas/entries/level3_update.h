/* ROUTINE: name. TITLE: name for xerbla. KIND: tsl_blas_routine. FACTOR: CBLAS type of both scalars.
 * FACTOR_AT(scalar): its address. */
TESELA_API void FORTRAN(L(ROUTINE))(const char *uplo, const char *trans, const INTEGER *n, const INTEGER *k,
                                    const void *alpha, const void *a, const INTEGER *lda, const void *beta,
                                    void *c, const INTEGER *ldc) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const void *,
                       const void *, const INTEGER *, const void *, void *, const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(ROUTINE), TSL_BLAS_UPPER TITLE);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*n * (double)*n * (double)*k);
  if (!next)
    next = tsl_blas_level3(&call, &(tsl_blas_multiply){.routine = KIND,
                                                       .order = TSL_BLAS_COLUMN_MAJOR,
                                                       .uplo = tsl_blas_letter(*uplo),
                                                       .trans_a = tsl_blas_letter(*trans),
                                                       .m = *n,
                                                       .n = *n,
                                                       .k = *k,
                                                       .alpha = alpha,
                                                       .a = a,
                                                       .lda = *lda,
                                                       .beta = beta,
                                                       .c = c,
                                                       .ldc = *ldc});
  if (next) {
    ((forward *)next)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(ROUTINE))(int order, int uplo, int trans, WORD n, WORD k, FACTOR alpha, const void *a,
                                  WORD lda, FACTOR beta, void *c, WORD ldc) {
  typedef void forward(int, int, int, WORD, WORD, FACTOR, const void *, WORD, FACTOR, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(ROUTINE));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next =
      tsl_blas_forward_if_below(&symbol, (double)(INTEGER)n * (double)(INTEGER)n * (double)(INTEGER)k);
  if (!next)
    next = tsl_blas_level3(&call, &(tsl_blas_multiply){.routine = KIND,
                                                       .order = order,
                                                       .uplo = tsl_blas_uplo(uplo),
                                                       .trans_a = tsl_blas_trans(trans),
                                                       .m = (INTEGER)n,
                                                       .n = (INTEGER)n,
                                                       .k = (INTEGER)k,
                                                       .alpha = FACTOR_AT(alpha),
                                                       .a = a,
                                                       .lda = (INTEGER)lda,
                                                       .beta = FACTOR_AT(beta),
                                                       .c = c,
                                                       .ldc = (INTEGER)ldc});
  if (next) {
    ((forward *)next)(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}
