#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

#include <math.h>

enum { ITEMS, PANEL, RELAXED };
static const tsl_param params[] = {
    [ITEMS] = {"items", "work-items of a group, each with a row of C", 64, {64, 256}},
    [PANEL] = {"panel", "numbers of a row of A that an item keeps", 64, {32, 64, 128}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy row_private_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_of_panels(problem, config->value[PANEL]), problem,
                              config->value[RELAXED] != 0);
}

static const char *row_private_refuse(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  tsl_grid grid;
  return tsl_launch_rows(device, problem->m, (int)config->value[ITEMS], &grid);
}

/* Returns the predicted seconds: one load for each multiply-add, at the same address for a whole group. */
static double row_private_score(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  const double efficiency = device->is_cpu ? 0.03 : 0.014;
  return tsl_launch_seconds(problem, device, efficiency, problem->n, config->value[ITEMS]);
}

static void row_private_account(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device, tsl_cost_counts *account) {
  tsl_grid grid;
  if (!tsl_launch_rows(device, problem->m, (int)config->value[ITEMS], &grid))
    tsl_cost_counts_grid(&grid, problem->m, 1, 0, device, account);
  const double panels = fmax(1, ceil((double)problem->k / (double)config->value[PANEL]));
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k, account->useful, account);
  tsl_cost_counts_result(problem, panels, account);
}

static tesela_status row_private_build(tsl_work *work) {
  tsl_grid grid;
  tsl_launch_rows(work->device, work->problem.m, (int)work->config.value[ITEMS], &grid);
  return tsl_launch_build(work, "strategy/gemm/ladder/row_private/row_private.cl", "tsl_gemm_row_private",
                          &grid);
}

const tsl_strategy tsl_gemm_row_private = {
    .name = "row_private",
    .idea = "one work-item computes a row of C, with its row of A in private memory",
    .lifts = "reading a row of A again for each column",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = row_private_accuracy,
    .params = params,
    .refuse = row_private_refuse,
    .build_seconds = 0.25,
    .score = row_private_score,
    .build = row_private_build,
    .run = tsl_launch_gemm,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [PANEL] = {1, 512},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .resources = {.count_costs = row_private_account},
};
