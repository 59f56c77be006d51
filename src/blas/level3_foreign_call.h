#ifndef TSL_BLAS_LEVEL3_FOREIGN_CALL_H
#define TSL_BLAS_LEVEL3_FOREIGN_CALL_H

#include "blas/blas_level3.h"

/* Calls a library's function with the symbol's signature and column-major arguments, uncounted. Requires
 * tsl_blas_either_width(), and a begun call (call_log.h), so that its calls to our names are forwarded. */
void tsl_blas_level3_call(const tsl_blas_symbol *symbol, tsl_blas_function *function,
                          const tsl_blas_multiply *structured);

#endif
