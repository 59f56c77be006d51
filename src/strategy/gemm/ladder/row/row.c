#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

enum { ITEMS, RELAXED };
static const tsl_param params[] = {
    [ITEMS] = {"items", "work-items of a group, each with a row of C", 64, {64, 128, 256}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy row_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_in_order(problem, config), problem, config->value[RELAXED] != 0);
}

static const char *row_refuse(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  tsl_grid grid;
  return tsl_launch_rows(device, problem->m, (int)config->value[ITEMS], &grid);
}

/* Returns the predicted seconds. On a processor an item's row of A stays in a first-level cache. */
static double row_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const double efficiency = device->is_cpu ? 0.006 : 0.001;
  return tsl_launch_seconds(problem, device, efficiency, problem->n, config->value[ITEMS]);
}

static void row_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_cost_counts *account) {
  tsl_grid grid;
  if (!tsl_launch_rows(device, problem->m, (int)config->value[ITEMS], &grid))
    tsl_cost_counts_grid(&grid, problem->m, 1, 0, device, account);
  tsl_cost_counts_operands(problem, account->useful, account->useful, account);
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status row_build(tsl_work *work) {
  tsl_grid grid;
  tsl_launch_rows(work->device, work->problem.m, (int)work->config.value[ITEMS], &grid);
  return tsl_launch_build(work, "strategy/gemm/ladder/row/row.cl", "tsl_gemm_row", &grid);
}

const tsl_strategy tsl_gemm_row = {
    .name = "row",
    .idea = "one work-item computes a whole row of C from global memory",
    .lifts = "the number of items: fewer, with more work each",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = row_accuracy,
    .params = params,
    .refuse = row_refuse,
    .build_seconds = 0.3,
    .score = row_score,
    .build = row_build,
    .run = tsl_launch_gemm,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST}, [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .resources = {.count_costs = row_account},
};
