/* Host side of element.cl. Measurements: docs/lab/element.md. */
#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

#include <math.h>

enum { COLUMNS, ROWS, RELAXED };
static const tsl_param params[] = {
    [COLUMNS] = {"columns", "work-items along a row of C", 16, {16, 32, 64}},
    [ROWS] = {"rows", "work-items along a column of C", 16, {4, 8, 16}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy element_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_in_order(problem, config), problem, config->value[RELAXED] != 0);
}

static const char *element_grid_for(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device, tsl_grid *grid) {
  return tsl_launch_grid(device, problem->n, problem->m, (int)config->value[COLUMNS],
                         (int)config->value[ROWS], grid);
}

static const char *element_refuse(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  tsl_grid grid;
  return element_grid_for(problem, config, device, &grid);
}

/* Returns the predicted seconds. Two loads for each multiply-add give a twelfth of a GPU's rate. */
static double element_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const int columns = (int)config->value[COLUMNS], rows = (int)config->value[ROWS];
  const double efficiency = device->is_cpu ? 0.006 : columns < device->warp ? 0.07 : 0.08;
  /* Compilers prefetch ten steps of k. */
  return fmax(tsl_launch_seconds(problem, device, efficiency, columns, rows),
              tsl_launch_chain_seconds(device, (double)problem->k / 10));
}

static void element_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account) {
  tsl_grid grid;
  if (!element_grid_for(problem, config, device, &grid))
    tsl_cost_counts_grid(&grid, problem->n, problem->m, 0, device, account);
  tsl_cost_counts_operands(problem, account->useful, account->useful, account);
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status element_build(tsl_work *work) {
  tsl_grid grid;
  element_grid_for(&work->problem, &work->config, work->device, &grid);
  return tsl_launch_build(work, "strategy/gemm/ladder/element/element.cl", "tsl_gemm_element", &grid);
}

const tsl_strategy tsl_gemm_element = {
    .name = "element",
    .idea = "one work-item computes one element of C from global memory",
    .lifts = "one processor: every element has its own work-item",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = element_accuracy,
    .params = params,
    .refuse = element_refuse,
    .build_seconds = 0.45,
    .score = element_score,
    .build = element_build,
    .run = tsl_launch_gemm,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[COLUMNS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [ROWS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .resources = {.count_costs = element_account},
};
