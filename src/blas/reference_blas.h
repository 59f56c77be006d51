/* Every routine in plain loops, with sums in double. */
#ifndef TSL_BLAS_REFERENCE_BLAS_H
#define TSL_BLAS_REFERENCE_BLAS_H

#include "blas/blas_arguments.h"
#include "blas/blas_view.h"

void tsl_blas_loop_gemm(const tsl_call *work);
/* Computes one triangle (uplo in column-major terms) of an n x n product; ignores the call's structures. */
void tsl_blas_loop_gemmt(const tsl_call *work, int uplo);
void tsl_blas_loop_dot(tesela_type type, const tsl_blas_sum *sum);
/* Computes b[i, j] = alpha a[i, j]; a and b may be equal. */
void tsl_blas_loop_copy(tesela_type type, int64_t rows, int64_t cols, const void *alpha,
                        const tsl_call_matrix *a, const tsl_call_matrix *b);
/* Transposes and scales a square in place. */
void tsl_blas_loop_transpose(tesela_type type, int64_t n, const void *alpha, const tsl_call_matrix *a);

#endif
