/* CBLAS passes real scalars by value. */
#define SCALAR TSL_BLAS_ELEMENT
#define SCALAR_AT(scalar) (&(scalar))
#define SCALAR_OF(element) (element)
#include "blas/entries/fortran.h"

#include "blas/entries/cblas.h"

#define TSL_BLAS_IS_COMPLEX 0
#include "blas/entries/blas_entry_vectors.h"
#undef TSL_BLAS_IS_COMPLEX

#include "blas/entries/blas_entry_level3.h"
#undef SCALAR
#undef SCALAR_AT
#undef SCALAR_OF

#define DOT_IS_PLAIN 1
#define DOT_VALUE TSL_BLAS_ELEMENT
#define DOT_TYPE TSL_BLAS_TYPE
#define DOT_CONJUGATE false
#define DOT L(dot)
#define DOT_TITLE TSL_BLAS_UPPER "DOT"
#include "blas/entries/fortran_dot.h"

#include "blas/entries/cblas_dot.h"
#undef DOT
#undef DOT_TITLE
#undef DOT_CONJUGATE
#undef DOT_VALUE
#undef DOT_IS_PLAIN
#undef DOT_TYPE
