/* Workspaces that the program sets for its handles (cublasSetWorkspace). */
#ifndef TSL_CUBLAS_CUBLAS_WORKSPACE_H
#define TSL_CUBLAS_CUBLAS_WORKSPACE_H

#include <stddef.h>

/* Stores a handle's workspace; bytes 0: cuBLAS's own. */
void tsl_cublas_workspace_set(const void *handle, const void *memory, size_t bytes);
/* Returns a handle's workspace; NULL: cuBLAS's own. */
const void *tsl_cublas_workspace_get(const void *handle, size_t *bytes);

#endif
