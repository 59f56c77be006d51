/* Macros as in fortran_dot.h. */
TESELA_API DOT_VALUE CBLAS(DOT)(WORD n, const void *x, WORD incx, const void *y, WORD incy) {
  typedef DOT_VALUE forward(WORD, const void *, WORD, const void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(DOT);
#if DOT_IS_PLAIN
  const tsl_line_kernels *at_once =
      tsl_blas_short_lines(&symbol, TSL_BLAS_TYPE, (INTEGER)n, (INTEGER)incx == 1 && (INTEGER)incy == 1);
  if (at_once)
    return (DOT_VALUE)at_once->dot((INTEGER)n, x, 1, false, y, 1).re;
#endif
  tsl_blas_call call = {.symbol = &symbol};
  DOT_VALUE result = 0;
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)(INTEGER)n);
  if (!next)
    next = tsl_blas_dot(&call, &(tsl_blas_sum){CBLAS_SUM, .result_type = DOT_TYPE, .result = &result});
  if (next) {
    result = ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
  return result;
}
