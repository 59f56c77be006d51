/* A program that calls cuBLAS and has tesela's names for it installed. */
#include <stdio.h>

int cublasDestroy_v2(void *handle);

int main(void) {
  const int status = cublasDestroy_v2(NULL);
  printf("without a handle the status is %d\n", status);
  return status != 1; /* CUBLAS_STATUS_NOT_INITIALIZED */
}
