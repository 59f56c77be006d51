/* Dot as a Fortran function. DOT: name. DOT_TITLE: name for xerbla. DOT_CONJUGATE: conjugates x.
 * DOT_VALUE, DOT_TYPE: type of the sum. DOT_IS_PLAIN: the sum has the elements' type. */
TESELA_API DOT_VALUE FORTRAN(DOT)(const INTEGER *n, const void *x, const INTEGER *incx, const void *y,
                                  const INTEGER *incy) {
  typedef DOT_VALUE forward(const INTEGER *, const void *, const INTEGER *, const void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(DOT, DOT_TITLE);
#if DOT_IS_PLAIN
  DOT_VALUE sum;
  const tsl_line_kernels *at_once =
      tsl_blas_short_lines(&symbol, TSL_BLAS_TYPE, *n, *incx == 1 && *incy == 1);
  if (at_once) {
    tsl_blas_put_number(TSL_BLAS_TYPE, at_once->dot(*n, x, 1, DOT_CONJUGATE, y, 1), &sum);
    return sum;
  }
#endif
  tsl_blas_call call = {.symbol = &symbol};
  DOT_VALUE result = 0;
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*n);
  if (!next)
    next = tsl_blas_dot(&call, &(tsl_blas_sum){FORTRAN_SUM, .conjugate = DOT_CONJUGATE,
                                               .result_type = DOT_TYPE, .result = &result});
  if (next) {
    result = ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
  return result;
}
