/* Macros as in level3_update.h. */
TESELA_API void FORTRAN(L(ROUTINE))(const char *side, const char *uplo, const char *trans, const char *diag,
                                    const INTEGER *m, const INTEGER *n, const void *alpha, const void *a,
                                    const INTEGER *lda, void *b, const INTEGER *ldb) {
  typedef void forward(const char *, const char *, const char *, const char *, const INTEGER *,
                       const INTEGER *, const void *, const void *, const INTEGER *, void *, const INTEGER *,
                       size_t, size_t, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(ROUTINE), TSL_BLAS_UPPER TITLE);
  tsl_blas_call call = {.symbol = &symbol};
  const tsl_blas_multiply given = {.routine = KIND,
                                   .order = TSL_BLAS_COLUMN_MAJOR,
                                   .side = tsl_blas_letter(*side),
                                   .uplo = tsl_blas_letter(*uplo),
                                   .trans_a = tsl_blas_letter(*trans),
                                   .diag = tsl_blas_letter(*diag),
                                   .m = *m,
                                   .n = *n,
                                   .alpha = alpha,
                                   .a = a,
                                   .lda = *lda,
                                   .b = b,
                                   .ldb = *ldb};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, tsl_blas_level3_volume(&given));
  if (!next)
    next = tsl_blas_level3(&call, &given);
  if (next) {
    ((forward *)next)(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, 1, 1, 1, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(ROUTINE))(int order, int side, int uplo, int trans, int diag, WORD m, WORD n,
                                  SCALAR alpha, const void *a, WORD lda, void *b, WORD ldb) {
  typedef void forward(int, int, int, int, int, WORD, WORD, SCALAR, const void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(ROUTINE));
  tsl_blas_call call = {.symbol = &symbol};
  const tsl_blas_multiply given = {.routine = KIND,
                                   .order = order,
                                   .side = tsl_blas_side(side),
                                   .uplo = tsl_blas_uplo(uplo),
                                   .trans_a = tsl_blas_trans(trans),
                                   .diag = tsl_blas_diag(diag),
                                   .m = (INTEGER)m,
                                   .n = (INTEGER)n,
                                   .alpha = SCALAR_AT(alpha),
                                   .a = a,
                                   .lda = (INTEGER)lda,
                                   .b = b,
                                   .ldb = (INTEGER)ldb};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, tsl_blas_level3_volume(&given));
  if (!next)
    next = tsl_blas_level3(&call, &given);
  if (next) {
    ((forward *)next)(order, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
    tsl_blas_forwarded(&call);
  }
}
