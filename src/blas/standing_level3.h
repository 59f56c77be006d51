/* How good another library is at Level 3. */
#ifndef TSL_BLAS_STANDING_LEVEL3_H
#define TSL_BLAS_STANDING_LEVEL3_H

#include "blas/level3.h"

/* Multiply-adds from which on a routine of Level 3 of this type is sooner done here than by a tuned library's function, which the symbol's
 * calls may go to; INFINITY: never, or it cannot be told. Measured once on a machine, for each library and number of threads, in some
 * milliseconds to two tenths of a second, and kept as wisdom. */
double tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                   tsl_blas_function *function);

#endif
