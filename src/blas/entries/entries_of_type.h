/* The entries of one type in both interfaces. CBLAS passes real scalars by value, complex ones by address. */
#if TSL_BLAS_IS_COMPLEX
#define CBLAS_SCALAR const void *
#define SCALAR_ADDRESS(scalar) (scalar)
#define ELEMENT_AS_SCALAR(element) (&(element))
#define BY_FIELD(real, complex) complex
#else
#define CBLAS_SCALAR TSL_BLAS_ELEMENT
#define SCALAR_ADDRESS(scalar) (&(scalar))
#define ELEMENT_AS_SCALAR(element) (element)
#define BY_FIELD(real, complex) real
#endif

#define INTERFACE FORTRAN
#include "blas/entries/routines.h"
#undef INTERFACE
#define INTERFACE CBLAS
#include "blas/entries/routines.h"
#undef INTERFACE

#undef CBLAS_SCALAR
#undef SCALAR_ADDRESS
#undef ELEMENT_AS_SCALAR
#undef BY_FIELD
#undef TSL_BLAS_LETTER
#undef TSL_BLAS_UPPER
#undef TSL_BLAS_REAL
#undef TSL_BLAS_REAL_LETTER
#undef TSL_BLAS_SUFFIX
#undef TSL_BLAS_TYPE
#undef TSL_BLAS_ELEMENT
#undef TSL_BLAS_IS_COMPLEX
