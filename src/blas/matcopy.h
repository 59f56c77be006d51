#ifndef TSL_BLAS_MATCOPY_H
#define TSL_BLAS_MATCOPY_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"

/* Returns the host BLAS function to forward to; NULL: the call is complete. */
tsl_blas_function *tsl_blas_matcopy(tsl_blas_call *call, const tsl_blas_copy *copy);

#endif
