/* Prints nanoseconds that the drop-in adds to a call that stays with cuBLAS. The stand-in writes zeros only.
 * A line has the call with the drop-in, the call without it, and the difference. The least of the rounds
 * counts.
 *
 *   TESELA_CUBLAS_CALLS=host_auto LD_PRELOAD=build/release/lib/libtesela_cublas.so.2 cublas_entry_cost */
#include "cublas/standin.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 8, CALLS = 500, ROUNDS = 400, WARM_UP = 2000, F32 = 0, COMPUTE_F32 = 68, ALGORITHM = -1 };
enum { SGEMM, GEMM_EX, STRIDED_EX, LT, ENTRIES };
static const char *const names[ENTRIES] = {"cublasSgemm_v2", "cublasGemmEx", "cublasGemmStridedBatchedEx",
                                           "cublasLtMatmul"};
static standin_handle handle;
static standin_attributes operation, layout;
static float a[N * N], c[N * N];
static const float one = 1, zero = 0;

/* The stand-in's own functions: a lookup with a version is not replaced. */
static __typeof__(&cublasSgemm_v2) own_sgemm;
static __typeof__(&cublasGemmEx) own_gemm_ex;
static __typeof__(&cublasGemmStridedBatchedEx) own_strided_ex;
static __typeof__(&cublasLtMatmul) own_lt;
static void find_own(const char *name, void *function) {
  void *address = dlvsym(RTLD_DEFAULT, name, "libcublas.so.13");
  memcpy(function, &address, sizeof address);
}

static int call(int entry, int is_own) {
  switch (entry) {
  case SGEMM:
    return (is_own ? own_sgemm : cublasSgemm_v2)(handle, 0, 1, N, N, N, &one, a, N, a, N, &zero, c, N);
  case GEMM_EX:
    return (is_own ? own_gemm_ex : cublasGemmEx)(handle, 0, 1, N, N, N, &one, a, F32, N, a, F32, N, &zero, c,
                                                 F32, N, COMPUTE_F32, ALGORITHM);
  case STRIDED_EX:
    return (is_own ? own_strided_ex : cublasGemmStridedBatchedEx)(handle, 0, 1, N, N, N, &one, a, F32, N, 0,
                                                                  a, F32, N, 0, &zero, c, F32, N, N * N, 1,
                                                                  COMPUTE_F32, ALGORITHM);
  default:
    return (is_own ? own_lt : cublasLtMatmul)(handle, operation, &one, a, layout, a, layout, &zero, c, layout,
                                              c, layout, NULL, NULL, 0, NULL);
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns the least nanoseconds of a call. */
static double measure(int entry, int is_own) {
  double least = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    const double begin = now();
    for (int i = 0; i < CALLS; i++)
      (void)call(entry, is_own);
    least = fmin(least, 1e9 * (now() - begin) / CALLS);
  }
  return least;
}

int main(void) {
  find_own("cublasSgemm_v2", &own_sgemm);
  find_own("cublasGemmEx", &own_gemm_ex);
  find_own("cublasGemmStridedBatchedEx", &own_strided_ex);
  find_own("cublasLtMatmul", &own_lt);
  if (!own_sgemm || !own_gemm_ex || !own_strided_ex || !own_lt || cublasCreate_v2(&handle) != 0 ||
      cublasLtMatmulDescCreate(&operation, COMPUTE_F32, F32) != 0 ||
      cublasLtMatrixLayoutCreate(&layout, F32, N, N, N) != 0)
    return 2;
  standin_writes_zeros(1);
  for (int entry = 0; entry < ENTRIES; entry++) {
    for (int i = 0; i < WARM_UP; i++) { /* until the race is over */
      (void)call(entry, 0);
      usleep(100);
    }
    const double with = measure(entry, 0), without = measure(entry, 1);
    printf("%-28s %6.1f ns, %6.1f ns, adds %6.1f ns\n", names[entry], with, without, with - without);
  }
  return 0;
}
