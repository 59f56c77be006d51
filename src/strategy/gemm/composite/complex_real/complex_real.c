/* Idea: A complex product as one real product, by the fastest real strategy of the device.
 *   A, unchanged:              B, expanded:                                 C, unchanged:
 *   re a, im a alternating     line 2 l:      re b,  im b alternating       re c, im c alternating
 *        m x 2 k           x   line 2 l + 1: -im b,  re b alternating  =         m x 2 n
 *                                   2 k x 2 n
 * A and C are used in place as real matrices of twice the columns; only B is copied, to twice its bytes.
 * Conjugates of A and B are signs of the copy. Operations are as many as of a complex product. C' = B' A'
 * exchanges the roles. The unchanged factor must be contiguous along k, C along its rows. Otherwise the
 * factor is copied, and C is computed from sums in scratch memory; complex alpha and beta need that too.
 * complex_real_choose.c chooses the form that moves the fewest bytes. The real product is a child plan
 * (strategy/subplans.h) on the same device and stream, with the caller's accuracy requirement. With
 * accuracy=tf32, or a number that allows it, tensor cores compute f32. Infinities and NaN arise as in four
 * real products, added; C is not read if beta is 0. Parameters: form, the factor that is made real, and how.
 * Limits: no structures; a batch must fit a dimension of a launch. See docs/lab/complex_real.md. */
#include "strategy/gemm/composite/complex_real/complex_real.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"

#define TEXT "strategy/gemm/composite/complex_real/complex_real.cl"

static const tsl_param params[] = {
    [TSL_COMPLEX_REAL_FORM] =
        {"form",
         "which factor is made real, and how: any, expanded along k or n, or the parts of the other one "
         "apart",
         TSL_COMPLEX_REAL_ANY,
         {TSL_COMPLEX_REAL_ANY, TSL_COMPLEX_REAL_ALONG_K, TSL_COMPLEX_REAL_ALONG_N,
          TSL_COMPLEX_REAL_SEPARATED}},
    {NULL, NULL, 0, {0}},
};
static const char *const form_names[] = {"any", "along_k", "along_n", "apart", NULL};

static const tsl_types types[] = {
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

static const char *complex_real_refuse(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device) {
  const uint64_t most = device->group_count_max[2], batch = (uint64_t)tsl_problem_batch(problem);
  (void)config;
  return most > 0 && batch > most
             ? tsl_refusal("a batch of %llu, of which a launch on %s has at most %llu products",
                           (unsigned long long)batch, device->name, (unsigned long long)most)
             : NULL;
}

static uint64_t complex_real_scratch(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const tsl_complex_real_method method = tsl_complex_real_method_of(problem, config);
  (void)device;
  return tsl_complex_real_bytes(problem, &method);
}

static void complex_real_release(tsl_work *work) {
  tsl_complex_real *self = work->state;
  work->subplans->destroy(self->child);
  tsl_free(self);
  work->state = NULL;
}

/* Makes the child plan of the real product; `own_bytes` of scratch memory are not available to it. */
static tesela_status complex_real_make_child(tsl_work *work, uint64_t own_bytes) {
  tsl_complex_real *self = work->state;
  const tsl_problem real = tsl_complex_real_product(&work->problem, &self->method);
  const uint64_t all = tsl_device_allocation_max(work->device);
  const tsl_subplan_request request = {.problem = &real,
                                       .device = work->device,
                                       .in_buffers = true,
                                       .workspace_most = all > own_bytes ? all - own_bytes : 0,
                                       .most = tsl_complex_real_product_accuracy(&work->problem),
                                       .skips = work->subplans->skips};
  return work->subplans->make(work->subplans, &request, &self->child);
}

/* Makes the kernels and the child plan. Scratch memory holds the child's workspace, then the expanded factor,
 * the copy and the sums, each aligned to 256 bytes. */
static tesela_status complex_real_prepare(tsl_work *work) {
  enum { LINE = 256, ITEMS = COMPLEX_REAL_SIDE * COMPLEX_REAL_LINES };
  tsl_complex_real *self = work->state;
  const tsl_complex_real_method *method = &self->method;
  const int64_t size = (int64_t)tsl_type(work->problem.c.type)->size / 2, line = LINE / size;
  int64_t numbers = 0;
  if (method->is_staged)
    TSL_TRY(tsl_launch_kernel(work, TEXT, "tsl_gemm_complex_real_finish", ITEMS, &self->finish));
  if (method->is_empty)
    return TESELA_OK;
  TSL_TRY(tsl_launch_kernel(work, TEXT, "tsl_gemm_complex_real_copy", ITEMS, &self->copy));
  TSL_TRY(complex_real_make_child(work, tsl_complex_real_bytes(&work->problem, method)));
  (void)tsl_scratch_reserve(&numbers, (int64_t)work->subplans->workspace(self->child) / size + 1, line);
  self->prepared_offset = tsl_scratch_reserve(&numbers, method->prepared.elements, line);
  self->copy_offset = tsl_scratch_reserve(&numbers, method->copy.elements, line);
  self->sums_offset = tsl_scratch_reserve(&numbers, method->sums.elements, line);
  work->scratch = (uint64_t)(numbers * size);
  return TESELA_OK;
}

static tesela_status complex_real_build(tsl_work *work) {
  void *block;
  if (!work->subplans || work->subplans->for_blocks)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "complex_real on %s: for a block the real product would be other kernels",
                    work->device->name);
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_complex_real), "a complex product as a real one", &block));
  tsl_complex_real *self = work->state = block;
  self->method = tsl_complex_real_method_of(&work->problem, &work->config);
  const tesela_status status = complex_real_prepare(work);
  if (status != TESELA_OK) {
    complex_real_release(work);
    return status;
  }
  tsl_log(TSL_LOG_PLAN, "complex_real on %s: %s stays%s, C is %s", work->device->name,
          self->method.is_swapped ? "B" : "A", self->method.copies ? ", as a copy" : "",
          self->method.is_staged ? "made of sums" : "multiplied where it lies");
  return TESELA_OK;
}

/* Describes the real product as one part with all of C, in complex numbers. */
static bool complex_real_share(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_complex_real *self = work->state;
  if (index != 0 || !self->child)
    return false;
  *out = (tsl_subplan_info){.device = work->device->name,
                            .plan = work->subplans->text(self->child),
                            .rows = work->problem.m,
                            .cols = work->problem.n,
                            .depth = work->problem.k,
                            .count = work->problem.batch,
                            .seconds = work->subplans->expected(self->child)};
  return true;
}

const tsl_strategy tsl_gemm_complex_real = {
    .name = "complex_real",
    .idea = "complex products as one real product of twice the columns and terms; one factor is expanded",
    .lifts = "kernels of their own for complex numbers, which no unit for tf32 has",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = tsl_complex_real_accuracy,
    .params = params,
    .refuse = complex_real_refuse,
    .build_seconds = 7,
    .build = complex_real_build,
    .run = tsl_complex_real_run,
    .release = complex_real_release,
    .skips = TSL_CAN_CUDA,
    .supports = {.types = types,
                 .why = "only complex products can be computed as real ones",
                 .conjugates = true,
                 .batches = true},
    .tuning = {.names = {[TSL_COMPLEX_REAL_FORM] = form_names}},
    .resources = {.scratch = complex_real_scratch, .count_costs = tsl_complex_real_account},
    .splits = {.score = tsl_complex_real_seconds, .subplan = complex_real_share},
};
