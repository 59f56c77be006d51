#ifndef TSL_BLAS_GEMMT_H
#define TSL_BLAS_GEMMT_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product);

#endif
