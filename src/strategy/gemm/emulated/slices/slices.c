/* Idea: f32 products by units that multiply bf16 and add in f32. A number of 24 bits is three slices of 8,
 * and the products of all nine pairs of slices are exact.
 *   rows of A, columns of B     slices of bf16       products of slices, added in f32       C
 *   +---+  2^e_i, 2^f_j         A = A1 + A2 + A3     A3 B3 + A2 B3 + A3 B2   products=9: all
 *   | A |  ------------->       B = B1 + B2 + B3   + A1 B3 + A3 B1 + A2 B2   products=6: from here on
 *   +---+  exact                                   + A1 B2 + A2 B1 + A1 B1   products=3: from here on
 *                                                  --->  alpha 2^-(e_i + f_j) sum + beta C
 * Slice s is 2^-8 of the previous one. Six products leave out as much as two roundings, three as much as
 * factors of 16 bits (Henry, Tang and Heinecke, arXiv 1904.06376; bound: docs/lab/slices.md). The smallest
 * products come first. Each is a plan of the fastest bf16 strategy, which decides C's bits. Lines are scaled
 * by powers of two, so that nothing overflows or becomes subnormal. Lines with infinities or NaN, or whose
 * numbers differ by more than 2^94, are multiplied in f32. Parameters: products. Limits: f32; 65536 terms. */
#include "strategy/gemm/emulated/slices/slices.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"

static const tsl_param params[] = {
    [TSL_SLICES_PRODUCTS] = {"products",
                             "products of slices: 9, 6, or 3 where accuracy= allows 16 bits of factors",
                             6,
                             {6, 9, 3}},
    {NULL, NULL, 0, {0}},
};

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

enum { TERMS_MOST = 65536 };

/* Returns the error bound (docs/lab/slices.md). Sums of all products have 1.05 times the error of one.
 * Products left out: 2.02 u with six, 3.01 2^-16 with three. alpha, beta C and their sum add 4. */
static tsl_accuracy slices_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const int64_t products = config->value[TSL_SLICES_PRODUCTS];
  const double left_out = products == 9 ? 0 : products == 6 ? 2.1 : 774;
  const double of_child = tsl_accuracy_cuts((double)tsl_slices_depth(problem));
  return (tsl_accuracy){
      .factor = 1.05 * of_child + left_out + 4, .is_reproducible = true, .truncates_inputs = products == 3};
}

static const char *slices_refuse(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL;
  if (config->value[TSL_SLICES_PRODUCTS] == 3 && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "products=3: factors keep 16 bits: only a requested accuracy allows this";
  if (problem->k > TERMS_MOST)
    return tsl_refusal("sums of up to %d terms cannot overflow", TERMS_MOST);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2)
    return "lines are counted in 31 bits";
  if (!(device->capabilities & TSL_CAN_HOST) && (device->capabilities & needs) != needs)
    return "its kernels want local memory with barriers";
  return NULL;
}

static bool slices_is_host(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_HOST) != 0;
}

static tesela_status slices_make_product(tsl_work *work, double beta, const tsl_subplan *like,
                                         tsl_subplan **child) {
  const tsl_problem *whole = &work->problem;
  const tsl_slices_products *products = work->state;
  const int64_t m = products->is_swapped ? whole->n : whole->m,
                n = products->is_swapped ? whole->m : whole->n, depth = tsl_slices_depth(whole);
  tsl_problem problem = tsl_problem_gemm(m, n, depth, TESELA_F32);
  problem.a =
      (tsl_shape){.type = TESELA_BF16, .rows = m, .cols = depth, .row_stride = depth, .col_stride = 1};
  problem.b =
      (tsl_shape){.type = TESELA_BF16, .rows = depth, .cols = n, .row_stride = 1, .col_stride = depth};
  problem.c.row_stride = slices_is_host(work->device) ? n : tsl_round_up(n, TSL_SLICES_ROW_UNIT);
  problem.beta[0] = beta;
  const tsl_subplan_request request = {.problem = &problem,
                                       .device = work->device,
                                       .in_buffers = !slices_is_host(work->device),
                                       .workspace_most =
                                           slices_is_host(work->device) ? 0 : tsl_slices_workspace(work),
                                       .most = {.factor = tsl_accuracy_cuts((double)depth)},
                                       .like = like};
  return work->subplans->make(work->subplans, &request, child);
}

static tesela_status slices_fill_in(tsl_work *work, tsl_slices_state *state) {
  const tsl_problem *problem = &work->problem;
  tsl_slices_products *products = &state->products;
  products->is_swapped = problem->c.col_stride != 1 && problem->c.row_stride == 1;
  if (!slices_is_host(work->device))
    TSL_TRY(tsl_slices_find_kernels(work));
  if (problem->m == 0 || problem->n == 0 || problem->k == 0 || problem->alpha[0] == 0)
    return TESELA_OK;
  TSL_TRY(slices_make_product(work, 0, NULL, &products->first));
  return slices_make_product(work, 1, products->first, &products->more);
}

static void slices_release(tsl_work *work) {
  const tsl_slices_products *products = work->state;
  if (!products)
    return;
  work->subplans->destroy(products->more);
  work->subplans->destroy(products->first);
  tsl_free(work->state);
  work->state = NULL;
}

static tesela_status slices_build(tsl_work *work) {
  void *block;
  if (work->forbid_compile && !slices_is_host(work->device))
    return tsl_fail(TESELA_UNSUPPORTED, "slices on %s: products of slices would be other kernels",
                    work->device->name);
  TSL_TRY(tsl_alloc(sizeof(tsl_slices_state), "slices' state", &block));
  tsl_slices_state *state = block;
  *state = (tsl_slices_state){.measure = NULL};
  work->state = block;
  const tesela_status status = slices_fill_in(work, state);
  if (status != TESELA_OK)
    slices_release(work);
  return status;
}

static tesela_status slices_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return slices_is_host(work->device) ? tsl_slices_run_host(work, operands)
                                      : tsl_slices_run_kernels(work, operands, stream);
}

static uint64_t slices_scratch(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  return slices_is_host(device) ? 0 : tsl_slices_scratch(problem, config, device);
}

/* Returns the bytes of slices of both operands, f32 sums, and the child's packed panels. */
static uint64_t host_bytes(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const double lines = (double)problem->m + (double)problem->n, depth = (double)tsl_slices_depth(problem),
               bytes = lines * depth * 2 * (tsl_slices_count(config) + 1) +
                       4 * (double)problem->m * (double)problem->n;
  (void)device;
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

const tsl_strategy tsl_gemm_slices = {
    .name = "slices",
    .idea =
        "f32 by three, six or nine products of bf16 slices, added in f32 by the device's own engine for bf16",
    .lifts = "the rate of units that multiply f32, where none multiplies bytes faster",
    .op = TSL_OP_GEMM,
    .version = 1,
    .accuracy = slices_accuracy,
    .needs_nearest = true,
    .params = params,
    .refuse = slices_refuse,
    .build_seconds = 2.6,
    .score = tsl_slices_seconds,
    .build = slices_build,
    .run = slices_run,
    .release = slices_release,
    .supports = {.types = types},
    .resources = {.scratch = slices_scratch, .host = host_bytes, .count_costs = tsl_slices_account},
};
