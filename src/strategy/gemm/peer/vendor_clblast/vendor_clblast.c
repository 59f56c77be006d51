/* Idea: CLBlast's gemm on an OpenCL device, for comparison: its tuned parameters are the reference of
 * portable OpenCL kernels. Loaded at run time (TESELA_CLBLAST, else libclblast.so.1). Not on the ladder.
 *
 *   C (m x n, row- or column-major) = alpha A B + beta C        CLBlastSgemm, CLBlastDgemm on our queue and
 *                                                               buffers, column-major; a row-major C is
 *                                                               C' = B' A'
 *
 * CLBlast compiles its kernels at a process's first run on a device, for seconds. A run allocates copies.
 *
 * Limits: each operand has one unit stride; the other is positive and at least the length of the line.
 * Offsets in CLBlast have 32 bits without a check, so operands with more elements are refused. It does not
 * accept k = 0, and reads A and B if alpha = 0, against BLAS's rules: both are refused. */
#include "core/status.h"
#include "strategy/gemm/peer/vendor_clblast/clblast_api.h"
#include "strategy/vendor.h"

#include <stdio.h>
#include <string.h>

static tsl_clblast_api clblast;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(member, symbol, parameters) {#symbol, offsetof(tsl_clblast_api, member), 0},
    TSL_CLBLAST_LIST(SYMBOL)
#undef SYMBOL
};
static const char *const names[] = {"libclblast.so.1", NULL};

static void vendor_clblast_name(tsl_vendor *found) {
  const char *version = strstr(found->file, ".so.");
  snprintf(found->name, sizeof found->name, "CLBlast%s%.40s", version ? " " : "", version ? version + 4 : "");
}

static tsl_vendor_library library = {.what = "CLBlast",
                                     .path = TSL_ENV_CLBLAST,
                                     .names = names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &clblast,
                                     .name = vendor_clblast_name};

static const tsl_vendor *vendor_clblast_vendor(void) {
  return tsl_vendor_find(&library);
}

static const char *vendor_clblast_refuse(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device) {
  (void)config;
  (void)device;
  const tsl_shape *shapes[] = {&problem->a, &problem->b, &problem->c};
  if (!tsl_blas_reads_products(problem))
    return "CLBlast takes no k = 0, and reads A and B where alpha = 0";
  for (int i = 0; i < 3; i++)
    if (tsl_shape_extent(shapes[i]) > INT32_MAX)
      return tsl_refusal("CLBlast's kernels count to 2^31 - 1 elements, and %c spans %lld", "ABC"[i],
                         (long long)tsl_shape_extent(shapes[i]));
  return tsl_blas_refuse(problem, INT32_MAX);
}

/* Returns the predicted seconds, from fractions of the peak: an H200's, and a processor's. */
static double vendor_clblast_score(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)config;
  return tsl_vendor_seconds(problem, device, device->is_cpu ? 0.1 : 0.3, 4 * device->launch_seconds, 64);
}

static tesela_status vendor_clblast_fail(const tsl_device *device, const char *call, int code) {
  static const struct {
    int code;
    const char *name;
    tesela_status status;
  } results[] = {
#define RESULT(code, name, status) {code, #name, status},
      TSL_CLBLAST_RESULT_LIST(RESULT)
#undef RESULT
  };
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i].code == code)
      return tsl_fail(results[i].status, "%s: %s: %s", device->name, call, results[i].name);
  return tsl_fail(TESELA_DEVICE_FAILED, "%s: %s: CLBlast error %d", device->name, call, code);
}

static void *vendor_clblast_native(const tsl_device *device, const tsl_operand *operand) {
  return device->ops->native_buffer(operand->buffer);
}

/* Fails if an operand ends beyond 2^31 - 1 elements of its buffer. `lines` are BLAS's columns. */
static tesela_status check_reach(const tsl_work *work, const tsl_operand *operand, int64_t leading,
                                 int64_t lines) {
  if (operand->offset + leading * lines <= INT32_MAX)
    return TESELA_OK;
  return tsl_fail(
      TESELA_UNSUPPORTED,
      "%s: CLBlast's kernels count to 2^31 - 1 elements, and an operand ends at element %lld of its buffer",
      work->device->name, (long long)(operand->offset + leading * lines));
}

static tesela_status vendor_clblast_run(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream) {
  const tsl_device *device = work->device;
  tsl_blas_product p;
  TSL_TRY(tsl_blas_product_of(work, operands, &p));
  TSL_TRY(check_reach(work, p.a, p.a_leading, p.a_transposed ? p.m : p.k));
  TSL_TRY(check_reach(work, p.b, p.b_leading, p.b_transposed ? p.k : p.n));
  TSL_TRY(check_reach(work, p.c, p.c_leading, p.n));
  const int a_transpose = p.a_transposed ? TSL_CLBLAST_TRANSPOSE : TSL_CLBLAST_NO_TRANSPOSE;
  const int b_transpose = p.b_transposed ? TSL_CLBLAST_TRANSPOSE : TSL_CLBLAST_NO_TRANSPOSE;
  void *queue = device->ops->native_stream(stream);
  int code;
  if (work->problem.c.type == TESELA_F64)
    code = clblast.dgemm(TSL_CLBLAST_COLUMN_MAJOR, a_transpose, b_transpose, (size_t)p.m, (size_t)p.n,
                         (size_t)p.k, p.alpha, vendor_clblast_native(device, p.a), (size_t)p.a->offset,
                         (size_t)p.a_leading, vendor_clblast_native(device, p.b), (size_t)p.b->offset,
                         (size_t)p.b_leading, p.beta, vendor_clblast_native(device, p.c), (size_t)p.c->offset,
                         (size_t)p.c_leading, &queue, NULL);
  else
    code = clblast.sgemm(TSL_CLBLAST_COLUMN_MAJOR, a_transpose, b_transpose, (size_t)p.m, (size_t)p.n,
                         (size_t)p.k, (float)p.alpha, vendor_clblast_native(device, p.a), (size_t)p.a->offset,
                         (size_t)p.a_leading, vendor_clblast_native(device, p.b), (size_t)p.b->offset,
                         (size_t)p.b_leading, (float)p.beta, vendor_clblast_native(device, p.c),
                         (size_t)p.c->offset, (size_t)p.c_leading, &queue, NULL);
  return code == 0 ? TESELA_OK
                   : vendor_clblast_fail(
                         device, work->problem.c.type == TESELA_F64 ? "CLBlastDgemm" : "CLBlastSgemm", code);
}

const tsl_strategy tsl_gemm_vendor_clblast = {
    .name = "vendor_clblast",
    .idea = "the gemm of CLBlast",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_OPENCL | TSL_CAN_KERNELS,
    .accuracy = tsl_accuracy_in_order,
    .refuse = vendor_clblast_refuse,
    .score = vendor_clblast_score,
    .run = vendor_clblast_run,
    .vendor = {.load = vendor_clblast_vendor},
};
