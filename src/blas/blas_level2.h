#ifndef TSL_BLAS_BLAS_LEVEL2_H
#define TSL_BLAS_BLAS_LEVEL2_H

#include "blas/blas_vectors.h"

/* X(NAME, storage, class); hermitian routines are symmetric ones with a flag. */
#define TSL_BLAS_LEVEL2_LIST(X)                                                                              \
  X(GEMV, FULL, MATRIX)                                                                                      \
  X(GBMV, BAND, OTHER)                                                                                       \
  X(SYMV, FULL, SYMMETRIC)                                                                                   \
  X(SBMV, BAND, OTHER)                                                                                       \
  X(SPMV, PACKED, OTHER)                                                                                     \
  X(TRMV, FULL, TRIANGLE)                                                                                    \
  X(TBMV, BAND, OTHER)                                                                                       \
  X(TPMV, PACKED, OTHER)                                                                                     \
  X(TRSV, FULL, TRIANGLE)                                                                                    \
  X(TBSV, BAND, OTHER)                                                                                       \
  X(TPSV, PACKED, OTHER)                                                                                     \
  X(GER, FULL, UPDATE)                                                                                       \
  X(SYR, FULL, UPDATE)                                                                                       \
  X(SPR, PACKED, OTHER)                                                                                      \
  X(SYR2, FULL, UPDATE)                                                                                      \
  X(SPR2, PACKED, OTHER)
typedef enum tsl_blas_level2_routine {
#define MEMBER(name, ...) TSL_BLAS_##name,
  TSL_BLAS_LEVEL2_LIST(MEMBER)
#undef MEMBER
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

/* Returns 0, or the number of the first wrong argument of column-major arguments (check_args.h). */
int tsl_blas_check_level2(const tsl_blas_level2 *seen);

#endif
