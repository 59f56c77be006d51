/* How many threads the libraries say they have that calls are passed on to: programs limit those. */
#ifndef TSL_BLAS_BLAS_THREAD_LIMIT_H
#define TSL_BLAS_BLAS_THREAD_LIMIT_H

#include "blas/blas_symbol.h"

/* From now on, no more than the library of this function says that it has. */
void tsl_blas_follow(tsl_blas_function *function);
/* The least of a number and of what those libraries say now. */
int tsl_blas_followed(int count);

#endif
