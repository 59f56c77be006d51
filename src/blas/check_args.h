/* Arguments, checked. */
#ifndef TSL_BLAS_CHECK_ARGS_H
#define TSL_BLAS_CHECK_ARGS_H

#include "blas/blas_arguments.h"
#include "blas/blas_symbol.h"

/* In place of a number: CBLAS's first argument, which Fortran's routines have not. */
enum { TSL_BLAS_ORDER_IS_WRONG = -1 };

/* 0, or the number of the first wrong argument as the reference's Fortran routine counts; and telling it. */
int tsl_blas_check_gemm(const tsl_blas_multiply *product);
int tsl_blas_check_gemmt(const tsl_blas_multiply *product);
int tsl_blas_check_matcopy(const tsl_blas_copy *copy);
void tsl_blas_report_argument(const tsl_blas_symbol *symbol, int number, bool row_major, bool product);
/* Where a result cannot be given: BLAS has no status, so stderr is told. */
void tsl_blas_report_failure(const tsl_blas_symbol *symbol, const char *why);

#endif
