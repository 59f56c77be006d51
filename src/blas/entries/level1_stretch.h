/* Complex elements times a real number; STRETCH: name. */
TESELA_API void FORTRAN(STRETCH)(const INTEGER *n, const TSL_BLAS_REAL *alpha, void *x, const INTEGER *incx) {
  typedef void forward(const INTEGER *, const TSL_BLAS_REAL *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(STRETCH, STRING(STRETCH));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_scal(&call, FORTRAN_LINE, (tsl_vector_number){(double)*alpha, 0}, true);
  if (next) {
    ((forward *)next)(n, alpha, x, incx);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(STRETCH)(WORD n, TSL_BLAS_REAL alpha, void *x, WORD incx) {
  typedef void forward(WORD, TSL_BLAS_REAL, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(STRETCH);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_scal(&call, CBLAS_LINE, (tsl_vector_number){(double)alpha, 0}, true);
  if (next) {
    ((forward *)next)(n, alpha, x, incx);
    tsl_blas_forwarded(&call);
  }
}
