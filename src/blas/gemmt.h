/* Products of which one triangle is wanted. */
#ifndef TSL_BLAS_GEMMT_H
#define TSL_BLAS_GEMMT_H

#include "blas/arguments.h"
#include "blas/calls.h"
#include "blas/loops.h"

tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product);
/* A triangle by tesela, where it is asked for; false: C is as it was. record may be NULL. */
bool tsl_blas_triangle(const tsl_blas_symbol *symbol, const tsl_blas_work *work, int uplo,
                       tesela_record *record);

#endif
