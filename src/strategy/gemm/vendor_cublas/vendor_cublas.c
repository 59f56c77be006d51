/* Idea: cuBLAS's gemm on a CUDA device, as a peer to compare with: what most programs call. Loaded at run time
 * (TESELA_CUBLAS, else the names below). Not on the ladder.
 *
 *   C (m x n, row- or column-major) = alpha A B + beta C        cublasSgemm, cublasDgemm on our stream, column-major;
 *                                                               a row-major C is C' = B' A'
 *
 * Precision: the math mode is set to cuBLAS's default, which computes f32 in f32 and f64 in f64 (on the tensor cores
 * where those take doubles); TF32 and emulation are modes of their own, which are never set here. NVIDIA's own
 * environment variables may override that in a process. The pedantic mode is not used: it only takes algorithms away.
 *
 * Parameters: none. Limits: each operand has one unit stride, and the other is positive and at least as long as the
 * line that it leads. alpha = 0 and k = 0 arrive as both, for which BLAS reads neither A nor B. A plan has one handle,
 * which one thread at a time uses to enqueue; NVIDIA promises equal bits from run to run on one stream. */
#include "base/memory.h"
#include "base/status.h"
#include "strategy/gemm/vendor_cublas/cublas_api.h"
#include "strategy/vendor.h"

#include <pthread.h>
#include <stdio.h>

static tsl_cublas_api cublas;
static tsl_vendor found;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_cublas_api, member), 0},
    TSL_CUBLAS_LIST(SYMBOL)
#undef SYMBOL
};
static const char *const names[] = {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13",
                                    "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12", NULL};

/* What build() makes. */
typedef struct state {
  pthread_mutex_t lock; /* of the handle's stream */
  tsl_cublas_handle handle;
} state;

static void load(void) {
  static const tsl_vendor_library library = {.what = "cuBLAS",
                                             .path = TSL_ENV_CUBLAS,
                                             .names = names,
                                             .symbols = symbols,
                                             .count = sizeof symbols / sizeof *symbols};
  int version[3] = {0};
  if (!tsl_vendor_load(&library, &cublas, &found))
    return;
  for (int i = 0; i < 3; i++)
    cublas.property(TSL_CUBLAS_MAJOR + i, &version[i]);
  snprintf(found.name, sizeof found.name, "cuBLAS %d.%d.%d", version[0], version[1], version[2]);
}

static const tsl_vendor *vendor(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return &found;
}

/* --- the strategy --- */

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_blas_refuse(problem, INT64_MAX);
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  return tsl_vendor_seconds(problem, device, 0.8, 1.5 * device->launch_seconds, 64);
}

/* A library that the driver is too old for does not start: a reason, as if it were absent. */
static tesela_status check(const tsl_device *device, const char *call, int code) {
  if (code == TSL_CUBLAS_SUCCESS)
    return TESELA_OK;
  const tesela_status status = code == TSL_CUBLAS_ALLOC_FAILED      ? TESELA_OUT_OF_MEMORY
                               : code == TSL_CUBLAS_NOT_INITIALIZED ? TESELA_UNSUPPORTED
                               : code == TSL_CUBLAS_NOT_SUPPORTED   ? TESELA_UNSUPPORTED
                                                                    : TESELA_DEVICE_FAILED;
  return tsl_fail(status, "%s: %s: %s (%s)", device->name, call, cublas.status_name(code), found.name);
}

static tesela_status create(const tsl_device *device, tsl_cublas_handle *handle) {
  TSL_TRY(check(device, "cublasCreate", cublas.create(handle)));
  const tesela_status status =
      check(device, "cublasSetMathMode", cublas.set_math_mode(*handle, TSL_CUBLAS_DEFAULT_MATH));
  if (status != TESELA_OK)
    cublas.destroy(*handle);
  return status;
}

static tesela_status build(tsl_work *work) {
  tsl_device *device = work->device;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(state), "a handle of cuBLAS", &block));
  state *made = block;
  tesela_status status = device->ops->enter(device);
  if (status == TESELA_OK) {
    status = create(device, &made->handle);
    device->ops->leave(device);
  }
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  pthread_mutex_init(&made->lock, NULL);
  work->state = made;
  return TESELA_OK;
}

/* A device that cannot be entered any more has let go of the handle already. */
static void release(tsl_work *work) {
  state *own = work->state;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  if (work->device->ops->enter(work->device) == TESELA_OK) {
    cublas.destroy(own->handle);
    work->device->ops->leave(work->device);
  }
  tsl_status_restore(&saved);
  pthread_mutex_destroy(&own->lock);
  tsl_free(own);
  work->state = NULL;
}

/* Element (0, 0) on the device; what is not read may be missing. */
static void *address(const tsl_work *work, const tsl_operand *operand, const tsl_operand *c) {
  const tsl_operand *there = operand->buffer ? operand : c;
  const int64_t size = (int64_t)tsl_type(work->problem.c.type)->size;
  return (char *)work->device->ops->native_buffer(there->buffer) + there->offset * size;
}

static int multiply(const tsl_work *work, const tsl_blas_product *p) {
  const state *own = work->state;
  const int a_transpose = p->a_transposed ? TSL_CUBLAS_TRANSPOSE : TSL_CUBLAS_NO_TRANSPOSE;
  const int b_transpose = p->b_transposed ? TSL_CUBLAS_TRANSPOSE : TSL_CUBLAS_NO_TRANSPOSE;
  const void *a = address(work, p->a, p->c), *b = address(work, p->b, p->c);
  void *c = address(work, p->c, p->c);
  if (work->problem.c.type == TESELA_F64)
    return cublas.dgemm(own->handle, a_transpose, b_transpose, p->m, p->n, p->k, &p->alpha, a, p->a_leading,
                        b, p->b_leading, &p->beta, c, p->c_leading);
  const float alpha = (float)p->alpha, beta = (float)p->beta;
  return cublas.sgemm(own->handle, a_transpose, b_transpose, p->m, p->n, p->k, &alpha, a, p->a_leading, b,
                      p->b_leading, &beta, c, p->c_leading);
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_device *device = work->device;
  state *own = work->state;
  tsl_blas_product p;
  TSL_TRY(tsl_blas_product_of(work, operands, &p));
  TSL_TRY(device->ops->enter(device));
  pthread_mutex_lock(&own->lock);
  const char *call = "cublasSetStream";
  int code = cublas.set_stream(own->handle, device->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS) {
    call = work->problem.c.type == TESELA_F64 ? "cublasDgemm" : "cublasSgemm";
    code = multiply(work, &p);
  }
  pthread_mutex_unlock(&own->lock);
  device->ops->leave(device);
  return check(device, call, code);
}

const tsl_strategy tsl_gemm_vendor_cublas = {
    .name = "vendor_cublas",
    .idea = "the gemm of cuBLAS",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA,
    .accuracy = tsl_accuracy_in_order,
    .refuse = refuse,
    .score = score,
    .build = build,
    .run = run,
    .release = release,
    .vendor = {.load = vendor},
};
