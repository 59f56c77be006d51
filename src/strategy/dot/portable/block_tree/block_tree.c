/* Host side of block_tree.cl. Measurements: docs/lab/dot_block_tree.md. */
#include "strategy/kernel_launch/split_k_reduce.h"

#include <math.h>

enum { GROUPS, GROUP };
static const tsl_param params[] = {
    [GROUPS] = {"groups", "work-groups", 32, {1, 8, 32, 128, 256, 512, 1024, 2048, 4096}},
    [GROUP] = {"group", "work-items of a group", 256, {32, 64, 128, 256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};

/* Configs for tests: every listed group size, and 250; fewer, as many and more groups than items. */
static const char *const probes[] = {
    "groups=32 group=256",   "groups=1 group=32",   "groups=256 group=64", "groups=128 group=128",
    "groups=4096 group=512", "groups=8 group=1024", "groups=7 group=250",  NULL,
};

/* Returns the bound: an item adds its terms in order, log2(group) additions reduce a group, and the last
 * launch the groups' sums. Zeros cost nothing, so no sum is longer than k. */
static tsl_accuracy block_tree_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const double groups = (double)config->value[GROUPS], group = (double)config->value[GROUP];
  const double depth =
      ceil((double)problem->k / (groups * group)) + 2 * ceil(log2(group)) + ceil(groups / group);
  const double unit = tsl_type(tsl_type(problem->c.type)->sums)->unit_roundoff;
  tsl_accuracy bound = tsl_accuracy_of_sum(problem->k);
  bound.factor = fmin(bound.factor, depth * (1 + depth * unit) + 4);
  return tsl_accuracy_in_type(bound, problem->c.type);
}

/* Makes both grids, without groups after the last term. Returns a refusal, or NULL. */
static const char *block_tree_make_grids(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device, tsl_grid *first, tsl_grid *last) {
  const int group = (int)config->value[GROUP];
  const int64_t busy = problem->k / group + 1, groups = config->value[GROUPS];
  const char *why = tsl_fold_grid(device, busy < groups ? busy : groups, group, first);
  return why ? why : tsl_fold_grid(device, 1, group, last);
}

static uint64_t bytes_per_sum(const tsl_problem *problem) {
  return tsl_type(tsl_type(problem->c.type)->sums)->size;
}

static const char *block_tree_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const uint64_t bytes = (uint64_t)config->value[GROUP] * bytes_per_sum(problem);
  if (bytes > device->local_bytes)
    return tsl_refusal("group=%lld needs %llu bytes of local memory, %s has %llu",
                       (long long)config->value[GROUP], (unsigned long long)bytes, device->name,
                       (unsigned long long)device->local_bytes);
  tsl_grid first, last;
  return block_tree_make_grids(problem, config, device, &first, &last);
}

static uint64_t block_tree_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)device;
  return (uint64_t)config->value[GROUPS] * bytes_per_sum(problem);
}

/* Predicts the seconds. On a GPU bytes in flight decide: eight numbers an item, for at most the resident
 * items (2048 a unit). On a processor each item has its own cache lines. */
static double block_tree_score(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const double items = (double)(config->value[GROUPS] * config->value[GROUP]);
  const double bytes = tsl_problem_bytes(problem), size = (double)tsl_type(problem->a.type)->size;
  const double launches = 2 * device->launch_seconds + 1e-6 + 2e-9 * (double)config->value[GROUPS];
  if (device->is_cpu)
    return launches + bytes * 64 / size / device->bandwidth;
  const double resident = fmin(fmin(items, (double)problem->k), 2048.0 * device->compute_units);
  const double flight = 8 * size * resident, latency = 8e-7;
  return launches + latency + bytes / fmin(0.9 * device->bandwidth, flight / latency);
}

static void block_tree_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  tsl_grid first, last;
  if (!block_tree_make_grids(problem, config, device, &first, &last))
    tsl_fold_account(problem, &first, (double)bytes_per_sum(problem), 1, device, account);
}

static tesela_status block_tree_build(tsl_work *work) {
  tsl_grid first, last;
  block_tree_make_grids(&work->problem, &work->config, work->device, &first, &last);
  return tsl_fold_build(work, "strategy/dot/portable/block_tree/block_tree.cl", "tsl_dot_block_tree", &first,
                        "tsl_dot_block_tree_last", &last);
}

const tsl_strategy tsl_dot_block_tree = {
    .name = "block_tree",
    .idea = "work-groups fold their items' sums in local memory, a last group folds theirs",
    .lifts = "one chain of additions: every item has its own, and trees join them",
    .partner = "sequential",
    .rung = 2,
    .op = TSL_OP_DOT,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = block_tree_accuracy,
    .params = params,
    .refuse = block_tree_refuse,
    .score = block_tree_score,
    .build = block_tree_build,
    .run = tsl_fold_run,
    .release = tsl_fold_release,
    .supports = {.types = tsl_types_real},
    .tuning = {.ranges = {[GROUPS] = {1, 1 << 20}, [GROUP] = {1, TSL_LAUNCH_ITEMS_MOST}}},
    .resources = {.scratch = block_tree_scratch, .count_costs = block_tree_account},
    .testing = {.probes = probes},
};
