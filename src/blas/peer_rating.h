/* Rating of another library. */
#ifndef TSL_BLAS_PEER_RATING_H
#define TSL_BLAS_PEER_RATING_H

#include "blas/blas_symbol.h"

/* Rates a library as tuned or plain. Uses the library's own report about its kernels. Without a
 * report it times a few products: a library slower than half of tesela's speed is plain. With
 * TESELA_WISDOM=none it measures nothing and returns tuned. */
tsl_blas_peer tsl_blas_standing(const tsl_blas_symbol *symbol, tsl_blas_function *function);

/* Returns the name of an OpenBLAS's kernels; NULL: no OpenBLAS. */
const char *tsl_blas_kernels_of(tsl_blas_function *function);

#endif
