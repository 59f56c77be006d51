/* Error handler for integers of one width, named TSL_BLAS_XERBLA. */
WEAK void TSL_BLAS_XERBLA(const char *name, const TSL_BLAS_INTEGER *number, size_t length) {
  static tsl_blas_lazy_symbol late;
  tsl_blas_function *other = tsl_blas_find(&late, ALONE_STRING(TSL_BLAS_XERBLA), true);
  if (other)
    ((fortran_handler *)other)(name, number, length);
  else
    xerbla_report(name, xerbla_length(name, length), (long long)*number);
}
