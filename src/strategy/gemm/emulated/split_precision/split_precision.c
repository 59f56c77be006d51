/* Idea: f32 products by units that multiply f16 or bf16 and add in f32. A number of 24 bits is rounded to one
 * f16 number of 11 bits, or is two or three bf16 numbers of 8, whose products are exact.
 *   rows of A, columns of B    parts               products of parts, added in f32      C
 *   +---+  2^e_i, 2^f_j        f16: A1, B1         A1 B1                                products=1
 *   | A |  ------------->      A = A1 + A2 + A3    A3 B3 + A2 B3 + A3 B2                9: all
 *   +---+                      B = B1 + B2 + B3  + A1 B3 + A3 B1 + A2 B2                6: from here
 *                                                + A1 B2 + A2 B1 + A1 B1                3: from here
 *                                                --->  alpha 2^-(e_i + f_j) sum + beta C
 * Part s of bf16 is 2^-8 of the previous one. Six products leave out as much as two roundings, three as much
 * as factors of 16 bits (Henry, Tang and Heinecke, arXiv 1904.06376). One product of f16 has the digits of
 * NVIDIA's tf32 at twice the rate, and tf32 truncates factors. The smallest products come first. Each is a
 * plan of the fastest strategy for its type, which decides C's bits. Lines are scaled by powers of two,
 * because exponents are few. Lines without a proof are multiplied in f32 (docs/lab/split_precision.md): with
 * infinities or NaN; bf16: whose numbers differ by more than 2^94; f16: with too many small numbers.
 * Parameters: products. Limits: f32; 65536 terms; products=1: devices with kernels. */
#include "strategy/gemm/emulated/split_precision/split_precision.h"

#include "core/memory.h"
#include "core/status.h"

static const tsl_param params[] = {
    [TSL_SPLIT_PRODUCTS] =
        {"products",
         "products of parts: 9, 6; where accuracy= allows, 3: factors of 16 bits, 1: of 11",
         6,
         {6, 9, 3, 1}},
    {NULL, NULL, 0, {0}},
};

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

enum { TERMS_MAX = 65536 };

static tsl_accuracy split_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return (tsl_accuracy){.factor = tsl_split_factor(problem, config),
                        .is_reproducible = true,
                        .truncates_inputs = tsl_split_form_of(config)->parts < TSL_SPLIT_PARTS_MOST};
}

static const char *split_refuse(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL;
  const tsl_split_form *form = tsl_split_form_of(config);
  if (form->parts < TSL_SPLIT_PARTS_MOST && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return tsl_refusal("products=%d: factors keep %d bits: only a requested accuracy allows this (%s)",
                       form->products, form->parts == 1 ? 11 : 16,
                       form->parts == 1 ? "accuracy=1e-3 or tf32" : "accuracy=1e-4");
  if (problem->k > TERMS_MAX)
    return tsl_refusal("sums of up to %d terms cannot overflow, and have an error bound", TERMS_MAX);
  if (problem->m > INT32_MAX / 4 || problem->n > INT32_MAX / 4)
    return "lines are counted in 31 bits";
  if (tsl_device_is_host(device))
    return form->parts == 1 ? "products=1 is for devices with kernels" : NULL;
  return (device->capabilities & needs) != needs ? "its kernels want local memory with barriers" : NULL;
}

static tesela_status split_make_product(tsl_work *work, double beta, const tsl_subplan *like,
                                        tsl_subplan **child) {
  const bool is_host = tsl_device_is_host(work->device);
  double factor;
  tsl_problem problem = tsl_split_required_product(&work->problem, &work->config, work->device, &factor);
  problem.beta[0] = beta;
  const tsl_subplan_request request = {.problem = &problem,
                                       .device = work->device,
                                       .in_buffers = !is_host,
                                       .workspace_most =
                                           is_host ? 0 : tsl_split_workspace(&work->problem, &work->config),
                                       .most = {.factor = factor},
                                       .like = like};
  return work->subplans->make(work->subplans, &request, child);
}

static tesela_status split_fill_in(tsl_work *work, tsl_split_state *state) {
  if (!tsl_device_is_host(work->device))
    TSL_TRY(tsl_split_find_kernels(work));
  if (!tsl_problem_reads(&work->problem, TSL_OPERAND_A))
    return TESELA_OK;
  TSL_TRY(split_make_product(work, 0, NULL, &state->first));
  return tsl_split_form_of(&work->config)->products > 1
             ? split_make_product(work, 1, state->first, &state->more)
             : TESELA_OK;
}

static void split_release(tsl_work *work) {
  const tsl_split_state *state = work->state;
  if (!state)
    return;
  work->subplans->destroy(state->more);
  work->subplans->destroy(state->first);
  tsl_free(work->state);
  work->state = NULL;
}

static tesela_status split_build(tsl_work *work) {
  void *block;
  if (work->forbid_compile && !tsl_device_is_host(work->device))
    return tsl_fail(TESELA_UNSUPPORTED, "split_precision on %s: products of parts would be other kernels",
                    work->device->name);
  TSL_TRY(tsl_alloc(sizeof(tsl_split_state), "split_precision's state", &block));
  tsl_split_state *state = block;
  *state = (tsl_split_state){.measure = NULL};
  work->state = block;
  const tesela_status status = split_fill_in(work, state);
  if (status != TESELA_OK)
    split_release(work);
  return status;
}

static tesela_status split_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return tsl_device_is_host(work->device) ? tsl_split_run_host(work, operands)
                                          : tsl_split_run_kernels(work, operands, stream);
}

static uint64_t scratch_bytes(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  return tsl_device_is_host(device) ? 0 : tsl_split_scratch(problem, config, device);
}

/* Returns the bytes of parts of both operands, f32 sums, and the child's packed panels. */
static uint64_t host_bytes(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const double lines = (double)problem->m + (double)problem->n,
               depth = (double)tsl_split_depth(problem, config),
               bytes = lines * depth * 2 * (tsl_split_form_of(config)->parts + 1) +
                       4 * (double)problem->m * (double)problem->n;
  (void)device;
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

const tsl_strategy tsl_gemm_split_precision = {
    .name = "split_precision",
    .idea = "f32 by one product of f16 parts, or by three, six or nine of bf16 parts; lines are scaled",
    .lifts = "the rate of units that multiply f32, where none multiplies bytes faster; tf32's truncation",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 1,
    .accuracy = split_accuracy,
    .needs_nearest = true,
    .params = params,
    .refuse = split_refuse,
    .build_seconds = 2.6,
    .build = split_build,
    .run = split_run,
    .release = split_release,
    .supports = {.types = types},
    .splits = {.score = tsl_split_seconds},
    .resources = {.scratch = scratch_bytes, .host = host_bytes, .count_costs = tsl_split_account},
};
