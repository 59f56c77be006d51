/* cuBLAS's Level 3 as a strategy of a benchmark, and how far its results are from tesela's: what gpu_syrk and
 * gpu_trsm share. Each has its call() of the library, whose name is CALLED, and says in its peer which
 * problems it takes. BENCH_NAME and CALLED are defined before. */
#ifndef TSL_BENCH_GPU_CUBLAS_H
#define TSL_BENCH_GPU_CUBLAS_H

#include "strategy/vendor.h"

#include "gpu_sides.h"

#include <stddef.h>

/* Functions: X(return type, member, symbol, parameters), as strategy/gemm/vendor_cublas has others of the
 * library. */
#define SYRK(type)                                                                                           \
  (void *handle, int fill, int transpose, int64_t n, int64_t k, const type *alpha, const void *a,            \
   int64_t a_leading, const type *beta, void *c, int64_t c_leading)
#define TRSM(type)                                                                                           \
  (void *handle, int side, int fill, int transpose, int diagonal, int64_t m, int64_t n, const type *alpha,   \
   const void *a, int64_t a_leading, void *b, int64_t b_leading)
#define CUBLAS_LIST(X)                                                                                       \
  X(int, create, cublasCreate_v2, (void **handle))                                                           \
  X(int, destroy, cublasDestroy_v2, (void *handle))                                                          \
  X(int, property, cublasGetProperty, (int what, int *value))                                                \
  X(const char *, status_name, cublasGetStatusName, (int code))                                              \
  X(int, set_stream, cublasSetStream_v2, (void *handle, void *stream))                                       \
  X(int, ssyrk, cublasSsyrk_v2_64, SYRK(float))                                                              \
  X(int, dsyrk, cublasDsyrk_v2_64, SYRK(double))                                                             \
  X(int, strsm, cublasStrsm_v2_64, TRSM(float))                                                              \
  X(int, dtrsm, cublasDtrsm_v2_64, TRSM(double))                                                             \
  X(int, ctrsm, cublasCtrsm_v2_64, TRSM(float))                                                              \
  X(int, ztrsm, cublasZtrsm_v2_64, TRSM(double))

typedef struct cublas_api {
#define MEMBER(type, member, symbol, parameters) type(*member) parameters;
  CUBLAS_LIST(MEMBER)
#undef MEMBER
} cublas_api;
static cublas_api cublas;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(cublas_api, member), 0},
    CUBLAS_LIST(SYMBOL)
#undef SYMBOL
};
#undef CUBLAS_LIST
#undef SYRK
#undef TRSM

static void name_library(tsl_vendor *found) {
  tsl_vendor_cublas_name(cublas.property, found);
}

static tsl_vendor_library library = {.what = "cuBLAS",
                                     .path = TSL_ENV_CUBLAS,
                                     .names = tsl_vendor_cublas_names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &cublas,
                                     .name = name_library};

static const tsl_vendor *load(void) {
  return tsl_vendor_find(&library);
}

static tesela_status prepare(const tsl_work *work, tsl_vendor_handle *vendor_handle) {
  return tsl_vendor_cublas_check(work->device, "cublasCreate", cublas.create(&vendor_handle->handle),
                                 cublas.status_name, &library.found);
}

static tesela_status build(tsl_work *work) {
  return tsl_vendor_build(work, sizeof(tsl_vendor_handle), "a handle of cuBLAS", prepare);
}

static void end(tsl_vendor_handle *vendor_handle, bool entered) {
  if (entered)
    cublas.destroy(vendor_handle->handle);
}

static void release(tsl_work *work) {
  tsl_vendor_release(work, end);
}

/* Calls the library for a problem; defined by the program; returns the library's status. */
static int call(const tsl_problem *problem, void *handle, const void *a, void *c);

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_device *used = work->device;
  const tsl_vendor_handle *own = work->state;
  const tesela_type type = work->problem.c.type;
  must(used->ops->enter(used), "cuBLAS");
  int code = cublas.set_stream(own->handle, used->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS)
    code = call(&work->problem, own->handle, tsl_vendor_address(work, &operands->a, type),
                tsl_vendor_address(work, &operands->c, type));
  used->ops->leave(used);
  return tsl_vendor_cublas_check(used, CALLED, code, cublas.status_name, &library.found);
}

/* Returns the difference of two arrays relative to the second; frees both. */
static double apart(double *state, double *other, size_t count) {
  double apart = 0, all = 0;
  for (size_t i = 0; i < count; i++) {
    apart += (state[i] - other[i]) * (state[i] - other[i]);
    all += other[i] * other[i];
  }
  free(state);
  free(other);
  return sqrt(apart / all);
}

#endif
