/* x = op(A) x, or the solution of op(A) x = b. Name NAMED, routine KIND. */
TESELA_API void FORTRAN(L(NAMED))(const char *uplo, const char *trans, const char *diag, const INTEGER *n,
                                  K_FORTRAN const void *a, LD_FORTRAN void *x, const INTEGER *incx) {
  typedef void forward(const char *, const char *, const char *, const INTEGER *, K_FORTRAN const void *,
                       LD_FORTRAN void *, const INTEGER *, size_t, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(NAMED), TSL_BLAS_UPPER TITLED);
#if IS_FULL
  const int triangle = tsl_blas_letter(*uplo), letter = tsl_blas_letter(*trans),
            ones = tsl_blas_letter(*diag);
  const bool is_plain = (triangle == 'U' || triangle == 'L') && (ones == 'U' || ones == 'N') &&
                        (letter == 'N' || letter == 'T' || (letter == 'C' && !TSL_BLAS_IS_COMPLEX)) &&
                        *incx == 1;
  const tsl_vector_kernels *at_once = tsl_blas_small_triangle(&symbol, TSL_BLAS_TYPE, *n, *lda, is_plain);
  if (at_once) {
    at_once->column->diagonal(
        *n, a, *lda, (tsl_diagonal){triangle == 'U', letter != 'N', ones == 'U', KIND == TSL_BLAS_TRSV}, x);
    return;
  }
#endif
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .uplo = tsl_blas_letter(*uplo),
                                                                             .trans = tsl_blas_letter(*trans),
                                                                             .diag = tsl_blas_letter(*diag),
                                                                             .n = *n,
                                                                             K_F.a = a,
                                                                             LD_F X_F});
  if (next) {
    ((forward *)next)(uplo, trans, diag, n, K_PASS a, LD_PASS x, incx, 1, 1, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(NAMED))(int order, int uplo, int trans, int diag, WORD n, K_CBLAS const void *a,
                                LD_CBLAS void *x, WORD incx) {
  typedef void forward(int, int, int, int, WORD, K_CBLAS const void *, LD_CBLAS void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(NAMED));
#if IS_FULL
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR;
  const int triangle = tsl_blas_uplo(uplo), letter = tsl_blas_trans(trans), ones = tsl_blas_diag(diag);
  const bool is_plain = (by_rows || order == TSL_BLAS_COLUMN_MAJOR) && triangle != 0 && ones != 0 &&
                        (letter == 'N' || letter == 'T' || (letter == 'C' && !TSL_BLAS_IS_COMPLEX)) &&
                        (INTEGER)incx == 1;
  const tsl_vector_kernels *at_once =
      tsl_blas_small_triangle(&symbol, TSL_BLAS_TYPE, (INTEGER)n, (INTEGER)lda, is_plain);
  if (at_once) {
    at_once->column->diagonal((INTEGER)n, a, (INTEGER)lda,
                              (tsl_diagonal){(triangle == 'U') != by_rows, (letter != 'N') != by_rows,
                                             ones == 'U', KIND == TSL_BLAS_TRSV},
                              x);
    return;
  }
#endif
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = order,
                                                                             .uplo = tsl_blas_uplo(uplo),
                                                                             .trans = tsl_blas_trans(trans),
                                                                             .diag = tsl_blas_diag(diag),
                                                                             .n = (INTEGER)n,
                                                                             K_C.a = a,
                                                                             LD_C X_C});
  if (next) {
    ((forward *)next)(order, uplo, trans, diag, n, K_PASS a, LD_PASS x, incx);
    tsl_blas_forwarded(&call);
  }
}
