#ifndef TSL_BLAS_PEER_RATING_LEVEL3_H
#define TSL_BLAS_PEER_RATING_LEVEL3_H

#include "blas/blas_level3.h"
#include "blas/blas_route.h"

/* Multiply-adds below which tesela computes no call. */
#define TSL_BLAS_STANDING_FROM (16.0 * 16 * 16)

#define TSL_BLAS_STANDING_NOWHERE (1u << 16)
/* Returns a bit mask of the sizes at which tesela is faster than a tuned library's function, with
 * TSL_BLAS_STANDING_NOWHERE always set; only that bit if the measurement is impossible. Measured once per
 * machine, library and number of threads, in milliseconds to 0.2 s, and stored as wisdom. */
unsigned tsl_blas_standing_of_level3(tsl_blas_routine routine, const tsl_blas_symbol *symbol,
                                     tsl_blas_function *function);
/* Returns tesela's share for `volume` multiply-adds, which the nearest measured size decides. */
tsl_blas_share tsl_blas_standing_share(unsigned standing, tesela_type type, double volume);

#endif
