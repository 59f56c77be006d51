/* Idea: f32 and f64 products by 8-bit integers, which are forty times as fast on some GPUs. It is the second
 * scheme of Ozaki, Uchino and Imamura (2025), with a bound for every element.
 *
 *   rows of A, columns of B      modulo p_0 ... p_N-1         residues of C'         C
 *   +---+  2^e_i, 2^f_j          +--+ +--+                    +--+
 *   | A |  ------------>  A', B' |A0| |B0| ... N pairs  --->  |C0| ... N  --->  alpha 2^-(e_i + f_j) C'
 *   +---+  integers              +--+ +--+                    +--+              + beta C
 *
 * Rounding A' and B' to integers is the only error: C' = A' B' is reconstructed exactly from its residues,
 * where P = p_0 p_1 ... is more than twice its magnitude. Scales follow from norms (Cauchy-Schwarz), without
 * a further product. A line's rounding error is relative to its norm, but the bound is relative to |A||B|,
 * element by element. So lines are measured first: how many elements are too small for their digits, and how
 * much of the line's sum its largest element is. A row with few small elements and a column without
 * dominating elements give a small error (proof: docs/lab/residue_int8.md). Each call takes the number of
 * moduli that leaves few lines without this proof. These lines, and lines that are not finite, are multiplied
 * in C's type (native lines). If they are many, another strategy computes everything (whole.c).
 *
 * Beyond the rungs below: no unit for C's type is needed. Three forms give the same bits: for the CPU
 * (residue_int8_host.c), for sm_90a (residue_int8_run.c), and portable kernels (portable.c). Parameters:
 * moduli, the least number of moduli; block, the rows of C computed at a time, which limits the workspace.
 * Limits: f32 and f64, and their complex types with real alpha and beta (residue_int8_complex.c).
 * Measurements: docs/lab/residue_int8.md. */
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

#include "core/memory.h"
#include "core/status.h"
#include "strategy/support.h"

static const tsl_param params[] = {
    [TSL_RESIDUE_INT8_LEAST] =
        {"moduli", "least number of moduli; 0: 7 for f32, 14 for f64, or fewer if accuracy= allows", 0, {0}},
    [TSL_RESIDUE_INT8_BLOCK] =
        {"block", "rows of C that are computed at a time (columns, if C is column-major); 0: all", 0, {0}},
    {NULL, NULL, 0, {0}},
};

enum { TERMS_MAX = 1 << 24 };
/* Rows per block where memory is short: whole rasters of tiles (residue_int8_run.c), fewer if these do not
 * fit. */
enum { BLOCK_MAX = 16384, BLOCK_MIN = 256 };

static bool residue_is_complex(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex;
}

/* Returns the accuracy: of the requested one or a careful sum. Unless reproducible bits are requested,
 * another strategy may compute the product (whole.c), in its order of sums. */
static tsl_accuracy residue_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const bool has_tree = problem->ask.bits != TSL_REPRODUCIBILITY_ANY;
  if (residue_is_complex(problem))
    return (tsl_accuracy){
        .factor = 2 * (double)problem->k + 16, .is_reproducible = true, .has_fixed_tree = has_tree};
  (void)config;
  const double factor = tsl_residue_allowed(problem) / tsl_type(problem->c.type)->unit_roundoff;
  return (tsl_accuracy){.factor = factor, .is_reproducible = true, .has_fixed_tree = has_tree};
}

static const char *residue_refuse(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64;
  const int64_t moduli = config->value[TSL_RESIDUE_INT8_LEAST];
  if (moduli != 0 && (moduli < 4 || moduli > tsl_residue_most(problem)))
    return tsl_refusal("moduli=%lld, where %s has 4 to %d", (long long)moduli,
                       tsl_type(problem->c.type)->name, tsl_residue_most(problem));
  if (residue_is_complex(problem) && (problem->alpha[1] != 0 || problem->beta[1] != 0))
    return "complex products take real alpha and beta";
  if (problem->m > INT32_MAX / 4 || problem->n > INT32_MAX / 4 || tsl_residue_numbers(problem) > TERMS_MAX)
    return tsl_refusal("lines are counted in 31 bits, and their elements up to %d", TERMS_MAX);
  if (tsl_device_is_host(device))
    return config->value[TSL_RESIDUE_INT8_BLOCK] == 0
               ? NULL
               : "block is for devices with their own memory: the CPU reconstructs its tiles one by one";
  const char *missing = tsl_refuse_missing(needs, device);
  if (missing)
    return missing;
  return !tsl_residue_has_cuda(device) && device->group_items_max < TSL_RESIDUE_ITEMS
             ? tsl_refusal("measuring needs %d work-items, %s allows %d", TSL_RESIDUE_ITEMS, device->name,
                           device->group_items_max)
             : NULL;
}

static void residue_release(tsl_work *work) {
  const tsl_residue_state *state = work->state;
  if (state && state->host_choice)
    work->device->ops->pinned_destroy(state->host_choice);
  if (state && state->product)
    work->subplans->destroy(state->product);
  if (state && state->whole)
    work->subplans->destroy(state->whole);
  tsl_free(work->state);
  work->state = NULL;
}

static tesela_status residue_build(tsl_work *work) {
  void *block;
  TSL_TRY(tsl_alloc(sizeof(tsl_residue_state), "residue_int8's state", &block));
  tsl_residue_state *state = block;
  *state = (tsl_residue_state){.moduli = tsl_residue_least(&work->problem, &work->config)};
  work->state = block;
  const bool has_cuda = tsl_residue_has_cuda(work->device);
  tesela_status status = tsl_device_is_host(work->device) ? TESELA_OK
                         : has_cuda                       ? tsl_residue_int8_build_cuda(work)
                                                          : tsl_residue_int8_build_portable(work);
  if (status == TESELA_OK && (has_cuda || tsl_device_is_host(work->device)))
    status = tsl_residue_int8_make_whole(work, has_cuda ? tsl_residue_int8_whole_bytes(&work->problem) : 0);
  if (status != TESELA_OK)
    residue_release(work);
  return status;
}

/* Returns a note about the last run's choice where it differs from the plan's expectation, else NULL. */
static const char *residue_note(const tsl_work *work) {
  const tsl_residue_state *state = work->state;
  const residue_choice *host_choice = state->host_choice ? state->host_choice->host : NULL;
  const int moduli = host_choice ? host_choice->moduli : state->moduli,
            native = host_choice ? host_choice->native[0] + host_choice->native[1] : state->native_lines;
  if (moduli == 0 && state->whole)
    return state->whole_note;
  if (moduli == 0)
    return "residue_int8: residues do not pay for these numbers: the product was computed in C's own type";
  if (native > 0)
    return "residue_int8: rows or columns without a bound by residues were computed in C's own type";
  if (moduli > tsl_residue_least(&work->problem, &work->config))
    return "residue_int8: these numbers need more moduli than usual for the guaranteed accuracy";
  return NULL;
}

static tesela_status residue_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  if (tsl_device_is_host(work->device))
    return tsl_residue_int8_run_host(work, operands);
  return tsl_residue_has_cuda(work->device) ? tsl_residue_int8_run_cuda(work, operands, stream)
                                            : tsl_residue_int8_run_portable(work, operands, stream);
}

static const char *const probes[] = {"moduli=0", "block=96", NULL};

const tsl_strategy tsl_gemm_residue_int8 = {
    .name = "residue_int8",
    .idea = "f32 and f64 by products of 8-bit residues, with as many moduli as the call's numbers need",
    .lifts = "the rate of units that multiply f32 and f64",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 6,
    .accuracy = residue_accuracy,
    .needs_nearest = true,
    .params = params,
    .refuse = residue_refuse,
    .build_seconds = 3.8,
    .score = tsl_residue_int8_seconds,
    .build = residue_build,
    .run = residue_run,
    .release = residue_release,
    .supports = {.types = tsl_types_blas, .conjugates = true},
    .tuning =
        {.ranges =
             {[TSL_RESIDUE_INT8_LEAST] = {0, TSL_RESIDUE_MODULI}, [TSL_RESIDUE_INT8_BLOCK] = {0, INT32_MAX}}},
    .testing = {.probes = probes},
    .resources = {.scratch = tsl_residue_int8_scratch,
                  .shrinkable = {TSL_RESIDUE_INT8_BLOCK, BLOCK_MIN, BLOCK_MAX},
                  .host = tsl_residue_int8_host_bytes,
                  .count_costs = tsl_residue_int8_account},
    .splits = {.note = residue_note},
};
