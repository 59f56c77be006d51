/* cublasLt's product. */
#include "cublas/cublas_take.h"

typedef int lt_matmul(const void *handle, const void *operation, const void *alpha, const void *a,
                      const void *a_layout, const void *b, const void *b_layout, const void *beta,
                      const void *c, const void *c_layout, void *d, const void *d_layout,
                      const void *algorithm, void *workspace, size_t workspace_bytes, void *stream);

TESELA_API int cublasLtMatmul(const void *handle, const void *operation, const void *alpha, const void *a,
                              const void *a_layout, const void *b, const void *b_layout, const void *beta,
                              const void *c, const void *c_layout, void *d, const void *d_layout,
                              const void *algorithm, void *workspace, size_t workspace_bytes, void *stream) {
  static tsl_cublas_symbol symbol = {.name = "cublasLtMatmul"};
  const tsl_lt_arguments arguments = {operation, alpha,    a, a_layout, b,         b_layout,        beta,
                                      c,         c_layout, d, d_layout, workspace, workspace_bytes, stream};
  tsl_cublas_ticket ticket;
  int status;
  tsl_next_function *next = tsl_cublas_take_lt(&symbol, handle ? &arguments : NULL, &ticket, &status);
  return next ? tsl_cublas_end(&ticket, ((lt_matmul *)next)(handle, operation, alpha, a, a_layout, b,
                                                            b_layout, beta, c, c_layout, d, d_layout,
                                                            algorithm, workspace, workspace_bytes, stream))
              : status;
}
