/* Level 2. A full matrix has the arguments (a, lda), a packed one (a), a band (k, a, lda). Macros declare
 * them (suffix FORTRAN, CBLAS), pass them on (PASS), and initialize members of tsl_blas_level2 (F, C). */
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
