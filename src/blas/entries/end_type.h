/* Ends a type of scheme.h: the next one says all of this anew. */
#undef TSL_BLAS_LETTER
#undef TSL_BLAS_UPPER
#undef TSL_BLAS_REAL
#undef TSL_BLAS_REAL_LETTER
#undef TSL_BLAS_SUFFIX
#undef SUM_LETTERS
#undef LARGEST
#undef TSL_BLAS_TYPE
#undef TSL_BLAS_ELEMENT
