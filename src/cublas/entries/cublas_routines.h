/* Table of cuBLAS's routines, compiled for each width of integers: NAME is the exported name, SIZES its
 * integers.
 *
 * ENTRY(exported, fill, arguments...) exports a name. `fill` sets the members of tsl_cublas_call that the
 * routine adds to `handle`; arguments have the names of cuBLAS's documents. */
#include "cublas/cublas_take.h"
#include "interpose/entry_lists.h"

/* Kinds of arguments: (name, declaration). */
#define WORD(x) (x, int x)
#define SIZE(x) (x, TSL_CUBLAS_INTEGER x)
#define STEP(x) (x, long long int x)
#define IN(x) (x, const void *x)
#define OUT(x) (x, void *x)
#define DECLARATION(tuple) PART_2 tuple

#define ENTRY(exported, fill, ...)                                                                           \
  TESELA_API int exported(const void *handle, EACH(DECLARATION, __VA_ARGS__)) {                              \
    typedef int forward(const void *, EACH(DECLARATION, __VA_ARGS__));                                       \
    static tsl_cublas_symbol symbol = {.name = STRING(exported)};                                            \
    const tsl_cublas_call call = {.handle = handle, LIST fill};                                              \
    tsl_cublas_ticket ticket;                                                                                \
    int status;                                                                                              \
    tsl_next_function *next = tsl_cublas_take(&symbol, &call, &ticket, &status);                             \
    return next ? tsl_cublas_end(&ticket, ((forward *)next)(handle, NAMES(__VA_ARGS__))) : status;           \
  }

/* --- products --- */
#define GEMM_SIZES WORD(transa), WORD(transb), SIZE(m), SIZE(n), SIZE(k)
#define SCALARS(type) .alpha = alpha, .beta = beta, .alpha_type = type, .beta_type = type
#define GEMM_FILL(a_element, b_element, c_element, arithmetic, algorithm)                                    \
  .trans_a = transa, .trans_b = transb, .size = {m, n, k, 1}, .a = {A, a_element, lda},                      \
  .b = {B, b_element, ldb}, .c = {C, c_element, ldc}, .compute = arithmetic, .algo = algorithm

#define GEMM(name, element)                                                                                  \
  ENTRY(name, (GEMM_FILL(element, element, element, 0, TSL_CUBLAS_ALGO_DEFAULT), SCALARS(element)),          \
        GEMM_SIZES, IN(alpha), IN(A), SIZE(lda), IN(B), SIZE(ldb), IN(beta), OUT(C), SIZE(ldc))

#define STRIDED_FILL(element)                                                                                \
  .trans_a = transa, .trans_b = transb, .size = {m, n, k, batchCount}, .a = {A, element, lda, strideA},      \
  .b = {B, element, ldb, strideB}, .c = {C, element, ldc, strideC}, .algo = TSL_CUBLAS_ALGO_DEFAULT

#define STRIDED(name, element)                                                                               \
  ENTRY(name, (STRIDED_FILL(element), SCALARS(element)), GEMM_SIZES, IN(alpha), IN(A), SIZE(lda),            \
        STEP(strideA), IN(B), SIZE(ldb), STEP(strideB), IN(beta), OUT(C), SIZE(ldc), STEP(strideC),          \
        SIZE(batchCount))

/* Elements of any types; the scalars have the type of the arithmetic, in single precision. */
#define TYPED(name, scalar)                                                                                  \
  ENTRY(name,                                                                                                \
        (GEMM_FILL(Atype, Btype, Ctype, TSL_CUBLAS_COMPUTE_32F, TSL_CUBLAS_ALGO_DEFAULT), SCALARS(scalar)),  \
        GEMM_SIZES, IN(alpha), IN(A), WORD(Atype), SIZE(lda), IN(B), WORD(Btype), SIZE(ldb), IN(beta),       \
        OUT(C), WORD(Ctype), SIZE(ldc))

/* --- triangles --- */
#define UPDATE_FILL(routine_, element, scalar)                                                               \
  .routine = routine_, .uplo = uplo, .trans_a = trans, .size = {n, n, k, 1}, .a = {A, element, lda},         \
  .b = {A, element, lda}, .c = {C, element, ldc}, .algo = TSL_CUBLAS_ALGO_DEFAULT, SCALARS(scalar)
#define UPDATE(name, routine_, element, scalar)                                                              \
  ENTRY(name, (UPDATE_FILL(routine_, element, scalar)), WORD(uplo), WORD(trans), SIZE(n), SIZE(k),           \
        IN(alpha), IN(A), SIZE(lda), IN(beta), OUT(C), SIZE(ldc))

#define SYMMETRIC(name, routine_, element)                                                                   \
  ENTRY(name,                                                                                                \
        (.routine = routine_, .side = side, .uplo = uplo, .size = {m, n, 0, 1}, .a = {A, element, lda},      \
         .b = {B, element, ldb}, .c = {C, element, ldc}, .algo = TSL_CUBLAS_ALGO_DEFAULT, SCALARS(element)), \
        WORD(side), WORD(uplo), SIZE(m), SIZE(n), IN(alpha), IN(A), SIZE(lda), IN(B), SIZE(ldb), IN(beta),   \
        OUT(C), SIZE(ldc))

#define TRIANGULAR_FILL(routine_, element)                                                                   \
  .routine = routine_, .side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .size = {m, n, 0, 1},     \
  .a = {A, element, lda}, .b = {B, element, ldb}, .alpha = alpha, .alpha_type = element,                     \
  .algo = TSL_CUBLAS_ALGO_DEFAULT
#define TRIANGULAR_SIZES WORD(side), WORD(uplo), WORD(trans), WORD(diag), SIZE(m), SIZE(n)
#define TRMM(name, element)                                                                                  \
  ENTRY(name, (TRIANGULAR_FILL(TSL_CUBLAS_TRMM, element), .c = {C, element, ldc}), TRIANGULAR_SIZES,         \
        IN(alpha), IN(A), SIZE(lda), IN(B), SIZE(ldb), OUT(C), SIZE(ldc))
#define TRSM(name, element)                                                                                  \
  ENTRY(name, (TRIANGULAR_FILL(TSL_CUBLAS_TRSM, element), .c = {B, element, ldb}), TRIANGULAR_SIZES,         \
        IN(alpha), IN(A), SIZE(lda), OUT(B), SIZE(ldb))

#define ALL_TYPES(letter, element)                                                                           \
  GEMM(NAME_V2(cublas##letter##gemm), element)                                                               \
  STRIDED(NAME(cublas##letter##gemmStridedBatched), element)                                                 \
  UPDATE(NAME_V2(cublas##letter##syrk), TSL_CUBLAS_SYRK, element, element)                                   \
  SYMMETRIC(NAME_V2(cublas##letter##symm), TSL_CUBLAS_SYMM, element)                                         \
  TRMM(NAME_V2(cublas##letter##trmm), element)                                                               \
  TRSM(NAME_V2(cublas##letter##trsm), element)
#define COMPLEX_TYPES(letter, element, scalar)                                                               \
  GEMM(NAME(cublas##letter##gemm3m), element)                                                                \
  UPDATE(NAME_V2(cublas##letter##herk), TSL_CUBLAS_HERK, element, scalar)                                    \
  SYMMETRIC(NAME_V2(cublas##letter##hemm), TSL_CUBLAS_HEMM, element)

ALL_TYPES(S, TSL_CUDA_R_32F)
ALL_TYPES(D, TSL_CUDA_R_64F)
ALL_TYPES(C, TSL_CUDA_C_32F)
ALL_TYPES(Z, TSL_CUDA_C_64F)
COMPLEX_TYPES(C, TSL_CUDA_C_32F, TSL_CUDA_R_32F)
COMPLEX_TYPES(Z, TSL_CUDA_C_64F, TSL_CUDA_R_64F)
GEMM(NAME(cublasHgemm), TSL_CUDA_R_16F)
STRIDED(NAME(cublasHgemmStridedBatched), TSL_CUDA_R_16F)
STRIDED(NAME(cublasCgemm3mStridedBatched), TSL_CUDA_C_32F)
TYPED(NAME(cublasSgemmEx), TSL_CUDA_R_32F)
TYPED(NAME(cublasCgemmEx), TSL_CUDA_C_32F)

#define SCALAR_OF(compute) tsl_cublas_scalar_type(compute, Atype)
ENTRY(NAME(cublasGemmEx),
      (GEMM_FILL(Atype, Btype, Ctype, computeType, algo), SCALARS(SCALAR_OF(computeType))), GEMM_SIZES,
      IN(alpha), IN(A), WORD(Atype), SIZE(lda), IN(B), WORD(Btype), SIZE(ldb), IN(beta), OUT(C), WORD(Ctype),
      SIZE(ldc), WORD(computeType), WORD(algo))
ENTRY(NAME(cublasGemmStridedBatchedEx),
      (.trans_a = transa, .trans_b = transb, .size = {m, n, k, batchCount}, .a = {A, Atype, lda, strideA},
       .b = {B, Btype, ldb, strideB}, .c = {C, Ctype, ldc, strideC}, .compute = computeType, .algo = algo,
       SCALARS(SCALAR_OF(computeType))),
      GEMM_SIZES, IN(alpha), IN(A), WORD(Atype), SIZE(lda), STEP(strideA), IN(B), WORD(Btype), SIZE(ldb),
      STEP(strideB), IN(beta), OUT(C), WORD(Ctype), SIZE(ldc), STEP(strideC), SIZE(batchCount),
      WORD(computeType), WORD(algo))
