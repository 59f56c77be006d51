#define ROUTINE syrk
#define TITLE "SYRK "
#define KIND TSL_BLAS_SYRK
#define FACTOR SCALAR
#define FACTOR_AT(scalar) SCALAR_AT(scalar)
#include "blas/entries/level3_update.h"
#undef ROUTINE
#undef TITLE
#undef KIND
#undef FACTOR
#undef FACTOR_AT

#define ROUTINE syr2k
#define TITLE "SYR2K"
#define KIND TSL_BLAS_SYR2K
#define FACTOR SCALAR
#define FACTOR_AT(scalar) SCALAR_AT(scalar)
#include "blas/entries/level3_update2.h"
#undef ROUTINE
#undef TITLE
#undef KIND
#undef FACTOR
#undef FACTOR_AT

#define ROUTINE symm
#define TITLE "SYMM "
#define KIND TSL_BLAS_SYMM
#include "blas/entries/level3_symmetric.h"
#undef ROUTINE
#undef TITLE
#undef KIND

#define ROUTINE trmm
#define TITLE "TRMM "
#define KIND TSL_BLAS_TRMM
#include "blas/entries/level3_triangle.h"
#undef ROUTINE
#undef TITLE
#undef KIND

#define ROUTINE trsm
#define TITLE "TRSM "
#define KIND TSL_BLAS_TRSM
#include "blas/entries/level3_triangle.h"
#undef ROUTINE
#undef TITLE
#undef KIND
