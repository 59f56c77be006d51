/* Names with 64-bit integers of the reference, MKL and BLIS: sgemm_64, cblas_sgemm_64. */
#define TSL_BLAS_INTEGER int64_t
#define TSL_BLAS_WORD int64_t
#define TSL_BLAS_FORTRAN(name) name##_64
#define TSL_BLAS_CBLAS(name) cblas_##name##_64
#include "blas/entries/scheme.h"
