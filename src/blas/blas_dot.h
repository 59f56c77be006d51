/* Computes a dot product. Returns the host BLAS function to forward to; NULL: the result is complete. */
#ifndef TSL_BLAS_BLAS_DOT_H
#define TSL_BLAS_BLAS_DOT_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

tsl_blas_function *tsl_blas_dot(tsl_blas_call *call, const tsl_blas_sum *sum);

#endif
