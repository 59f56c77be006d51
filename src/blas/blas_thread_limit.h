/* Thread limits that programs set in the libraries that calls are forwarded to. */
#ifndef TSL_BLAS_BLAS_THREAD_LIMIT_H
#define TSL_BLAS_BLAS_THREAD_LIMIT_H

#include "blas/blas_symbol.h"

/* From now on, limits tesela to the number of threads of this function's library. */
void tsl_blas_follow(tsl_blas_function *function);
/* Returns the minimum of `count` and the current limits of these libraries. */
int tsl_blas_followed(int count);

#endif
