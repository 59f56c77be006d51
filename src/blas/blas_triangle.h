#ifndef TSL_BLAS_BLAS_TRIANGLE_H
#define TSL_BLAS_BLAS_TRIANGLE_H

#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* Computes a triangle of C by products of blocks; false: C is unchanged. record may be NULL. */
bool tsl_blas_triangle(const tsl_blas_symbol *symbol, const tsl_call *work, int uplo, tesela_record *record);

#endif
