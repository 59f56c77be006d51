/* FACTOR is real where the routine needs a real scalar. */
#define ROUTINE herk
#define TITLE "HERK "
#define KIND TSL_BLAS_HERK
#define FACTOR TSL_BLAS_REAL
#define FACTOR_AT(scalar) (&(scalar))
#include "blas/entries/level3_update.h"
#undef ROUTINE
#undef TITLE
#undef KIND
#undef FACTOR
#undef FACTOR_AT

#define ROUTINE her2k
#define TITLE "HER2K"
#define KIND TSL_BLAS_HER2K
#define FACTOR TSL_BLAS_REAL
#define FACTOR_AT(scalar) (&(scalar))
#include "blas/entries/level3_update2.h"
#undef ROUTINE
#undef TITLE
#undef KIND
#undef FACTOR
#undef FACTOR_AT

#define ROUTINE hemm
#define TITLE "HEMM "
#define KIND TSL_BLAS_HEMM
#include "blas/entries/level3_symmetric.h"
#undef ROUTINE
#undef TITLE
#undef KIND
