/* Construction of rotations, and modified rotations. Only calls on vectors are forwarded. */
#define ROTATION(name) PASTE(name, TSL_BLAS_SUFFIX)
#if TSL_BLAS_IS_COMPLEX
TESELA_API void FORTRAN(L(rotg))(TSL_BLAS_REAL *a, const TSL_BLAS_REAL *b, TSL_BLAS_REAL *c,
                                 TSL_BLAS_REAL *s) {
  ROTATION(tsl_rotation_complex)(a, b, c, s);
}
TESELA_API void CBLAS(L(rotg))(void *a, void *b, TSL_BLAS_REAL *c, void *s) {
  ROTATION(tsl_rotation_complex)(a, b, c, s);
}
#else
TESELA_API void FORTRAN(L(rotg))(TSL_BLAS_REAL *a, TSL_BLAS_REAL *b, TSL_BLAS_REAL *c, TSL_BLAS_REAL *s) {
  ROTATION(tsl_rotation_real)(a, b, c, s);
}
TESELA_API void CBLAS(L(rotg))(TSL_BLAS_REAL *a, TSL_BLAS_REAL *b, TSL_BLAS_REAL *c, TSL_BLAS_REAL *s) {
  ROTATION(tsl_rotation_real)(a, b, c, s);
}
TESELA_API void FORTRAN(L(rotmg))(TSL_BLAS_REAL *d1, TSL_BLAS_REAL *d2, TSL_BLAS_REAL *x1,
                                  const TSL_BLAS_REAL *y1, TSL_BLAS_REAL *param) {
  ROTATION(tsl_rotation_modified)(d1, d2, x1, *y1, param);
}
TESELA_API void CBLAS(L(rotmg))(TSL_BLAS_REAL *d1, TSL_BLAS_REAL *d2, TSL_BLAS_REAL *x1, TSL_BLAS_REAL y1,
                                TSL_BLAS_REAL *param) {
  ROTATION(tsl_rotation_modified)(d1, d2, x1, y1, param);
}

TESELA_API void FORTRAN(L(rotm))(const INTEGER *n, void *x, const INTEGER *incx, void *y, const INTEGER *incy,
                                 const TSL_BLAS_REAL *param) {
  typedef void forward(const INTEGER *, void *, const INTEGER *, void *, const INTEGER *,
                       const TSL_BLAS_REAL *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(rotm), TSL_BLAS_UPPER "ROTM");
  tsl_blas_call call = {.symbol = &symbol};
  const double numbers[5] = {(double)param[0], (double)param[1], (double)param[2], (double)param[3],
                             (double)param[4]};
  double h[4];
  tsl_blas_function *next = tsl_blas_modified(numbers, h) ? tsl_blas_rot(&call, FORTRAN_LINES, h) : NULL;
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, param);
    tsl_blas_forwarded(&call);
  }
}
TESELA_API void CBLAS(L(rotm))(WORD n, void *x, WORD incx, void *y, WORD incy, const TSL_BLAS_REAL *param) {
  typedef void forward(WORD, void *, WORD, void *, WORD, const TSL_BLAS_REAL *);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(rotm));
  tsl_blas_call call = {.symbol = &symbol};
  const double numbers[5] = {(double)param[0], (double)param[1], (double)param[2], (double)param[3],
                             (double)param[4]};
  double h[4];
  tsl_blas_function *next = tsl_blas_modified(numbers, h) ? tsl_blas_rot(&call, CBLAS_LINES, h) : NULL;
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, param);
    tsl_blas_forwarded(&call);
  }
}
#endif
#undef ROTATION
