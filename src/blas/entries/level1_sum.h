/* Real sum of magnitudes. SUM: name. SUM_OF: function. SUM_AT_ONCE: expression for a short vector. */
TESELA_API TSL_BLAS_REAL FORTRAN(SUM)(const INTEGER *n, const void *x, const INTEGER *incx) {
  typedef TSL_BLAS_REAL forward(const INTEGER *, const void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(SUM, STRING(SUM));
  if (SHORT_LINES(*n, *incx == 1))
    return (TSL_BLAS_REAL)SUM_AT_ONCE(tsl_vector_kernels_of(TSL_BLAS_TYPE), *n, x);
  tsl_blas_call call = {.symbol = &symbol};
  double sum = 0;
  tsl_blas_function *next = SUM_OF(&call, FORTRAN_LINE, &sum);
  if (next) {
    sum = (double)((forward *)next)(n, x, incx);
    tsl_blas_forwarded(&call);
  }
  return (TSL_BLAS_REAL)sum;
}

TESELA_API TSL_BLAS_REAL CBLAS(SUM)(WORD n, const void *x, WORD incx) {
  typedef TSL_BLAS_REAL forward(WORD, const void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(SUM);
  if (SHORT_LINES((INTEGER)n, (INTEGER)incx == 1))
    return (TSL_BLAS_REAL)SUM_AT_ONCE(tsl_vector_kernels_of(TSL_BLAS_TYPE), (INTEGER)n, x);
  tsl_blas_call call = {.symbol = &symbol};
  double sum = 0;
  tsl_blas_function *next = SUM_OF(&call, CBLAS_LINE, &sum);
  if (next) {
    sum = (double)((forward *)next)(n, x, incx);
    tsl_blas_forwarded(&call);
  }
  return (TSL_BLAS_REAL)sum;
}
