/* Level 3 of another library, called by its own signature. */
#ifndef TSL_BLAS_LEVEL3_FOREIGN_CALL_H
#define TSL_BLAS_LEVEL3_FOREIGN_CALL_H

#include "blas/blas_level3.h"

/* Calls, where tsl_blas_either_width(), the function of another library by the symbol's name and with its
 * arguments, in column-major order. Not counted, and not passed on; the caller has begun a call (call_log.h),
 * so that calls of the library's own that come back here are. */
void tsl_blas_level3_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                          const tsl_blas_structured *structured);

#endif
