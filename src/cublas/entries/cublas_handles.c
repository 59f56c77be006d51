/* Functions that change a handle's workspace. They are cuBLAS's; this library remembers the workspace. */
#include "cublas/cublas_abi.h"
#include "cublas/cublas_symbol.h"
#include "cublas/cublas_thread.h"

/* Declares `next`, cuBLAS's function of this name; returns an error if there is none. */
#define NEXT(name, ...)                                                                                      \
  typedef int forward(__VA_ARGS__);                                                                          \
  static tsl_lazy_symbol symbol;                                                                             \
  forward *next = (forward *)tsl_interpose_next(&symbol, #name);                                             \
  if (!next)                                                                                                 \
  return TSL_CUBLAS_NOT_INITIALIZED

TESELA_API int cublasSetWorkspace_v2(const void *handle, void *workspace, size_t bytes) {
  NEXT(cublasSetWorkspace_v2, const void *, void *, size_t);
  const int status = next(handle, workspace, bytes);
  tsl_cublas_workspace_set(handle, workspace, status == TSL_CUBLAS_SUCCESS ? bytes : 0);
  return status;
}

/* A new stream gets cuBLAS's own workspace. */
TESELA_API int cublasSetStream_v2(const void *handle, void *stream) {
  NEXT(cublasSetStream_v2, const void *, void *);
  tsl_cublas_workspace_set(handle, NULL, 0);
  return next(handle, stream);
}

TESELA_API int cublasDestroy_v2(const void *handle) {
  NEXT(cublasDestroy_v2, const void *);
  tsl_cublas_workspace_set(handle, NULL, 0);
  return next(handle);
}
