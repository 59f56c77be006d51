#ifndef TSL_BLAS_BLAS_LEVEL2_H
#define TSL_BLAS_BLAS_LEVEL2_H

#include "blas/blas_vectors.h"

/* Hermitian routines are symmetric ones with a flag. */
typedef enum tsl_blas_level2_routine {
  TSL_BLAS_GEMV,
  TSL_BLAS_GBMV,
  TSL_BLAS_SYMV,
  TSL_BLAS_SBMV,
  TSL_BLAS_SPMV,
  TSL_BLAS_TRMV,
  TSL_BLAS_TBMV,
  TSL_BLAS_TPMV,
  TSL_BLAS_TRSV,
  TSL_BLAS_TBSV,
  TSL_BLAS_TPSV,
  TSL_BLAS_GER,
  TSL_BLAS_SYR,
  TSL_BLAS_SPR,
  TSL_BLAS_SYR2,
  TSL_BLAS_SPR2
} tsl_blas_level2_routine;

/* Arguments of a call; letters as in blas_arguments.h. Unused members are 0. */
typedef struct tsl_blas_level2 {
  tsl_blas_level2_routine routine;
  int order, uplo, trans, diag;
  bool hermitian;       /* ger: y is conjugated */
  int64_t m, n, kl, ku; /* kl: k of bands with one number */
  tsl_vector_number alpha, beta;
  const void *a;
  int64_t lda;
  const void *x;
  int64_t incx;
  const void *y;
  int64_t incy;
} tsl_blas_level2;

/* Returns the host BLAS function to forward to; NULL: complete, or an argument was wrong. */
tsl_blas_function *tsl_blas_matrix_vector(tsl_blas_call *call, const tsl_blas_level2 *level2);

#endif
