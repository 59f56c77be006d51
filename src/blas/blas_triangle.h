/* A triangle of C by products of blocks. */
#ifndef TSL_BLAS_BLAS_TRIANGLE_H
#define TSL_BLAS_BLAS_TRIANGLE_H

#include "blas/blas_symbol.h"
#include "blas/reference_blas.h"

/* By tesela, where it is asked for; false: C is as it was. record may be NULL. */
bool tsl_blas_triangle(const tsl_blas_symbol *symbol, const tsl_blas_work *work, int uplo,
                       tesela_record *record);

#endif
