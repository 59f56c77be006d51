/* Names of OpenBLAS in NumPy's wheels, 64-bit integers: scipy_sgemm_64_, scipy_cblas_sgemm64_. */
#define TSL_BLAS_INTEGER int64_t
#define TSL_BLAS_WORD int64_t
#define TSL_BLAS_FORTRAN(name) scipy_##name##_64_
#define TSL_BLAS_CBLAS(name) scipy_cblas_##name##64_
#include "blas/entries/scheme.h"
