/* How wide another library's integers are. */
#ifndef TSL_BLAS_WIDTH_H
#define TSL_BLAS_WIDTH_H

#include "blas/symbol.h"

/* The bits of the integers of a library whose ddot this is; 0 where it cannot be told. Nothing is read but memory of the
 * caller's. */
int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas);

#endif
