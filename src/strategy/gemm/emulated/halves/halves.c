/* Idea: f32 products by one f16 product if the required accuracy allows it. A number keeps eleven of f32's 24
 * bits, and two factors lose 2^-10 of their product. Exponents are few, so each row of A and each column of B
 * is multiplied by a power of two.
 *   rows of A, columns of B    f16, scaled by lines          sums in f32      C
 *   +---+  2^e_i, 2^f_j        +---+   +---+                 +---+
 *   | A |  ------------>       | A'| x | B'|  ------------> |   |  --->  alpha 2^-(e_i + f_j) sums + beta C
 *   +---+  rounded once        +---+   +---+  any strategy   +---+
 * NVIDIA's tf32 has as many digits at half the rate, and truncates factors: 2^-9. The fastest f16 strategy
 * within the rest of the required accuracy computes the sums. Small numbers with too few f16 digits are
 * counted, and docs/lab/halves.md proves when they do not matter. Elements of C without this proof are
 * computed in f32. Limits: f32 with a required accuracy of a little more than 2^-10; 65536 terms; devices
 * with kernels. */
#include "strategy/gemm/emulated/halves/halves.h"

#include "core/memory.h"
#include "core/status.h"

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

enum { TERMS_MOST = 65536 };

static tsl_accuracy halves_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return (tsl_accuracy){
      .factor = tsl_halves_factor(problem), .is_reproducible = true, .truncates_inputs = true};
}

static const char *halves_refuse(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  (void)config;
  (void)device;
  if (!tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "factors keep 11 bits: only a requested accuracy allows this (accuracy=1e-3 or tf32)";
  if (problem->k > TERMS_MOST)
    return tsl_refusal("the error bound is proven for sums of up to %d terms", TERMS_MOST);
  if (problem->m > INT32_MAX / 4 || problem->n > INT32_MAX / 4)
    return "lines are counted in 31 bits";
  return NULL;
}

static bool halves_reads_factors(const tsl_problem *problem) {
  return problem->m > 0 && problem->n > 0 && problem->k > 0 && problem->alpha[0] != 0;
}

static void halves_release(tsl_work *work) {
  const tsl_halves_state *state = work->state;
  if (!state)
    return;
  work->subplans->destroy(state->product);
  tsl_free(work->state);
  work->state = NULL;
}

static tesela_status halves_make_kernels_and_product(tsl_work *work) {
  tsl_halves_state *state = work->state;
  TSL_TRY(tsl_halves_find_kernels(work));
  if (!halves_reads_factors(&work->problem))
    return TESELA_OK;
  const tsl_problem product = tsl_halves_product(&work->problem);
  const tsl_subplan_request request = {.problem = &product,
                                       .device = work->device,
                                       .in_buffers = true,
                                       .workspace_most = tsl_halves_workspace(&work->problem),
                                       .most = {.factor = tsl_halves_product_factor(&work->problem)}};
  return work->subplans->make(work->subplans, &request, &state->product);
}

static tesela_status halves_build(tsl_work *work) {
  void *block;
  if (work->forbid_compile)
    return tsl_fail(TESELA_UNSUPPORTED, "halves on %s: the product of halves would be another kernel",
                    work->device->name);
  TSL_TRY(tsl_alloc(sizeof(tsl_halves_state), "halves' state", &block));
  *(tsl_halves_state *)block = (tsl_halves_state){.product = NULL};
  work->state = block;
  const tesela_status status = halves_make_kernels_and_product(work);
  if (status != TESELA_OK)
    halves_release(work);
  return status;
}

const tsl_strategy tsl_gemm_halves = {
    .name = "halves",
    .idea = "f32 by one product of f16, each row and column scaled for it, where an ask allows 11 bits of "
            "factors",
    .lifts = "the rate of tf32 units, and their truncation of factors",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = halves_accuracy,
    .refuse = halves_refuse,
    .score = tsl_halves_seconds,
    .build = halves_build,
    .run = tsl_halves_run,
    .release = halves_release,
    .supports = {.types = types},
    .resources = {.scratch = tsl_halves_scratch, .count_costs = tsl_halves_account},
};
