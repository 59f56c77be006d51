/* Dot products. */
#ifndef TSL_BLAS_DOT_H
#define TSL_BLAS_DOT_H

#include "blas/arguments.h"
#include "blas/calls.h"

tsl_blas_function *tsl_blas_dot(tsl_blas_call *call, const tsl_blas_sum *sum);

#endif
