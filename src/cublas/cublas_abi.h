/* Numbers of cuBLAS's and CUDA's interface, by NVIDIA's documentation. */
#ifndef TSL_CUBLAS_CUBLAS_ABI_H
#define TSL_CUBLAS_CUBLAS_ABI_H

/* Status codes that this library returns itself. */
enum { TSL_CUBLAS_SUCCESS = 0, TSL_CUBLAS_NOT_INITIALIZED = 1, TSL_CUBLAS_EXECUTION_FAILED = 13 };

enum { TSL_CUBLAS_OP_N = 0, TSL_CUBLAS_OP_T = 1, TSL_CUBLAS_OP_C = 2 };
enum { TSL_CUBLAS_LOWER = 0, TSL_CUBLAS_UPPER = 1, TSL_CUBLAS_FULL = 2 };
enum { TSL_CUBLAS_LEFT = 0, TSL_CUBLAS_RIGHT = 1 };
enum { TSL_CUBLAS_NON_UNIT = 0, TSL_CUBLAS_UNIT = 1 };
enum { TSL_CUBLAS_POINTERS_HOST = 0 };
enum { TSL_CUBLAS_ALGO_DEFAULT = -1, TSL_CUBLAS_ALGO_DEFAULT_TENSOR = 99 };

/* Math modes of a handle: a number, plus flags from 16 on. */
enum { TSL_CUBLAS_MATH_PEDANTIC = 2, TSL_CUBLAS_MATH_TF32 = 3, TSL_CUBLAS_MATH_NUMBER = 15 };

/* Types of elements. */
enum {
  TSL_CUDA_R_32F = 0,
  TSL_CUDA_R_64F = 1,
  TSL_CUDA_R_16F = 2,
  TSL_CUDA_R_8I = 3,
  TSL_CUDA_C_32F = 4,
  TSL_CUDA_C_64F = 5,
  TSL_CUDA_R_32I = 10,
  TSL_CUDA_R_16BF = 14,
};

/* Types of the arithmetic. */
enum {
  TSL_CUBLAS_COMPUTE_16F = 64,
  TSL_CUBLAS_COMPUTE_32F = 68,
  TSL_CUBLAS_COMPUTE_64F = 70,
  TSL_CUBLAS_COMPUTE_32I = 72,
  TSL_CUBLAS_COMPUTE_FAST_16F = 74,
  TSL_CUBLAS_COMPUTE_FAST_16BF = 75,
  TSL_CUBLAS_COMPUTE_FAST_TF32 = 77,
};

/* Attributes of cublasLt's description of a product. */
enum {
  TSL_LT_COMPUTE_TYPE = 0,       /* int32_t */
  TSL_LT_SCALE_TYPE = 1,         /* int32_t */
  TSL_LT_POINTER_MODE = 2,       /* int32_t */
  TSL_LT_TRANS_A = 3,            /* int32_t */
  TSL_LT_TRANS_B = 4,            /* int32_t */
  TSL_LT_TRANS_C = 5,            /* int32_t */
  TSL_LT_FILL_MODE = 6,          /* int32_t */
  TSL_LT_EPILOGUE = 7,           /* uint32_t */
  TSL_LT_BIAS_POINTER = 8,       /* const void * */
  TSL_LT_BIAS_BATCH_STRIDE = 10, /* int64_t */
  TSL_LT_SM_COUNT = 15,          /* int32_t */
  TSL_LT_A_SCALE = 17,           /* const void *; also the next three */
  TSL_LT_D_SCALE = 20,
  TSL_LT_D_AMAX = 21,    /* void * */
  TSL_LT_BIAS_TYPE = 26, /* int32_t */
  TSL_LT_EMULATION = 38, /* void * */
};

/* Epilogues, by bits: bit 0 alone is none. */
enum { TSL_LT_NO_EPILOGUE = 1, TSL_LT_RELU = 2, TSL_LT_BIAS = 4, TSL_LT_GELU = 32 };

/* Attributes of cublasLt's layout of a matrix. */
enum {
  TSL_LT_TYPE = 0,         /* int32_t */
  TSL_LT_ORDER = 1,        /* int32_t */
  TSL_LT_ROWS = 2,         /* uint64_t */
  TSL_LT_COLS = 3,         /* uint64_t */
  TSL_LT_LD = 4,           /* int64_t */
  TSL_LT_BATCH_COUNT = 5,  /* int32_t */
  TSL_LT_BATCH_STRIDE = 6, /* int64_t */
  TSL_LT_BATCH_MODE = 8,   /* int32_t */
};
enum { TSL_LT_COLUMN_MAJOR = 0, TSL_LT_ROW_MAJOR = 1 };

#endif
