/* The descriptor of fixed_tree, whose tree fixed_tree.h specifies. The cpu uses C (fixed_tree_host.c), other
 * devices kernels (fixed_tree.cl). Measurements: docs/lab/dot_fixed_tree.md. */
#include "strategy/dot/portable/fixed_tree/fixed_tree.h"

#include "strategy/kernel_launch/split_k_reduce.h"

#include <math.h>

enum { GROUP };
static const tsl_param params[] = {
    [GROUP] = {"group", "work-items of a kernel's group (no matter on the cpu)", 256, {256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};
/* Items of the last launch's group, and resident items of a compute unit. */
enum { LAST_ITEMS = 256, RESIDENT_ITEMS = 2048 };

static int64_t count_blocks_of_problem(const tsl_problem *problem) {
  const int64_t block = TSL_TREE_BLOCK * tsl_tree_terms_of_chunk(problem->c.type);
  return problem->k == 0 ? 0 : (problem->k - 1) / block + 1;
}

/* Returns the bound: one rounding to the element type, plus the errors of sums in which a term meets `depth`
 * additions, in double for f32. Errors of pairs of doubles are of second order (Ogita, Rump, Oishi 2005),
 * four for each operation of the tree. */
static tsl_accuracy fixed_tree_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double depth = TSL_TREE_ROWS + 2 + 5 + 3 +
                       ceil((double)count_blocks_of_problem(problem) / TSL_TREE_LAST_LANES) + 8 + 3;
  const double errors = problem->c.type == TESELA_F64 ? 16 * depth * depth * 0x1p-53 : 2 * depth * 0x1p-29;
  return tsl_accuracy_in_type(
      (tsl_accuracy){.factor = 1 + errors, .is_reproducible = true, .has_fixed_tree = true}, problem->c.type);
}

/* Makes both grids of at most eight times the resident groups. Returns a refusal, or NULL. */
static const char *fixed_tree_make_grids(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device, tsl_grid *first, tsl_grid *last) {
  const int64_t group = config->value[GROUP], each = group / (TSL_TREE_BLOCK * TSL_TREE_COLUMNS);
  const int64_t sets = count_blocks_of_problem(problem) / each + 1;
  const int64_t most = 8 * RESIDENT_ITEMS / group * device->compute_units;
  const char *why = tsl_fold_grid(device, sets < most ? sets : most, (int)group, first);
  return why ? why : tsl_fold_grid(device, 1, LAST_ITEMS, last);
}

static const char *fixed_tree_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64;
  if (tsl_type(problem->c.type)->is_integer && problem->k > (int64_t)1 << 37)
    return "more than 2^37 terms of integers, whose sum a double may not hold";
  if (tsl_device_is_host(device))
    return config->value[GROUP] == params[GROUP].fallback
               ? NULL
               : tsl_refusal("group=%lld applies to kernels, but %s has none",
                             (long long)config->value[GROUP], device->name);
  const char *missing = tsl_refuse_missing(needs, device);
  if (missing)
    return missing;
  tsl_grid first, last;
  return fixed_tree_make_grids(problem, config, device, &first, &last);
}

static uint64_t fixed_tree_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)config;
  (void)device;
  const uint64_t sum = problem->c.type == TESELA_F64 ? sizeof(tsl_tree_sum) : sizeof(double);
  return ((uint64_t)count_blocks_of_problem(problem) + 1) * sum;
}

/* Predicts the seconds on the cpu: clocks a term in a cache of a few megabytes, plus memory traffic. */
static double fixed_tree_score_host(const tsl_problem *problem, const tsl_device *device) {
  const bool vectors = device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512);
  const double clocks = problem->c.type == TESELA_F64 ? (vectors ? 1.2 : 8) : vectors ? 0.4 : 1;
  const double blocks = (double)count_blocks_of_problem(problem), cache = 1e6 * device->threads;
  const double threads = blocks > 1 ? fmin(blocks, device->threads) : 1, bytes = tsl_problem_bytes(problem);
  const double compute = 1e-6 * clocks * (double)problem->k / (device->clock_mhz * threads);
  const double memory = bytes > cache ? (bytes - cache) / device->bandwidth : 0;
  return 2e-7 + (threads > 1 ? 5e-6 : 0) + fmax(compute, memory);
}

/* Predicts the seconds on a device: nine tenths of a GPU's bandwidth, or two clocks a term. */
static double fixed_tree_score(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  if (tsl_device_is_host(device))
    return fixed_tree_score_host(problem, device);
  const double bytes = tsl_problem_bytes(problem), k = (double)problem->k;
  const double launches =
      2 * device->launch_seconds + 2e-6 + 4e-10 * (double)count_blocks_of_problem(problem);
  if (device->is_cpu)
    return launches +
           fmax(2e-6 * k / ((double)device->clock_mhz * device->compute_units), bytes / device->bandwidth);
  const double distance = fabs(log2((double)config->value[GROUP] / 256)), latency = 8e-7;
  const double resident = fmin(k / 128, (double)RESIDENT_ITEMS * device->compute_units);
  const double flight = fmax(1, resident) * 128 / latency;
  return launches + 4 * latency + (1 + 0.001 * distance) * bytes / fmin(0.92 * device->bandwidth, flight);
}

static void fixed_tree_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  tsl_grid first, last;
  if (tsl_device_is_host(device))
    tsl_fold_account_host(problem, device, account);
  else if (!fixed_tree_make_grids(problem, config, device, &first, &last)) {
    const uint64_t sum = problem->c.type == TESELA_F64 ? sizeof(tsl_tree_sum) : sizeof(double);
    tsl_fold_account(problem, &first, (double)sum, tsl_tree_terms_of_chunk(problem->c.type), device, account);
  }
}

static tesela_status fixed_tree_build(tsl_work *work) {
  tsl_grid first, last;
  if (tsl_device_is_host(work->device))
    return TESELA_OK;
  fixed_tree_make_grids(&work->problem, &work->config, work->device, &first, &last);
  return tsl_fold_build(work, "strategy/dot/portable/fixed_tree/fixed_tree.cl", "tsl_dot_fixed_tree", &first,
                        "tsl_dot_fixed_tree_last", &last);
}

static tesela_status fixed_tree_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  if (!tsl_device_is_host(work->device))
    return tsl_fold_run(work, operands, stream);
  return tsl_tree_run(&work->problem, operands, tsl_tree_functions_for(work->device->capabilities),
                      operands->team);
}

const tsl_strategy tsl_dot_fixed_tree = {
    .name = "fixed_tree",
    .idea = "the same bits on every device: a specified tree, in double or twice double",
    .lifts = "bits that depend on the machine, and the rounding of sums (not time)",
    .partner = "block_tree",
    .op = TSL_OP_DOT,
    .version = 1,
    .accuracy = fixed_tree_accuracy,
    .needs_nearest = true,
    .params = params,
    .refuse = fixed_tree_refuse,
    .score = fixed_tree_score,
    .build = fixed_tree_build,
    .run = fixed_tree_run,
    .release = tsl_fold_release,
    .supports = {.types = tsl_types_real},
    .resources = {.scratch = fixed_tree_scratch, .count_costs = fixed_tree_account},
};
