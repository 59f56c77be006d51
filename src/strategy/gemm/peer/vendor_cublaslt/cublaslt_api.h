/* Part of cuBLASLt: own declarations of the ABI since CUDA 12. An int result is a code, 0 for success. */
#ifndef TSL_GEMM_VENDOR_CUBLASLT_CUBLASLT_API_H
#define TSL_GEMM_VENDOR_CUBLASLT_CUBLASLT_API_H

#include <stddef.h>
#include <stdint.h>

typedef void *tsl_lt_handle;
typedef struct tsl_lt_operation_object *tsl_lt_operation; /* precision and transposes */
typedef struct tsl_lt_layout_object *tsl_lt_layout;       /* matrix: type, rows, columns, leading dimension */
typedef struct tsl_lt_preference_object *tsl_lt_preference; /* resources that algorithms may use */

typedef struct tsl_lt_algorithm {
  uint64_t data[8];
} tsl_lt_algorithm;

/* Proposal of the heuristics, best first. */
typedef struct tsl_lt_answer {
  tsl_lt_algorithm algorithm;
  size_t workspace;
  int state; /* 0: the other members are valid */
  float waves;
  int reserved[4];
} tsl_lt_answer;

/* Types of elements and of arithmetic: full precision without emulation; the last rounds f32 to TF32. */
enum {
  TSL_LT_REAL_F32 = 0,
  TSL_LT_REAL_F64 = 1,
  TSL_LT_REAL_F16 = 2,
  TSL_LT_INTEGER_8 = 3,
  TSL_LT_COMPLEX_F32 = 4,
  TSL_LT_COMPLEX_F64 = 5,
  TSL_LT_INTEGER_32 = 10,
  TSL_LT_REAL_BF16 = 14,
  TSL_LT_REAL_E4M3 = 28
};
enum { TSL_LT_COMPUTE_F32 = 68, TSL_LT_COMPUTE_F64 = 70, TSL_LT_COMPUTE_I32 = 72, TSL_LT_COMPUTE_TF32 = 77 };
enum { TSL_LT_A_TRANSPOSE = 3, TSL_LT_B_TRANSPOSE = 4 }; /* attributes, each an int32_t; 1: transposed */
/* Attributes of a layout: number of matrices of a batch (int32_t), and elements between them (int64_t). */
enum { TSL_LT_BATCH_COUNT = 5, TSL_LT_BATCH_STEP = 6 };
/* Attributes of a preference: bytes (uint64_t), bits (uint32_t), alignments (uint32_t), bits (uint64_t). */
enum {
  TSL_LT_WORKSPACE_MAX = 1,
  TSL_LT_REDUCTIONS = 3,
  TSL_LT_ALIGNMENT_OF_A = 5,
  TSL_LT_ALIGNMENT_OF_D = 8,
  TSL_LT_MADE_BY = 12
};
/* Bit of TSL_LT_MADE_BY: complex products from three real ones, whose error is larger than with four. */
#define TSL_LT_BY_THREE_PRODUCTS ((uint64_t)1 << 32)

/* Parts of k are added in C, rounded to its type, or in separate memory in the arithmetic's type. */
enum { TSL_LT_REDUCTIONS_IN_C = 1, TSL_LT_REDUCTIONS_PRECISE = 2 };

/* Functions: X(return type, member, symbol, parameters). */
#define TSL_LT_LIST(X)                                                                                       \
  X(int, create, cublasLtCreate, (tsl_lt_handle * handle))                                                   \
  X(int, destroy, cublasLtDestroy, (tsl_lt_handle handle))                                                   \
  X(size_t, version, cublasLtGetVersion, (void))                                                             \
  X(const char *, status_name, cublasLtGetStatusName, (int code))                                            \
  X(int, operation_create, cublasLtMatmulDescCreate, (tsl_lt_operation * operation, int compute, int scale)) \
  X(int, operation_destroy, cublasLtMatmulDescDestroy, (tsl_lt_operation operation))                         \
  X(int, operation_set, cublasLtMatmulDescSetAttribute,                                                      \
    (tsl_lt_operation operation, int attribute, const void *value, size_t bytes))                            \
  X(int, layout_create, cublasLtMatrixLayoutCreate,                                                          \
    (tsl_lt_layout * layout, int type, uint64_t rows, uint64_t cols, int64_t leading))                       \
  X(int, layout_set, cublasLtMatrixLayoutSetAttribute,                                                       \
    (tsl_lt_layout layout, int attribute, const void *value, size_t bytes))                                  \
  X(int, layout_destroy, cublasLtMatrixLayoutDestroy, (tsl_lt_layout layout))                                \
  X(int, preference_create, cublasLtMatmulPreferenceCreate, (tsl_lt_preference * preference))                \
  X(int, preference_destroy, cublasLtMatmulPreferenceDestroy, (tsl_lt_preference preference))                \
  X(int, preference_set, cublasLtMatmulPreferenceSetAttribute,                                               \
    (tsl_lt_preference preference, int attribute, const void *value, size_t bytes))                          \
  X(int, heuristic, cublasLtMatmulAlgoGetHeuristic,                                                          \
    (tsl_lt_handle handle, tsl_lt_operation operation, tsl_lt_layout a, tsl_lt_layout b, tsl_lt_layout c,    \
     tsl_lt_layout d, tsl_lt_preference preference, int most, tsl_lt_answer *answers, int *count))           \
  X(int, matmul, cublasLtMatmul,                                                                             \
    (tsl_lt_handle handle, tsl_lt_operation operation, const void *alpha, const void *a,                     \
     tsl_lt_layout a_layout, const void *b, tsl_lt_layout b_layout, const void *beta, const void *c,         \
     tsl_lt_layout c_layout, void *d, tsl_lt_layout d_layout, const tsl_lt_algorithm *algorithm,             \
     void *workspace, size_t workspace_bytes, void *stream))

typedef struct tsl_lt_api {
#define TSL_LT_MEMBER(type, member, symbol, parameters) type(*member) parameters;
  TSL_LT_LIST(TSL_LT_MEMBER)
#undef TSL_LT_MEMBER
} tsl_lt_api;

#endif
