/* Descriptions of cublasLt, read by its own functions. */
#ifndef TSL_CUBLAS_CUBLAS_LT_H
#define TSL_CUBLAS_CUBLAS_LT_H

#include "cublas/cublas_thread.h"

/* Arguments of cublasLtMatmul(). */
typedef struct tsl_lt_arguments {
  const void *operation, *alpha, *a, *a_layout, *b, *b_layout, *beta, *c, *c_layout, *d, *d_layout;
  const void *workspace;
  size_t workspace_bytes;
  void *stream;
} tsl_lt_arguments;

/* Hashes the descriptions of a call. `next` is the program's cublasLtMatmul. */
uint64_t tsl_cublas_lt_hash(tsl_next_function *next, const tsl_lt_arguments *arguments);
/* Fills a call; `hash` is its tsl_cublas_lt_hash(). Returns false if tesela has no such product, and for
 * attributes that are not understood. */
bool tsl_cublas_lt_read(const tsl_lt_arguments *arguments, uint64_t hash, tsl_cublas_thread *thread,
                        tsl_cublas_call *call);

#endif
