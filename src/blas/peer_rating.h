/* How good another library is. */
#ifndef TSL_BLAS_PEER_RATING_H
#define TSL_BLAS_PEER_RATING_H

#include "blas/blas_symbol.h"

/* Tuned or plain, of a library that the symbol's calls may go to: by what it says of itself, and where that
 * tells nothing of its kernels, by a few products: with less than half of the speed of ours it is as good as
 * plain. TESELA_WISDOM=none measures nothing; then a library of which nothing is known is a tuned one. */
tsl_blas_peer tsl_blas_standing(const tsl_blas_symbol *symbol, tsl_blas_function *function);

/* The kernels that an OpenBLAS says it took; NULL: it is none. */
const char *tsl_blas_kernels_of(tsl_blas_function *function);

#endif
