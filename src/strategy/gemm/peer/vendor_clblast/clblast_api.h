/* The part of CLBlast's C interface that tesela uses: own declarations of the ABI since 1.0. Matrices are
 * OpenCL buffers with an offset in elements. A call enqueues and returns. */
#ifndef TSL_GEMM_VENDOR_CLBLAST_CLBLAST_API_H
#define TSL_GEMM_VENDOR_CLBLAST_CLBLAST_API_H

#include <stddef.h>

enum { TSL_CLBLAST_COLUMN_MAJOR = 102 };
enum { TSL_CLBLAST_NO_TRANSPOSE = 111, TSL_CLBLAST_TRANSPOSE = 112 };

/* Error codes: X(code, CLBlast's name, tesela's status). */
#define TSL_CLBLAST_RESULT_LIST(X)                                                                           \
  X(-3, OpenCLCompilerNotAvailable, TESELA_BUILD_FAILED)                                                     \
  X(-4, TempBufferAllocFailure, TESELA_OUT_OF_MEMORY)                                                        \
  X(-5, OpenCLOutOfResources, TESELA_OUT_OF_MEMORY)                                                          \
  X(-6, OpenCLOutOfHostMemory, TESELA_OUT_OF_MEMORY)                                                         \
  X(-11, OpenCLBuildProgramFailure, TESELA_BUILD_FAILED)                                                     \
  X(-54, InvalidLocalThreadsTotal, TESELA_DEVICE_FAILED)                                                     \
  X(-55, InvalidLocalThreadsDim, TESELA_DEVICE_FAILED)                                                       \
  X(-1011, InsufficientMemoryA, TESELA_DEVICE_FAILED)                                                        \
  X(-1010, InsufficientMemoryB, TESELA_DEVICE_FAILED)                                                        \
  X(-1009, InsufficientMemoryC, TESELA_DEVICE_FAILED)                                                        \
  X(-2039, UnexpectedError, TESELA_DEVICE_FAILED)                                                            \
  X(-2040, UnknownError, TESELA_DEVICE_FAILED)                                                               \
  X(-2041, DatabaseError, TESELA_DEVICE_FAILED)                                                              \
  X(-2044, NoDoublePrecision, TESELA_DEVICE_FAILED)                                                          \
  X(-2046, InvalidLocalMemUsage, TESELA_DEVICE_FAILED)

/* Functions: X(member, symbol, parameters). Each returns a code, 0 for success; event may be NULL. */
#define TSL_CLBLAST_LIST(X)                                                                                  \
  X(sgemm, CLBlastSgemm,                                                                                     \
    (int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, float alpha, void *a,       \
     size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading, float beta, void *c,     \
     size_t c_offset, size_t c_leading, void **queue, void **event))                                         \
  X(dgemm, CLBlastDgemm,                                                                                     \
    (int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, double alpha, void *a,      \
     size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading, double beta, void *c,    \
     size_t c_offset, size_t c_leading, void **queue, void **event))

typedef struct tsl_clblast_api {
#define TSL_CLBLAST_MEMBER(member, symbol, parameters) int(*member) parameters;
  TSL_CLBLAST_LIST(TSL_CLBLAST_MEMBER)
#undef TSL_CLBLAST_MEMBER
} tsl_clblast_api;

#endif
