/* Calls of another library's level 3 by its signature. */
#ifndef TSL_BLAS_LEVEL3_FOREIGN_CALL_H
#define TSL_BLAS_LEVEL3_FOREIGN_CALL_H

#include "blas/blas_level3.h"

/* Calls another library's function with the symbol's signature and column-major arguments. Requires
 * tsl_blas_either_width(). Neither counted nor forwarded. The caller has begun a call (call_log.h),
 * so that the library's own calls to our names are forwarded. */
void tsl_blas_level3_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                          const tsl_blas_structured *structured);

#endif
