/* Every routine in plain loops, with sums in double. */
#ifndef TSL_BLAS_REFERENCE_BLAS_H
#define TSL_BLAS_REFERENCE_BLAS_H

#include "blas/blas_arguments.h"
#include "blas/blas_view.h"

typedef struct tsl_blas_work {
  tesela_type type;
  int64_t m, n, k;
  tsl_blas_view a, b, c; /* c's data is written */
  const void *alpha, *beta;
  bool on_processor; /* compute on the CPU, even if the context has other devices */
} tsl_blas_work;

void tsl_blas_loop_gemm(const tsl_blas_work *work);
/* Computes one triangle (uplo in column-major terms) of an n x n product. */
void tsl_blas_loop_gemmt(const tsl_blas_work *work, int uplo);
void tsl_blas_loop_dot(tesela_type type, const tsl_blas_sum *sum);
/* Computes b[i, j] = alpha a[i, j]; a and b may be equal. */
void tsl_blas_loop_copy(tesela_type type, int64_t rows, int64_t cols, const void *alpha,
                        const tsl_blas_view *a, const tsl_blas_view *b);
/* Transposes and scales a square in place. */
void tsl_blas_loop_transpose(tesela_type type, int64_t n, const void *alpha, const tsl_blas_view *a);

#endif
