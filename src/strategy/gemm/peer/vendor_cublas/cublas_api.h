/* Part of cuBLAS: own declarations of the ABI since CUDA 12. An int result is a code, 0 for success. */
#ifndef TSL_GEMM_VENDOR_CUBLAS_CUBLAS_API_H
#define TSL_GEMM_VENDOR_CUBLAS_CUBLAS_API_H

#include <stdint.h>

typedef void *tsl_cublas_handle;

enum { TSL_CUBLAS_NO_TRANSPOSE = 0, TSL_CUBLAS_TRANSPOSE = 1 };
enum { TSL_CUBLAS_DEFAULT_MATH = 0 }; /* every operation has the operands' precision */

/* Functions: X(return type, member, symbol, parameters). Matrices are column-major in device memory; alpha
 * and beta are in host memory. A call enqueues on the handle's stream. */
#define TSL_CUBLAS_LIST(X)                                                                                   \
  X(int, create, cublasCreate_v2, (tsl_cublas_handle * handle))                                              \
  X(int, destroy, cublasDestroy_v2, (tsl_cublas_handle handle))                                              \
  X(int, property, cublasGetProperty, (int what, int *value))                                                \
  X(const char *, status_name, cublasGetStatusName, (int code))                                              \
  X(int, set_stream, cublasSetStream_v2, (tsl_cublas_handle handle, void *stream))                           \
  X(int, set_math_mode, cublasSetMathMode, (tsl_cublas_handle handle, int mode))                             \
  X(int, sgemm, cublasSgemm_v2_64,                                                                           \
    (tsl_cublas_handle handle, int a_transpose, int b_transpose, int64_t m, int64_t n, int64_t k,            \
     const float *alpha, const void *a, int64_t a_leading, const void *b, int64_t b_leading,                 \
     const float *beta, void *c, int64_t c_leading))                                                         \
  X(int, dgemm, cublasDgemm_v2_64,                                                                           \
    (tsl_cublas_handle handle, int a_transpose, int b_transpose, int64_t m, int64_t n, int64_t k,            \
     const double *alpha, const void *a, int64_t a_leading, const void *b, int64_t b_leading,                \
     const double *beta, void *c, int64_t c_leading))

typedef struct tsl_cublas_api {
#define TSL_CUBLAS_MEMBER(type, member, symbol, parameters) type(*member) parameters;
  TSL_CUBLAS_LIST(TSL_CUBLAS_MEMBER)
#undef TSL_CUBLAS_MEMBER
} tsl_cublas_api;

#endif
