#ifndef TSL_BLAS_CHECK_ARGS_H
#define TSL_BLAS_CHECK_ARGS_H

#include "blas/blas_arguments.h"
#include "blas/blas_symbol.h"

/* Wrong order, CBLAS's first argument, which Fortran lacks. */
enum { TSL_BLAS_ORDER_IS_WRONG = -1 };

/* Returns 0, or the number of the first wrong argument as counted by the reference's Fortran routine. */
int tsl_blas_check_gemm(const tsl_blas_multiply *product);
int tsl_blas_check_gemmt(const tsl_blas_multiply *product);
int tsl_blas_check_matcopy(const tsl_blas_copy *copy);
/* Reports through xerbla. product: CBLAS's order comes before the counted arguments. */
void tsl_blas_report_argument(const tsl_blas_symbol *symbol, int number, bool row_major, bool product);
/* Reports on stderr that a result could not be computed: BLAS has no status. */
void tsl_blas_report_failure(const tsl_blas_symbol *symbol, const char *why);

#endif
