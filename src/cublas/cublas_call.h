/* Arguments of any routine, as an entry fills them. Matrices are column-major. */
#ifndef TSL_CUBLAS_CUBLAS_CALL_H
#define TSL_CUBLAS_CUBLAS_CALL_H

#include "cublas/cublas_abi.h"
#include "cublas/cublas_symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tsl_cublas_routine {
  TSL_CUBLAS_GEMM,
  TSL_CUBLAS_SYRK,
  TSL_CUBLAS_HERK,
  TSL_CUBLAS_SYMM,
  TSL_CUBLAS_HEMM,
  TSL_CUBLAS_TRMM, /* C = alpha op(A) B or alpha B op(A) */
  TSL_CUBLAS_TRSM  /* in place: C is B */
} tsl_cublas_routine;

/* Sizes of each product, and the number of products. */
typedef struct tsl_cublas_sizes {
  int64_t m, n, k, batch;
} tsl_cublas_sizes;

typedef struct tsl_cublas_matrix {
  const void *data; /* memory of the device */
  int type;         /* TSL_CUDA_... */
  int64_t ld;
  int64_t step; /* elements from one product of a batch to the next */
} tsl_cublas_matrix;

typedef struct tsl_cublas_call {
  const void *handle; /* of cuBLAS; NULL for cublasLt, which passes stream and workspace */
  void *stream;
  const void *workspace;
  size_t workspace_bytes;
  tsl_cublas_routine routine;
  int trans_a, trans_b, side, uplo, diag;
  tsl_cublas_sizes size;
  const void *alpha, *beta;
  int alpha_type, beta_type; /* TSL_CUDA_... */
  int compute;               /* TSL_CUBLAS_COMPUTE_...; 0: the precision of the elements */
  int algo;
  tsl_cublas_matrix a, b, c;
  bool is_transposed; /* C is the transpose of the program's: cublasLt's row-major product */
  const void *bias;   /* column that is added to each column of C (row, if transposed); NULL: none */
  int bias_type;
  int64_t bias_step;
  tesela_activation activation;
} tsl_cublas_call;

/* Returns the type of alpha and beta of an arithmetic. */
int tsl_cublas_scalar_type(int compute, int a_type);

#endif
