#include "device.h"

#include "strategy/params.h"
#include "strategy/vendor.h"

#include <stddef.h>

struct bench_gpu bench_gpu;

void bench_gpu_open(const char *name) {
  bench_must(tsl_devices_create(&bench_gpu.devices), "devices");
  bench_must(tsl_devices_find(bench_gpu.devices, name, &bench_gpu.device), "the device");
  bench_must(tsl_device_open(bench_gpu.device), "the device");
  bench_must(tsl_wisdom_open(&bench_gpu.wisdom), "wisdom");
  bench_must(bench_gpu.device->ops->stream_create(bench_gpu.device, &bench_gpu.stream), "a stream");
}

void bench_gpu_close(void) {
  bench_gpu.device->ops->stream_destroy(bench_gpu.stream);
  tsl_wisdom_close(bench_gpu.wisdom);
  tsl_devices_destroy(bench_gpu.devices);
}

/* --- cuBLAS's Level 3 --- */

/* Functions: X(return type, member, symbol, parameters), as strategy/gemm/peer/vendor_cublas has others of
 * the library. */
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

static const tsl_vendor *load_cublas(void) {
  return tsl_vendor_find(&library);
}

static tesela_status prepare_handle(const tsl_work *work, tsl_vendor_handle *vendor_handle) {
  return tsl_vendor_cublas_check(work->device, "cublasCreate", cublas.create(&vendor_handle->handle),
                                 cublas.status_name, &library.found);
}

static tesela_status build_cublas(tsl_work *work) {
  return tsl_vendor_build(work, sizeof(tsl_vendor_handle), "a handle of cuBLAS", prepare_handle);
}

static void end_handle(tsl_vendor_handle *vendor_handle, bool entered) {
  if (entered)
    cublas.destroy(vendor_handle->handle);
}

static void release_cublas(tsl_work *work) {
  tsl_vendor_release(work, end_handle);
}

/* By columns, as BLAS counts, A is k x n, and C's lower triangle its upper one. */
static int call_syrk(const tsl_problem *problem, void *handle, const void *a, void *c) {
  enum { UPPER = 1, TRANSPOSED = 1 };
  const float single[2] = {1, 0};
  const double twice[2] = {1, 0};
  return problem->c.type == TESELA_F64
             ? cublas.dsyrk(handle, UPPER, TRANSPOSED, problem->n, problem->k, &twice[0], a,
                            problem->a.row_stride, &twice[1], c, problem->c.row_stride)
             : cublas.ssyrk(handle, UPPER, TRANSPOSED, problem->n, problem->k, &single[0], a,
                            problem->a.row_stride, &single[1], c, problem->c.row_stride);
}

static int call_trsm(const tsl_problem *problem, void *handle, const void *a, void *x) {
  enum { LEFT = 0, LOWER = 0, AS_IT_IS = 0, NON_UNIT = 0 };
  const tesela_type type = problem->c.type;
  const float single[2] = {1, 0};
  const double twice[2] = {1, 0};
  const int64_t m = problem->m, n = problem->n, lda = problem->a.col_stride, ldx = problem->c.col_stride;
  if (tsl_type(type)->component == TESELA_F64)
    return (type == TESELA_F64 ? cublas.dtrsm : cublas.ztrsm)(handle, LEFT, LOWER, AS_IT_IS, NON_UNIT, m, n,
                                                              twice, a, lda, x, ldx);
  return (type == TESELA_F32 ? cublas.strsm : cublas.ctrsm)(handle, LEFT, LOWER, AS_IT_IS, NON_UNIT, m, n,
                                                            single, a, lda, x, ldx);
}

static tesela_status run_cublas(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_device *device = work->device;
  const tsl_vendor_handle *own = work->state;
  const tesela_type type = work->problem.c.type;
  const bool is_solve = work->problem.op == TSL_OP_SOLVE;
  bench_must(device->ops->enter(device), "cuBLAS");
  int code = cublas.set_stream(own->handle, device->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS)
    code = (is_solve ? call_trsm : call_syrk)(&work->problem, own->handle,
                                              tsl_vendor_address(work, &operands->a, type),
                                              tsl_vendor_address(work, &operands->c, type));
  device->ops->leave(device);
  return tsl_vendor_cublas_check(device, is_solve ? "cublasTrsm" : "cublasSyrk", code, cublas.status_name,
                                 &library.found);
}

static const tsl_types real_types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                       {TESELA_F64, TESELA_F64, TESELA_F64},
                                       {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT}},
                       all_types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                      {TESELA_F64, TESELA_F64, TESELA_F64},
                                      {TESELA_C64, TESELA_C64, TESELA_C64},
                                      {TESELA_C128, TESELA_C128, TESELA_C128},
                                      {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT}};

const tsl_strategy bench_cublas_syrk = {.name = "vendor_cublas_syrk",
                                        .idea = "the syrk of cuBLAS",
                                        .op = TSL_OP_GEMM,
                                        .version = 1,
                                        .needs = TSL_CAN_CUDA,
                                        .accuracy = tsl_accuracy_in_order,
                                        .supports = {.types = real_types, .structures = true},
                                        .build = build_cublas,
                                        .run = run_cublas,
                                        .release = release_cublas,
                                        .vendor = {.load = load_cublas}},
                   bench_cublas_trsm = {.name = "vendor_cublas_trsm",
                                        .idea = "the trsm of cuBLAS",
                                        .op = TSL_OP_SOLVE,
                                        .version = 1,
                                        .needs = TSL_CAN_CUDA,
                                        .accuracy = tsl_accuracy_of_substitution,
                                        .supports = {.types = all_types, .structures = true},
                                        .build = build_cublas,
                                        .run = run_cublas,
                                        .release = release_cublas,
                                        .vendor = {.load = load_cublas}};
