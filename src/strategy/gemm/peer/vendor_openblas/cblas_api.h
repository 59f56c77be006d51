/* The part of CBLAS that tesela uses, and version functions: own declarations. CBLAS's integers have 32 bits
 * in most libraries ("LP64") and 64 in some ("ILP64"), with equal names. Here they are passed as 64 bits,
 * which works for both: Linux's 64-bit ABIs pass an integer in 64 bits, of which 32-bit code reads the lower
 * half. vendor_openblas_refuse() checks that values fit. */
#ifndef TSL_GEMM_VENDOR_OPENBLAS_CBLAS_API_H
#define TSL_GEMM_VENDOR_OPENBLAS_CBLAS_API_H

#include <stdint.h>

enum { TSL_CBLAS_COLUMN_MAJOR = 102 };
enum { TSL_CBLAS_NO_TRANSPOSE = 111, TSL_CBLAS_TRANSPOSE = 112 };

/* Functions: X(return type, member, symbol, 1 if a library may lack it, parameters). */
#define TSL_CBLAS_LIST(X)                                                                                    \
  X(void, sgemm, cblas_sgemm, 0,                                                                             \
    (int order, int a_transpose, int b_transpose, int64_t m, int64_t n, int64_t k, float alpha,              \
     const float *a, int64_t a_leading, const float *b, int64_t b_leading, float beta, float *c,             \
     int64_t c_leading))                                                                                     \
  X(void, dgemm, cblas_dgemm, 0,                                                                             \
    (int order, int a_transpose, int b_transpose, int64_t m, int64_t n, int64_t k, double alpha,             \
     const double *a, int64_t a_leading, const double *b, int64_t b_leading, double beta, double *c,         \
     int64_t c_leading))                                                                                     \
  /* OpenBLAS: "OpenBLAS 0.3.21 DYNAMIC_ARCH ...", with USE64BITINT for 64-bit integers; "SkylakeX" */       \
  X(const char *, openblas_config, openblas_get_config, 1, (void))                                           \
  X(const char *, openblas_core, openblas_get_corename, 1, (void))                                           \
  X(void, openblas_threads, openblas_set_num_threads, 1, (int count))                                        \
  /* BLIS: "0.9.0"; 32 or 64; "zen3" */                                                                      \
  X(const char *, blis_version, bli_info_get_version_str, 1, (void))                                         \
  X(int64_t, blis_integer_bits, bli_info_get_blas_int_type_size, 1, (void))                                  \
  X(int, blis_architecture, bli_arch_query_id, 1, (void))                                                    \
  X(const char *, blis_architecture_name, bli_arch_string, 1, (int architecture))                            \
  X(void, blis_threads, bli_thread_set_num_threads, 1, (int64_t count))                                      \
  /* MKL: "... Version 2026.2-Product Build ..." */                                                          \
  X(void, mkl_version, MKL_Get_Version_String, 1, (char *text, int size))                                    \
  X(void, mkl_threads, MKL_Set_Num_Threads, 1, (int count))

typedef struct tsl_cblas_api {
#define TSL_CBLAS_MEMBER(type, member, symbol, optional, parameters) type(*member) parameters;
  TSL_CBLAS_LIST(TSL_CBLAS_MEMBER)
#undef TSL_CBLAS_MEMBER
} tsl_cblas_api;

#endif
