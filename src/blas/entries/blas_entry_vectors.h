#include "blas/entries/blas_entry_level1.h"

#if TSL_BLAS_IS_COMPLEX
#define STRETCH PASTE(TSL_BLAS_LETTER, PASTE(TSL_BLAS_REAL_LETTER, scal))
#include "blas/entries/level1_stretch.h"
#undef STRETCH
#define ROT PASTE(TSL_BLAS_LETTER, PASTE(TSL_BLAS_REAL_LETTER, rot))
#else
#define ROT L(rot)
#endif
#include "blas/entries/level1_rot.h"
#undef ROT

#include "blas/entries/level1_rotations.h"

#include "blas/entries/blas_entry_level2.h"

#undef VALUE
#undef FORTRAN_LINES
#undef CBLAS_LINES
#undef FORTRAN_LINE
#undef CBLAS_LINE
#undef SHORT_LINES
#undef IS_ZERO
