/* Idea: cuBLAS's gemm on a CUDA device, for comparison: most programs call it. Loaded at run time
 * (TESELA_CUBLAS, else the names below). Not on the ladder.
 *
 *   C (m x n, row- or column-major) = alpha A B + beta C        cublasSgemm, cublasDgemm on our stream,
 *                                                               column-major; a row-major C is C' = B' A'
 *
 * Precision: cuBLAS's default mode computes f32 in f32 and f64 in f64. TF32 and emulation are other modes,
 * which are never set here; NVIDIA's environment variables may override that.
 *
 * Limits: each operand has one unit stride; the other is positive and at least the length of the line. A plan
 * has one handle, which one thread at a time uses to enqueue. Equal bits from run to run on one stream. */
#include "core/status.h"
#include "strategy/gemm/peer/vendor_cublas/cublas_api.h"
#include "strategy/vendor.h"

static tsl_cublas_api cublas;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_cublas_api, member), 0},
    TSL_CUBLAS_LIST(SYMBOL)
#undef SYMBOL
};
static void vendor_cublas_name(tsl_vendor *found) {
  tsl_vendor_cublas_name(cublas.property, found);
}

static tsl_vendor_library library = {.what = "cuBLAS",
                                     .path = TSL_ENV_CUBLAS,
                                     .names = tsl_vendor_cublas_names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &cublas,
                                     .name = vendor_cublas_name};

static const tsl_vendor *vendor_cublas_vendor(void) {
  return tsl_vendor_find(&library);
}

static double vendor_cublas_score(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  (void)config;
  return tsl_vendor_seconds(problem, device, 0.8, 1.5 * device->launch_seconds, 64);
}

static tesela_status vendor_cublas_check(const tsl_device *device, const char *call, int code) {
  return tsl_vendor_cublas_check(device, call, code, cublas.status_name, &library.found);
}

static tesela_status vendor_cublas_prepare(const tsl_work *work, tsl_vendor_handle *vendor_handle) {
  tsl_cublas_handle handle;
  TSL_TRY(vendor_cublas_check(work->device, "cublasCreate", cublas.create(&handle)));
  const tesela_status status = vendor_cublas_check(work->device, "cublasSetMathMode",
                                                   cublas.set_math_mode(handle, TSL_CUBLAS_DEFAULT_MATH));
  if (status != TESELA_OK)
    cublas.destroy(handle);
  vendor_handle->handle = handle;
  return status;
}

static tesela_status vendor_cublas_build(tsl_work *work) {
  return tsl_vendor_build(work, sizeof(tsl_vendor_handle), "a handle of cuBLAS", vendor_cublas_prepare);
}

static void vendor_cublas_end(tsl_vendor_handle *vendor_handle, bool entered) {
  if (entered)
    cublas.destroy(vendor_handle->handle);
}

static void vendor_cublas_release(tsl_work *work) {
  tsl_vendor_release(work, vendor_cublas_end);
}

/* Returns an operand's address. An operand that is not read may be missing; then C's address is used. */
static void *vendor_cublas_address(const tsl_work *work, const tsl_operand *operand, const tsl_operand *c) {
  return tsl_vendor_address(work, operand->buffer ? operand : c, work->problem.c.type);
}

static int vendor_cublas_multiply(const tsl_work *work, const tsl_blas_product *p) {
  const tsl_vendor_handle *state = work->state;
  const int a_transpose = p->a_transposed ? TSL_CUBLAS_TRANSPOSE : TSL_CUBLAS_NO_TRANSPOSE;
  const int b_transpose = p->b_transposed ? TSL_CUBLAS_TRANSPOSE : TSL_CUBLAS_NO_TRANSPOSE;
  const void *a = vendor_cublas_address(work, p->a, p->c), *b = vendor_cublas_address(work, p->b, p->c);
  void *c = vendor_cublas_address(work, p->c, p->c);
  if (work->problem.c.type == TESELA_F64)
    return cublas.dgemm(state->handle, a_transpose, b_transpose, p->m, p->n, p->k, &p->alpha, a, p->a_leading,
                        b, p->b_leading, &p->beta, c, p->c_leading);
  const float alpha = (float)p->alpha, beta = (float)p->beta;
  return cublas.sgemm(state->handle, a_transpose, b_transpose, p->m, p->n, p->k, &alpha, a, p->a_leading, b,
                      p->b_leading, &beta, c, p->c_leading);
}

static tesela_status vendor_cublas_run(const tsl_work *work, const tsl_operands *operands,
                                       tsl_stream *stream) {
  tsl_device *device = work->device;
  tsl_vendor_handle *state = work->state;
  tsl_blas_product p;
  TSL_TRY(tsl_blas_product_of(work, operands, &p));
  TSL_TRY(device->ops->enter(device));
  pthread_mutex_lock(&state->lock);
  const char *call = "cublasSetStream";
  int code = cublas.set_stream(state->handle, device->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS) {
    call = work->problem.c.type == TESELA_F64 ? "cublasDgemm" : "cublasSgemm";
    code = vendor_cublas_multiply(work, &p);
  }
  pthread_mutex_unlock(&state->lock);
  device->ops->leave(device);
  return vendor_cublas_check(device, call, code);
}

const tsl_strategy tsl_gemm_vendor_cublas = {
    .name = "vendor_cublas",
    .idea = "the gemm of cuBLAS",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA,
    .accuracy = tsl_accuracy_in_order,
    .refuse = tsl_blas_refuse_wide,
    .score = vendor_cublas_score,
    .build = vendor_cublas_build,
    .run = vendor_cublas_run,
    .release = vendor_cublas_release,
    .vendor = {.load = vendor_cublas_vendor},
};
