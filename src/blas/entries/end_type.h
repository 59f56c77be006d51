/* Undefines the macros of one type of scheme.h. */
#undef TSL_BLAS_LETTER
#undef TSL_BLAS_UPPER
#undef TSL_BLAS_REAL
#undef TSL_BLAS_REAL_LETTER
#undef TSL_BLAS_SUFFIX
#undef SUM_LETTERS
#undef LARGEST
#undef TSL_BLAS_TYPE
#undef TSL_BLAS_ELEMENT
