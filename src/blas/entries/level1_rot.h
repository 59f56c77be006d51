TESELA_API void FORTRAN(ROT)(const INTEGER *n, void *x, const INTEGER *incx, void *y, const INTEGER *incy,
                             const TSL_BLAS_REAL *c, const TSL_BLAS_REAL *s) {
  typedef void forward(const INTEGER *, void *, const INTEGER *, void *, const INTEGER *,
                       const TSL_BLAS_REAL *, const TSL_BLAS_REAL *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(ROT, STRING(ROT));
  tsl_blas_call call = {.symbol = &symbol};
  const double h[4] = {(double)*c, (double)*s, -(double)*s, (double)*c};
  tsl_blas_function *next = tsl_blas_rot(&call, FORTRAN_LINES, h);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, c, s);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(ROT)(WORD n, void *x, WORD incx, void *y, WORD incy, TSL_BLAS_REAL c, TSL_BLAS_REAL s) {
  typedef void forward(WORD, void *, WORD, void *, WORD, TSL_BLAS_REAL, TSL_BLAS_REAL);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(ROT);
  tsl_blas_call call = {.symbol = &symbol};
  const double h[4] = {(double)c, (double)s, -(double)s, (double)c};
  tsl_blas_function *next = tsl_blas_rot(&call, CBLAS_LINES, h);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, c, s);
    tsl_blas_forwarded(&call);
  }
}
