/* Thread limits of the libraries that calls are forwarded to: programs set their limits there. */
#ifndef TSL_BLAS_BLAS_THREAD_LIMIT_H
#define TSL_BLAS_BLAS_THREAD_LIMIT_H

#include "blas/blas_symbol.h"

/* Limits tesela to the number of threads of this function's library, from now on. */
void tsl_blas_follow(tsl_blas_function *function);
/* Returns the minimum of `count` and the current limits of these libraries. */
int tsl_blas_followed(int count);

#endif
