/* How good another library is at Level 3. */
#ifndef TSL_BLAS_PEER_RATING_LEVEL3_H
#define TSL_BLAS_PEER_RATING_LEVEL3_H

#include "blas/blas_level3.h"
#include "blas/blas_route.h"

/* Multiply-adds of calls that are worth a measurement: none with less work is tesela's. */
#define TSL_BLAS_STANDING_FROM (16.0 * 16 * 16)

/* At which sizes a routine of Level 3 of this type is sooner done here than by a tuned library's function,
 * which the symbol's calls may go to: never 0; NOWHERE, too, where it cannot be told. Measured once on a
 * machine, for each library and number of threads, in some milliseconds to two tenths of a second, and kept
 * as wisdom. */
#define TSL_BLAS_STANDING_NOWHERE (1u << 16)
unsigned tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                     tsl_blas_function *function);
/* Whose a call of so many multiply-adds is then: the size nearest to it decides. */
tsl_blas_share tsl_blas_standing_share(unsigned standing, tesela_type type, double volume);

#endif
