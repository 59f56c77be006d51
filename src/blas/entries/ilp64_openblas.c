/* Names with 64-bit integers of OpenBLAS: sgemm_64_, cblas_sgemm64_. */
#define TSL_BLAS_INTEGER int64_t
#define TSL_BLAS_WORD int64_t
#define TSL_BLAS_FORTRAN(name) name##_64_
#define TSL_BLAS_CBLAS(name) cblas_##name##64_
#include "blas/entries/scheme.h"
