/* Usual names, 32-bit integers: sgemm_, cblas_sgemm. */
#define TSL_BLAS_INTEGER int32_t
#define TSL_BLAS_WORD intptr_t
#define TSL_BLAS_FORTRAN(name) name##_
#define TSL_BLAS_CBLAS(name) cblas_##name
#include "blas/entries/scheme.h"
