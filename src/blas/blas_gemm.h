/* Computes gemm. Returns the host BLAS function to forward to; NULL: the call is complete. */
#ifndef TSL_BLAS_BLAS_GEMM_H
#define TSL_BLAS_BLAS_GEMM_H

#include "blas/blas_arguments.h"
#include "blas/inner_gemm.h"

tsl_blas_function *tsl_blas_gemm(tsl_blas_call *call, const tsl_blas_multiply *product);

/* Returns true if C keeps its value: no work, or a wrong argument (check_args.h), which is reported. */
bool tsl_blas_ends_early(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product, int wrong);
#endif
