/* A program of cuBLAS, as others' programs are: linked with it, or with its path as the argument, which it
 * opens. Prints the library that computed a product: "tesela" or "cuBLAS". */
#include "cublas/standin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef STANDIN_GEMM((*gemm), int);
typedef int (*create)(standin_handle *handle);
typedef int (*count)(void);

#ifdef OPENS
static void *library;
static void find(const char *name, void *function) {
  void *address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  memcpy(function, &address, sizeof address);
}
#endif

int main(int argc, char **argv) {
  gemm multiply;
  create make;
  count calls;
#ifdef OPENS
  library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  find("cublasSgemm_v2", &multiply);
  find("cublasCreate_v2", &make);
  find("standin_calls", &calls);
#else
  (void)argc, (void)argv;
  multiply = cublasSgemm_v2;
  make = cublasCreate_v2;
  calls = standin_calls;
#endif
  const float one = 1, zero = 0, a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  float c[4] = {0};
  standin_handle handle;
  if (make(&handle) != 0 || multiply(handle, 0, 0, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) != 0)
    return 3;
  if (c[0] != 23 || c[1] != 34 || c[2] != 31 || c[3] != 46) {
    fprintf(stderr, "a wrong product: %g %g %g %g\n", c[0], c[1], c[2], c[3]);
    return 1;
  }
  puts(calls() == 0 ? "tesela" : "cuBLAS");
  return 0;
}
