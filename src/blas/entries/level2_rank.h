/* A += alpha x x' with real alpha: name NAMED, routine KIND. A += alpha x y' + alpha y x':
 * NAMED_TWO, KIND_TWO. Conjugated for a hermitian A. */
TESELA_API void FORTRAN(L(NAMED))(const char *uplo, const INTEGER *n, const TSL_BLAS_REAL *alpha,
                                  const void *x, const INTEGER *incx, void *a LAST_LD_FORTRAN) {
  typedef void forward(const char *, const INTEGER *, const TSL_BLAS_REAL *, const void *, const INTEGER *,
                       void *LAST_LD_FORTRAN, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(NAMED), TSL_BLAS_UPPER TITLED);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .uplo = tsl_blas_letter(*uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = *n,
                                                                             .alpha = {(double)*alpha, 0},
                                                                             X_F,
                                                                             LD_F.a = a});
  if (next) {
    ((forward *)next)(uplo, n, alpha, x, incx, a LAST_LD_PASS, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(NAMED))(int order, int uplo, WORD n, TSL_BLAS_REAL alpha, const void *x, WORD incx,
                                void *a LAST_LD_CBLAS) {
  typedef void forward(int, int, WORD, TSL_BLAS_REAL, const void *, WORD, void *LAST_LD_CBLAS);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(NAMED));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND,
                                                                             .order = order,
                                                                             .uplo = tsl_blas_uplo(uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = (INTEGER)n,
                                                                             .alpha = {(double)alpha, 0},
                                                                             X_C,
                                                                             LD_C.a = a});
  if (next) {
    ((forward *)next)(order, uplo, n, alpha, x, incx, a LAST_LD_PASS);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(NAMED_TWO))(const char *uplo, const INTEGER *n, const void *alpha, const void *x,
                                      const INTEGER *incx, const void *y, const INTEGER *incy,
                                      void *a LAST_LD_FORTRAN) {
  typedef void forward(const char *, const INTEGER *, const void *, const void *, const INTEGER *,
                       const void *, const INTEGER *, void *LAST_LD_FORTRAN, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(NAMED_TWO), TSL_BLAS_UPPER TITLED_TWO);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND_TWO,
                                                                             .order = TSL_BLAS_COLUMN_MAJOR,
                                                                             .uplo = tsl_blas_letter(*uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = *n,
                                                                             ALPHA_F,
                                                                             X_F,
                                                                             Y_F,
                                                                             LD_F.a = a});
  if (next) {
    ((forward *)next)(uplo, n, alpha, x, incx, y, incy, a LAST_LD_PASS, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(NAMED_TWO))(int order, int uplo, WORD n, SCALAR alpha, const void *x, WORD incx,
                                    const void *y, WORD incy, void *a LAST_LD_CBLAS) {
  typedef void forward(int, int, WORD, SCALAR, const void *, WORD, const void *, WORD, void *LAST_LD_CBLAS);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(NAMED_TWO));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = KIND_TWO,
                                                                             .order = order,
                                                                             .uplo = tsl_blas_uplo(uplo),
                                                                             .hermitian = TSL_BLAS_IS_COMPLEX,
                                                                             .n = (INTEGER)n,
                                                                             ALPHA_C,
                                                                             X_C,
                                                                             Y_C,
                                                                             LD_C.a = a});
  if (next) {
    ((forward *)next)(order, uplo, n, alpha, x, incx, y, incy, a LAST_LD_PASS);
    tsl_blas_forwarded(&call);
  }
}
