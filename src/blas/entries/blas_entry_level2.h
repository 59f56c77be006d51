/* Level 2 of one type: Fortran routines and CBLAS functions. Of a matrix's arguments a full one has (a, lda),
 * a packed one (a), a band (a, lda) and a k before; the macros below are these, with a comma behind or in
 * front, as they are declared (F: Fortran's, C: CBLAS's), handed on (K_PASS, ...) and said (K_F, ...). */
#define ALPHA_F .alpha = VALUE(alpha)
#define ALPHA_C .alpha = VALUE(SCALAR_AT(alpha))
#define BETA_F .beta = VALUE(beta)
#define BETA_C .beta = VALUE(SCALAR_AT(beta))
#define X_F .x = x, .incx = *incx
#define X_C .x = x, .incx = (INTEGER)incx
#define Y_F .y = y, .incy = *incy
#define Y_C .y = y, .incy = (INTEGER)incy

#include "blas/entries/level2_general.h"

#define HAS_LD
#define ROUTINE_OF(full, band, packed) full
#include "blas/entries/level2_storage.h"
#undef ROUTINE_OF
#define HAS_K
#define ROUTINE_OF(full, band, packed) band
#include "blas/entries/level2_storage.h"
#undef ROUTINE_OF
#undef HAS_K
#undef HAS_LD
#define ROUTINE_OF(full, band, packed) packed
#include "blas/entries/level2_storage.h"
#undef ROUTINE_OF

#undef ALPHA_F
#undef ALPHA_C
#undef BETA_F
#undef BETA_C
#undef X_F
#undef X_C
#undef Y_F
#undef Y_C
