/* Complex dot, which returns its result by pointer. */
TESELA_API void CBLAS(DOT_SUB)(WORD n, const void *x, WORD incx, const void *y, WORD incy, void *result) {
  typedef void forward(WORD, const void *, WORD, const void *, WORD, void *);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(DOT_SUB);
  const tsl_line_kernels *at_once =
      tsl_blas_short_lines(&symbol, TSL_BLAS_TYPE, (INTEGER)n, (INTEGER)incx == 1 && (INTEGER)incy == 1);
  if (at_once) {
    tsl_blas_put_number(TSL_BLAS_TYPE, at_once->dot((INTEGER)n, x, 1, DOT_CONJUGATE, y, 1), result);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)(INTEGER)n);
  if (!next)
    next = tsl_blas_dot(&call, &(tsl_blas_sum){CBLAS_SUM, .conjugate = DOT_CONJUGATE,
                                               .result_type = TSL_BLAS_TYPE, .result = result});
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, result);
    tsl_blas_forwarded(&call);
  }
}
