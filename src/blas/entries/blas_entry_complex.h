/* CBLAS passes scalars and dots by pointer; Fortran returns a dot in registers, as gfortran does. */
#define SCALAR const void *
#define SCALAR_AT(scalar) (scalar)
#define SCALAR_OF(element) (&(element))
#include "blas/entries/fortran.h"

#include "blas/entries/cblas.h"

#define TSL_BLAS_IS_COMPLEX 1
#include "blas/entries/blas_entry_vectors.h"
#undef TSL_BLAS_IS_COMPLEX

#include "blas/entries/blas_entry_level3.h"

#include "blas/entries/level3_complex.h"
#undef SCALAR
#undef SCALAR_AT
#undef SCALAR_OF

#define DOT_IS_PLAIN 1
#define DOT_VALUE TSL_BLAS_ELEMENT
#define DOT_TYPE TSL_BLAS_TYPE
#define DOT L(dotu)
#define DOT_SUB L(dotu_sub)
#define DOT_TITLE TSL_BLAS_UPPER "DOTU"
#define DOT_CONJUGATE false
#include "blas/entries/fortran_dot.h"

#include "blas/entries/cblas_dot_sub.h"
#undef DOT
#undef DOT_SUB
#undef DOT_TITLE
#undef DOT_CONJUGATE

#define DOT L(dotc)
#define DOT_SUB L(dotc_sub)
#define DOT_TITLE TSL_BLAS_UPPER "DOTC"
#define DOT_CONJUGATE true
#include "blas/entries/fortran_dot.h"

#include "blas/entries/cblas_dot_sub.h"
#undef DOT
#undef DOT_SUB
#undef DOT_TITLE
#undef DOT_CONJUGATE
#undef DOT_VALUE
#undef DOT_IS_PLAIN
#undef DOT_TYPE
