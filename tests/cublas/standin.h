/* A stand-in for cuBLAS: its products by plain loops, on memory of the host, and counts of its calls. The
 * declarations follow NVIDIA's documents. */
#ifndef TESELA_TESTS_STANDIN_H
#define TESELA_TESTS_STANDIN_H

#include <stddef.h>
#include <stdint.h>

typedef struct standin_handle *standin_handle;
typedef void *standin_stream;

/* Returns the number of products that the stand-in was asked for. */
int standin_calls(void);

/* Returns the address that a scalar has in pointer mode "device". The stand-in alone can read it. */
static inline const void *standin_on_device(const void *scalar) {
  return (const void *)((uintptr_t)scalar ^ (uintptr_t)1 << 62);
}

/* Makes each counted call sleep first. */
void standin_sleep(double seconds);
/* Makes calls write zeros at once, the product of zeros. */
void standin_writes_zeros(int on);

/* One call of any routine, for expected results. */
typedef enum standin_routine { GEMM, SYRK, HERK, SYMM, HEMM, TRMM, TRSM } standin_routine;
typedef struct standin_product {
  standin_routine routine;
  int side, uplo, trans_a, trans_b, diag;
  int64_t m, n, k, batch;
  const void *alpha, *beta;
  int alpha_type, beta_type;
  const void *a, *b;
  void *c;
  int a_type, b_type, c_type;
  int64_t lda, ldb, ldc, a_step, b_step, c_step;
  const void *bias;
  int bias_type, relu, bias_is_row;
} standin_product;
/* Computes a product without counting it. */
void standin_compute(const standin_product *product);

int cublasCreate_v2(standin_handle *handle);
int cublasDestroy_v2(standin_handle handle);
int cublasSetStream_v2(standin_handle handle, standin_stream stream);
int cublasGetStream_v2(standin_handle handle, standin_stream *stream);
int cublasSetWorkspace_v2(standin_handle handle, void *workspace, size_t bytes);
int cublasSetPointerMode_v2(standin_handle handle, int mode);
int cublasGetPointerMode_v2(standin_handle handle, int *mode);
int cublasSetMathMode(standin_handle handle, int mode);
int cublasGetMathMode(standin_handle handle, int *mode);
int cublasSetSmCountTarget(standin_handle handle, int count);
int cublasGetSmCountTarget(standin_handle handle, int *count);

/* X(letter, suffix of _v2 names, suffix of other names, integer) */
#define STANDIN_REAL_LIST(X)                                                                                 \
  X(S, _v2, , int) X(D, _v2, , int) X(S, _v2_64, _64, int64_t) X(D, _v2_64, _64, int64_t)
#define STANDIN_COMPLEX_LIST(X)                                                                              \
  X(C, _v2, , int) X(Z, _v2, , int) X(C, _v2_64, _64, int64_t) X(Z, _v2_64, _64, int64_t)

#define STANDIN_GEMM(name, integer)                                                                          \
  int name(standin_handle handle, int transa, int transb, integer m, integer n, integer k,                   \
           const void *alpha, const void *a, integer lda, const void *b, integer ldb, const void *beta,      \
           void *c, integer ldc)
#define STANDIN_STRIDED(name, integer)                                                                       \
  int name(standin_handle handle, int transa, int transb, integer m, integer n, integer k,                   \
           const void *alpha, const void *a, integer lda, long long a_step, const void *b, integer ldb,      \
           long long b_step, const void *beta, void *c, integer ldc, long long c_step, integer count)
#define STANDIN_UPDATE(name, integer)                                                                        \
  int name(standin_handle handle, int uplo, int trans, integer n, integer k, const void *alpha,              \
           const void *a, integer lda, const void *beta, void *c, integer ldc)
#define STANDIN_SYMM(name, integer)                                                                          \
  int name(standin_handle handle, int side, int uplo, integer m, integer n, const void *alpha,               \
           const void *a, integer lda, const void *b, integer ldb, const void *beta, void *c, integer ldc)
#define STANDIN_TRMM(name, integer)                                                                          \
  int name(standin_handle handle, int side, int uplo, int trans, int diag, integer m, integer n,             \
           const void *alpha, const void *a, integer lda, const void *b, integer ldb, void *c, integer ldc)
#define STANDIN_TRSM(name, integer)                                                                          \
  int name(standin_handle handle, int side, int uplo, int trans, int diag, integer m, integer n,             \
           const void *alpha, const void *a, integer lda, void *b, integer ldb)
#define STANDIN_GEMM_EX(name, integer)                                                                       \
  int name(standin_handle handle, int transa, int transb, integer m, integer n, integer k,                   \
           const void *alpha, const void *a, int a_type, integer lda, const void *b, int b_type,             \
           integer ldb, const void *beta, void *c, int c_type, integer ldc, int compute, int algo)
#define STANDIN_STRIDED_EX(name, integer)                                                                    \
  int name(standin_handle handle, int transa, int transb, integer m, integer n, integer k,                   \
           const void *alpha, const void *a, int a_type, integer lda, long long a_step, const void *b,       \
           int b_type, integer ldb, long long b_step, const void *beta, void *c, int c_type, integer ldc,    \
           long long c_step, integer count, int compute, int algo)

#define STANDIN_DECLARE(letter, v2, plain, integer)                                                          \
  STANDIN_GEMM(cublas##letter##gemm##v2, integer);                                                           \
  STANDIN_STRIDED(cublas##letter##gemmStridedBatched##plain, integer);                                       \
  STANDIN_UPDATE(cublas##letter##syrk##v2, integer);                                                         \
  STANDIN_SYMM(cublas##letter##symm##v2, integer);                                                           \
  STANDIN_TRMM(cublas##letter##trmm##v2, integer);                                                           \
  STANDIN_TRSM(cublas##letter##trsm##v2, integer);
#define STANDIN_DECLARE_COMPLEX(letter, v2, plain, integer)                                                  \
  STANDIN_GEMM(cublas##letter##gemm3m##plain, integer);                                                      \
  STANDIN_UPDATE(cublas##letter##herk##v2, integer);                                                         \
  STANDIN_SYMM(cublas##letter##hemm##v2, integer);
STANDIN_REAL_LIST(STANDIN_DECLARE)
STANDIN_COMPLEX_LIST(STANDIN_DECLARE)
STANDIN_COMPLEX_LIST(STANDIN_DECLARE_COMPLEX)
STANDIN_GEMM(cublasHgemm, int);
STANDIN_GEMM(cublasHgemm_64, int64_t);
STANDIN_GEMM_EX(cublasGemmEx, int);
STANDIN_GEMM_EX(cublasGemmEx_64, int64_t);
STANDIN_STRIDED_EX(cublasGemmStridedBatchedEx, int);
STANDIN_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t);

/* cublasLt. */
typedef struct standin_attributes *standin_attributes;
size_t cublasLtGetVersion(void);
int cublasLtCreate(standin_handle *handle);
int cublasLtMatmulDescCreate(standin_attributes *operation, int compute, int scale);
int cublasLtMatmulDescDestroy(standin_attributes operation);
int cublasLtMatmulDescSetAttribute(standin_attributes operation, int attribute, const void *value,
                                   size_t bytes);
int cublasLtMatmulDescGetAttribute(standin_attributes operation, int attribute, void *value, size_t bytes,
                                   size_t *written);
int cublasLtMatrixLayoutCreate(standin_attributes *layout, int type, uint64_t rows, uint64_t cols,
                               int64_t ld);
int cublasLtMatrixLayoutDestroy(standin_attributes layout);
int cublasLtMatrixLayoutSetAttribute(standin_attributes layout, int attribute, const void *value,
                                     size_t bytes);
int cublasLtMatrixLayoutGetAttribute(standin_attributes layout, int attribute, void *value, size_t bytes,
                                     size_t *written);
int cublasLtMatmul(standin_handle handle, standin_attributes operation, const void *alpha, const void *a,
                   standin_attributes a_layout, const void *b, standin_attributes b_layout, const void *beta,
                   const void *c, standin_attributes c_layout, void *d, standin_attributes d_layout,
                   const void *algorithm, void *workspace, size_t workspace_bytes, standin_stream stream);

#endif
