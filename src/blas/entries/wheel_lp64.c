/* Names of OpenBLAS in SciPy's wheels, 32-bit integers: scipy_sgemm_, scipy_cblas_sgemm. */
#define TSL_BLAS_INTEGER int32_t
#define TSL_BLAS_WORD intptr_t
#define TSL_BLAS_FORTRAN(name) scipy_##name##_
#define TSL_BLAS_CBLAS(name) scipy_cblas_##name
#include "blas/entries/scheme.h"
