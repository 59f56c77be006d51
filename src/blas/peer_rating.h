#ifndef TSL_BLAS_PEER_RATING_H
#define TSL_BLAS_PEER_RATING_H

#include "blas/blas_symbol.h"

/* Rates a library as tuned or plain by its report about its kernels, else by timing a few products. A plain
 * library has less than half of tesela's speed. With TESELA_WISDOM=none it returns tuned. */
tsl_blas_peer tsl_blas_standing(const tsl_blas_symbol *symbol, tsl_blas_function *function);

/* Returns the name of an OpenBLAS's kernels; NULL: no OpenBLAS. */
const char *tsl_blas_kernels_of(tsl_blas_function *function);

#endif
