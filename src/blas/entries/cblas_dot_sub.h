/* A complex dot as CBLAS has it: the result by pointer. */
TESELA_API void CBLAS(DOT_SUB)(INTEGER n, const void *x, INTEGER incx, const void *y, INTEGER incy,
                               void *result) {
  typedef void forward(INTEGER, const void *, INTEGER, const void *, INTEGER, void *);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(DOT_SUB);
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)n);
  if (!next)
    next = tsl_blas_dot(&call, &(tsl_blas_sum){.n = n,
                                               .x = x,
                                               .incx = incx,
                                               .y = y,
                                               .incy = incy,
                                               .conjugate = DOT_CONJUGATE,
                                               .result_type = TSL_BLAS_TYPE,
                                               .result = result});
  if (next) {
    ((forward *)next)(n, x, incx, y, incy, result);
    tsl_blas_forwarded(&call);
  }
}
