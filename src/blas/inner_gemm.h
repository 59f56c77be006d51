#ifndef TSL_BLAS_INNER_GEMM_H
#define TSL_BLAS_INNER_GEMM_H

#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* Computes a product without structures: at once if it is small, else packed, by a cached plan, or by loops.
 * record may be NULL. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record);
/* Computes any product by packed panels; false: C is unchanged. */
bool tsl_blas_packed(const tsl_call *work);

#endif
