#ifndef TSL_BLAS_MATCOPY_H
#define TSL_BLAS_MATCOPY_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

tsl_blas_function *tsl_blas_matcopy(tsl_blas_call *call, const tsl_blas_copy *copy);

#endif
